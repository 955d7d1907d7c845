"""Derived tables as a whole: which are empty without being worked out."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from snapshot import derive
from snapshot.derive import FACTS, OF, Derived, derived
from snapshot.document import Snapshot

from ..pairs import snapshot

HOST: dict[str, dict[str, Any]] = {
    "devices": {"character": {"nvidia": [195]}, "block": {}, "nodes": {}},
    "net": {"interfaces": {}}, "units": {"units": {}}, "runtimes": {},
}


def _worked_out(name: str, after: Snapshot, before: Snapshot | None) -> Derived:
    table: Derived = getattr(import_module(f"{derive.__name__}.{FACTS[name]}"), name)(after, before)
    return table


@pytest.mark.parametrize("name", OF)
def test_a_table_of_things_that_are_not_there_is_empty(name: str) -> None:
    """That it is not worked out changes nothing; what is unread makes it unknown all the same."""
    section, key = OF[name]
    none = snapshot({**HOST, section: {key: {}}})
    assert derived(name, none, none) == _worked_out(name, none, none) == Derived()
    for path in ([], [key], [key, "101"]):
        dark = snapshot({**HOST, section: {key: {}}}, unread={section: [path]})
        assert derived(name, dark, none) == _worked_out(name, dark, none)
