"""Placeholders: names and nothing more."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.diff.change import MISSING
from snapshot.engine.path import Gap
from snapshot.engine.text import fill, lines

VALUES: dict[str, Any] = {
    "host": "pve1", "size": 512, "on": True, "names": ["a", "b"], "evil": "{host}", "none": MISSING,
    "gap": Gap(("pci",), "", "EACCES"), "commands": ["one", "two"], "empty": [],
}


def lookup(name: str) -> Any:
    return VALUES.get(name, MISSING)


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
    assert lines(texts, lookup) == ["one", "two", "x one two", "pve1"]
