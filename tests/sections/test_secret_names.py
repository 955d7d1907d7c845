"""Names of secrets that every room agrees on, and what each adds."""

from __future__ import annotations

import pytest

from snapshot.bench.importers import commands
from snapshot.collectors import secrets
from snapshot.sections.secret_names import is_secret

ROOMS = (is_secret, secrets.is_secret, commands.is_secret)


@pytest.mark.parametrize("name", [
    "password", "PASSWD", "wifi.passphrase", "client_secret", "HF_TOKEN", "--token", "credentials", "userpass", "pwd",
    "ROOTPW", "auth", "oauth", "wpapsk", "key", "key-", "api-key", "hostkey", "ssh.privkey", "AUTH_KEY_FILE",
    "Authorization", "session_cookie", "PresharedKey",
])
def test_what_each_room_drops(name: str) -> None:
    assert [room(name) for room in ROOMS] == [True, True, True]


@pytest.mark.parametrize("name", [
    "tokenizer", "--keys", "monkey", "author", "bypass", "compass", "secretmem.enable", "cwd", "auth_enable", "", "-",
])
def test_what_each_room_keeps(name: str) -> None:
    assert [room(name) for room in ROOMS] == [False, False, False]


@pytest.mark.parametrize("name", ["--max-tokens", "--key-size", "token_budget", "HF_TOKENS"])
def test_a_token_or_key_within_a_name_is_a_fact_of_a_benchmark_and_else_dropped(name: str) -> None:
    assert [room(name) for room in ROOMS] == [False, True, False]


@pytest.mark.parametrize("name", ["--user", "username", "cookies"])
def test_users_and_cookies_are_dropped_from_command_lines_only(name: str) -> None:
    assert [room(name) for room in ROOMS] == [False, False, True]
