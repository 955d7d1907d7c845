"""The deepest state that CPUs may enter; what takes a state away equals its being switched off."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.tunables.idle_depths import idle_depths
from snapshot.document import Snapshot

from ...pairs import snapshot

C1, DEEP = {"latency_us": 1, "disabled": {"false": "0-1"}}, {"latency_us": 800, "disabled": {"false": "0-1"}}
OFF = {"latency_us": 800, "disabled": {"true": "0-1"}}
EMPTY: dict[str, Any] = {}


def idle(states: dict[str, Any], words: dict[str, list[str]] = EMPTY, **more: Any) -> Snapshot:
    cmdline = {"tokens": [], "parameters": words}
    return snapshot({"cpuidle": {"driver": "acpi_idle", "states": states}, "cmdline": cmdline}, **more)


@pytest.mark.parametrize(
    ("now", "depth"),
    [
        (idle({"C1": C1, "C2": DEEP}), ("C2", 800)),
        (idle({"C1": C1, "C2": OFF}), ("C1", 1)),
        (idle({"C1": C1}), ("C1", 1)),
        (idle({"C1": C1, "C2": DEEP}, {"idle": ["poll"]}), ("POLL", 0)),
        (idle({"C1": C1, "C2": DEEP}, {"idle": ["poll", "halt"]}), ("C2", 800)),
    ],
)
def test_depth(now: Snapshot, depth: tuple[str, int]) -> None:
    [row] = idle_depths(now, None).rows.values()
    assert (row["state"], row["latency_us"]) == depth and "latency_before_us" not in row


def test_switched_on_again() -> None:
    row = idle_depths(idle({"C1": C1, "C2": DEEP}), idle({"C1": C1, "C2": OFF})).rows["0-1"]
    assert row["was_off"] and (row["state_before"], row["latency_before_us"]) == ("C1", 1)
    assert row["now"] == ["cpupower --cpu 0-1 idle-set -d 1"]  # no POLL among these states


def test_cpus_part_by_what_they_may_do() -> None:
    mixed = {"latency_us": 800, "disabled": {"true": "0", "false": "1"}}
    rows = idle_depths(idle({"C1": C1, "C2": mixed}), idle({"C1": C1, "C2": OFF})).rows
    found = {cpus: (row["state"], row["was_off"]) for cpus, row in rows.items()}
    assert found == {"0": ("C1", False), "1": ("C2", True)}


def test_no_states_before_were_as_good_as_off_and_a_new_cpu_has_no_past() -> None:
    assert idle_depths(idle({"C2": DEEP}), idle({})).rows["0-1"]["latency_before_us"] == 0
    one = {"latency_us": 800, "disabled": {"false": "0"}}
    assert "state_before" not in idle_depths(idle({"C2": DEEP}), idle({"C2": one})).rows["1"]


def test_what_was_not_read() -> None:
    lost = snapshot({"cpuidle": {}, "cmdline": {"tokens": [], "parameters": {}}}, unread={"cpuidle": [["states"]]})
    assert [gap["why"] for gap in idle_depths(lost, None).unknown] == ["EACCES"]
    [row] = idle_depths(idle({"C2": DEEP}), lost).rows.values()
    assert {*row["unknown"]} == {"state_before", "latency_before_us"} and "was_off" not in row


def test_a_state_that_was_not_read_of_one_cpu_is_no_shallower_one() -> None:
    hole = {"C1": C1, "C2": {**DEEP, "disabled": {"false": "0"}}}
    half = idle(hole, unread={"cpuidle": [["states", "C2", "disabled"]]})
    found = idle_depths(half, idle({"C1": C1, "C2": DEEP}))
    assert not found.rows and [gap["subject"] for gap in found.unknown] == [""]
    assert "state_before" not in idle_depths(idle({"C1": C1, "C2": DEEP}), half).rows["0-1"]
