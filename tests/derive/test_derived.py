"""Derived tables as a whole: which are empty without being worked out."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive import OF, Derived, derived, worked_out

from ..pairs import snapshot

HOST: dict[str, dict[str, Any]] = {
    "devices": {"character": {"nvidia": [195]}, "block": {}, "nodes": {}},
    "net": {"interfaces": {}}, "units": {"units": {}}, "runtimes": {},
}


@pytest.mark.parametrize("name", OF)
def test_a_table_of_things_that_are_not_there_is_empty(name: str) -> None:
    """That it is not worked out changes nothing; what is unread makes it unknown all the same."""
    section, key = OF[name]
    none = snapshot({**HOST, section: {key: {}}})
    assert derived(name, none, none) == worked_out(name, none, none) == Derived()
    for path in ([], [key], [key, "101"]):
        dark = snapshot({**HOST, section: {key: {}}}, unread={section: [path]})
        assert derived(name, dark, none) == worked_out(name, dark, none)


def test_what_else_is_unread_leaves_nothing_open_where_there_is_no_container() -> None:
    host = snapshot({**HOST, "lxc": {"containers": {}}}, unread={"net": [["interfaces"]]})
    assert worked_out("container_nets", host, None).unknown
    assert derived("container_nets", host, None) == Derived()
