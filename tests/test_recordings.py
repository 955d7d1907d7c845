"""The edits that make an event out of two recorded hosts: what each does, and that none does nothing."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.document import Snapshot

from .pairs import GPUS, pci, snapshot
from .recordings import Draft, edit

VALUES = ["sysctl", "values"]


def edited(table: dict[str, Any], unread: list[list[str]] | None = None) -> Snapshot:
    """The after side of a small pair with the edits of TABLE; UNREAD are paths of section sysctl."""
    made = snapshot({"sysctl": {"values": {"vm.a": 1, "vm.b": 2}}, "pci": pci(512, GPUS[:2])},
                    unread={"sysctl": unread} if unread else None)
    drafts = {"before": Draft(made), "after": Draft(made)}
    edit(drafts, table)
    assert drafts["before"].snapshot() is made
    return drafts["after"].snapshot()


def test_values_are_set_removed_and_renamed_and_facts_counted_anew() -> None:
    made = edited({"edit": [
        {"path": [*VALUES, "vm.a"], "value": 3}, {"path": [*VALUES, "vm.c"], "value": 4},
        {"path": [*VALUES, "vm.b"], "key": "vm.d"}, {"path": ["pci", "functions", GPUS[0]], "remove": True},
    ]})
    assert made.table("sysctl")["values"] == {"vm.a": 3, "vm.c": 4, "vm.d": 2}
    assert [*made.table("pci")["functions"]] == [GPUS[1]]
    assert made.outcomes["sysctl"].facts == 3
    assert Snapshot.loads(made.dumps().encode(), "x").dumps() == made.dumps()


def test_a_pattern_is_all_that_it_matches_and_has_what_is_to_be_changed() -> None:
    keys = ["pci", "functions", "0000:?1:00.0"]
    made = edited({"edit": [
        {"path": [*keys, "driver"], "value": "vfio-pci"}, {"path": [*keys, "express"], "remove": True},
    ]})
    assert [sorted(f) for f in made.table("pci")["functions"].values()] == [
        ["class_code", "device", "driver", "source", "vendor"]] * 2


def test_names_change_all_at_a_time_and_as_whole_words() -> None:
    made = edited({"rename": [{"sections": ["sysctl"], "names": {"vm.a": "vm.b", "vm.b": "vm.a"}}]})
    assert made.table("sysctl")["values"] == {"vm.b": 1, "vm.a": 2}
    with pytest.raises(ValueError, match="no vm to rename"):
        edited({"rename": [{"sections": ["pci"], "names": {"vm": "x"}}]})


def test_what_is_unread_goes_with_what_it_is_about() -> None:
    unread = [["values", "vm.c"], ["settings"]]
    made = edited({"edit": [{"path": VALUES, "remove": True}, {"path": VALUES, "value": {}}]}, unread)
    assert [fact.path for fact in made.outcomes["sysctl"].unread or ()] == [["settings"]]
    made = edited({"unread": [{"path": [*VALUES, "vm.?"], "why": "EACCES", "source": "/proc"}]}, [["values", "vm.c"]])
    assert [fact.path[-1] for fact in made.outcomes["sysctl"].unread or ()] == ["vm.a", "vm.b", "vm.c"]
    assert made.table("sysctl")["values"] == {}
    made = edited({"outcome": [{"section": "sysctl", "state": "failed", "why": "broken"}]})
    assert (made.outcomes["sysctl"].state, made.section("sysctl")) == ("failed", None)


@pytest.mark.parametrize("row", [
    {"path": [*VALUES, "vm.a"], "value": 1}, {"path": [*VALUES, "vm.c"], "remove": True},
    {"path": [*VALUES, "vm.?z"], "value": 1}, {"path": ["sysctl", "nosuch", "x"], "value": 1},
    {"path": [*VALUES, "vm.a"], "key": "vm.b"}, {"path": [*VALUES, "vm.a"]},
    {"path": [*VALUES, "vm.a"], "value": 3, "remove": True},
])
def test_an_edit_that_does_nothing_is_an_error(row: dict[str, Any]) -> None:
    with pytest.raises((LookupError, ValueError)):
        edited({"edit": [row]})
