"""Command lines of benchmarks: what is dropped, and what has to stay because it is the workload."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.bench.importers.commands import is_secret, shown

SECRET = "hunter2"


@pytest.mark.parametrize(("command", "kept"), [
    (f"x --token {SECRET} -v", "x --token <redacted> -v"),
    (f"x --api-key={SECRET} --password '{SECRET} {SECRET}'", "x --api-key=<redacted> --password <redacted>"),
    (f"HF_TOKEN={SECRET} x", "HF_TOKEN=<redacted> x"),
    (f'sh -c "A=1 TOKEN={SECRET} x --n 5"', 'sh -c "A=1 TOKEN=<redacted> x --n 5"'),
    (f"sh -c \"PASSWORD='{SECRET} {SECRET}' y\"", 'sh -c "PASSWORD=<redacted> y"'),
    (f"curl -H 'Authorization: Bearer {SECRET}' -u bob:{SECRET}", "curl -H 'Authorization: <redacted>' -u <redacted>"),
    (f"curl -H 'X-Api-Key: {SECRET}'", "curl -H 'X-Api-Key: <redacted>'"),
    (f"curl http://bob:{SECRET}@gpu01.lan:80/x?n=3&api_key={SECRET}", "curl http://<host>:80/x?n=3&api_key=<redacted>"),
    ("curl http://127.0.0.1:8000/v1", "curl http://127.0.0.1:8000/v1"),
    (f"'open --token {SECRET}", "'open --token <redacted>"),
    (f"echo passwd: {SECRET}", "echo passwd: <redacted>"),
    ("ssh bob@gpu01 nvidia-smi", "ssh <login> nvidia-smi"),
    ("x --host gpu01 --server=gpu02 --user bob -n 3", "x --host <host> --server=<host> --user <redacted> -n 3"),
    ("/home/bob/x /root/y /root /Users/bob/z", "~/x ~/y ~ ~/z"),
])
def test_secrets_users_and_hosts_are_dropped(command: str, kept: str) -> None:
    assert shown(command) == kept


@pytest.mark.parametrize("command", [
    "bench --max-tokens 128 --tokenizer x --key-size 3 --keys 1000 --random-input-len 1024", "npx foo@1.2.3",
    "x --host 127.0.0.1 --hostname=localhost --num-users 5", "python -u x.py",
    "sed 's/a: b/c/' /rootfs/home /var/home/x", "x --token -v", "TOKEN= x", "a\\", "'", "",
])
def test_the_workload_stays(command: str) -> None:
    assert shown(command) == command


@pytest.mark.parametrize("name", ["token", "HF_TOKEN", "api-key", "key", "client_secret", "PGPASSWORD", "pwd", "psk"])
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@given(st.text(alphabet="ab'\"\\ =:-/@?&$(", max_size=40), st.integers(0, 3))
def test_a_secret_behind_an_option_never_comes_through(before: str, blanks: int) -> None:
    assert SECRET not in shown(f"{before}\n{' ' * blanks}--token={SECRET}")


@pytest.mark.parametrize("part", ["'", "\"'", "?a", "a", "a=", "http://a@", "/home/", "\\\"", "a.-", "x:", "'a \"b "])
def test_hostile_commands_take_no_longer_than_reading_them(part: str) -> None:
    assert shown(part * 100_000)
