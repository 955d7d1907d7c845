"""Placeholders: names and nothing more."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.diff.change import MISSING
from snapshot.engine.path import Gap
from snapshot.engine.text import Value, commands, fill, measured, prose

VALUES: dict[str, Any] = {
    "host": "pve1", "size": 512, "on": True, "names": ["a", "b"], "evil": "{host}", "none": MISSING,
    "gap": Gap(("pci",), "", "EACCES"), "commands": ["one", "two"], "empty": [],
}


def lookup(name: str) -> Value:
    return Value(VALUES.get(name, MISSING), name)


@pytest.mark.parametrize(("text", "filled"), [
    ("plain", "plain"), ("{host}: {size}", "pve1: 512"), ("{on}", "true"), ("{names}", "a b"),
    ("{evil}", "{host}"),  # one pass: a value is never read as a text
    ("{none}", None), ("{gap}", None), ("{unheard_of}", None),
    ("{host.__class__}", "{host.__class__}"), ("{host!r} {size:>9}", "{host!r} {size:>9}"),
    ("{0} {} {{host}}", "{0} {} {pve1}"),
    ("awk '{ print $1 }'", "awk '{ print $1 }'"), (["{none} x", "{host} y"], "pve1 y"), (["{none}", "{gap}"], None),
    ([], None),
])
def test_filled(text: str | list[str], filled: str | None) -> None:
    assert fill(text, lookup) == filled


def test_what_is_kept_stays() -> None:
    assert fill("{count} of {host}", lookup, keep=("count",)) == "{count} of pve1"


def test_a_list_alone_makes_a_line_each_and_texts_without_a_value_are_left_out() -> None:
    texts = ["{commands}", "x {commands}", "{none}", "{empty}", "{host}"]
    assert prose(texts, lookup) == ["one", "two", "x one two", "pve1"]


def test_in_a_command_a_value_is_quoted_and_one_that_stands_alone_is_ready() -> None:
    VALUES["bad"] = "a; rm -rf /"
    texts = ["ip link set {bad} mtu {size}", "{bad}", "{none} x", "{commands}"]
    assert commands(texts, lookup) == ["ip link set 'a; rm -rf /' mtu 512", "a; rm -rf /", "one", "two"]


@pytest.mark.parametrize(("value", "key", "text"), [
    (600000, "limit_mw", "600 W"), (3700500, "max_khz", "3700.5 MHz"), (1 << 36, "total_bytes", "64 GiB"),
    (4096, "max_read_request_bytes", "4096"), (3 << 29, "x_bytes", "1.5 GiB"), (800, "latency_us", "800 us"),
    (32.0, "speed_gts", "32 GT/s"), (5, "node", "5"), (True, "limit_mw", "true"), ("x", "limit_mw", "x"),
    (0, "a_bytes", "0"), (2**63 - 1, "count", "9223372036854775807"), (float("nan"), "limit_mw", "nan"),
    (float("inf"), "x_bytes", "inf"),
])
def test_a_value_is_said_with_the_unit_of_its_key(value: Any, key: str, text: str) -> None:
    assert measured(Value(value, key)) == text


def test_of_a_long_value_a_person_is_told_the_beginning_and_a_command_has_all() -> None:
    VALUES["long"] = "x" * 1_000_500
    assert fill("is {long}", lookup) == f"is {'x' * 500}... (1,000,000 more characters)"
    assert commands(["echo {long}"], lookup) == [f"echo {VALUES['long']}"]
