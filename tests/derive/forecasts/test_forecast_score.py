"""Forecasts held against the boot that came."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.forecasts.forecast_score import Score, score
from snapshot.document import Snapshot
from tests.recordings import PAIRS, pair

from ..tuned import assign, cmdline, host

PRE, POST = {"boot_id": "one", "machine": "m"}, {"boot_id": "two", "machine": "m", "uptime_s": 60}
SWAPPINESS = "sysctl vm.swappiness"


def state(meta: dict[str, Any], value: int, file: str = "", **more: Any) -> Snapshot:
    """A host with vm.swappiness VALUE, and a FILE that sets it to 10."""
    setting = {"settings": {"vm.swappiness": {"systemd": assign("10", file=file)}}} if file else {}
    return host(meta, sysctl={"values": {"vm.swappiness": value}, **setting}, cmdline=cmdline(), **more)


Keys = tuple[int, list[str], list[str], list[str]]


def keys(found: Score | None) -> Keys:
    assert found
    missed, wrong, left = ([one.key for one in some] for some in (found.missed, found.wrong, found.not_scored))
    return found.true, missed, wrong, left


A, B = "/etc/sysctl.d/a.conf", "/etc/sysctl.d/b.conf"


@pytest.mark.parametrize(("before", "after", "said"), [
    ((10, ""), (60, ""), (1, [], [], [])),  # reverts, and did
    ((10, ""), (10, ""), (0, [], [SWAPPINESS], [])),
    ((10, ""), (30, ""), (0, [], [SWAPPINESS], [])),
    ((10, ""), (10, A), (0, [], [], [SWAPPINESS])),  # somebody made a file of it
    ((10, A), (10, A), (1, [], [], [])),
    ((10, A), (60, A), (0, [SWAPPINESS], [], [])),
    ((10, A), (60, B), (0, [], [], [SWAPPINESS])),
    ((60, A), (10, A), (1, [], [], [])),  # changes, and did
    ((60, ""), (60, ""), (0, [], [], [])),  # nobody touched it: not counted
    ((60, ""), (30, ""), (0, [SWAPPINESS], [], [])),  # but this is
])
def test_one_setting(before: tuple[int, str], after: tuple[int, str], said: Keys) -> None:
    assert keys(score(state(PRE, *before), state(POST, *after))) == said


def test_long_after_the_boot_a_difference_may_be_a_later_change() -> None:
    late = {**POST, "uptime_s": 86_400}
    assert keys(score(state(PRE, 10), state(late, 10))) == (0, [], [], [SWAPPINESS])
    assert keys(score(state(PRE, 10), state(late, 60))) == (1, [], [], [])
    marked = {**late, "baseline": True}
    assert keys(score(state(PRE, 10), state(marked, 10))) == (0, [], [SWAPPINESS], [])


@pytest.mark.parametrize("meta", [
    {**POST, "boot_id": "one"}, {**POST, "machine": "other"}, {**POST, "kernel": "6.14.11-1-pve"},
    {"machine": "m"},
])
def test_what_the_forecast_was_not_for(meta: dict[str, Any]) -> None:
    assert score(state(PRE, 10), state(meta, 60)) is None


def test_words_and_the_driver_that_follows() -> None:
    line = {"words": ["amd_pstate=active"], "used": True,
            "origins": [{"file": "/etc/kernel/cmdline", "line": 1, "text": "amd_pstate=active"}]}
    boot = {"loader": "systemd-boot", "configured": {"kernel-cmdline": line},
            "next": {"kernel": "6.8.12-9-pve", "by": "newest"}}
    tables: dict[str, Any] = {"cpu": {"vendor": "AuthenticAMD"}, "boot": boot}
    before = host(PRE, cmdline=cmdline(), cpufreq={"driver": "acpi-cpufreq"}, **tables)
    for words, driver, said in (
        (["amd_pstate=active"], "amd-pstate-epp", (2, [], [], [])),
        ([], "acpi-cpufreq", (0, [], ["cmdline amd_pstate", "cpufreq driver"], [])),
    ):
        after = host(POST, cmdline=cmdline(*words), cpufreq={"driver": driver}, **tables)
        assert keys(score(before, after)) == said


def test_a_state_that_is_gone_is_as_good_as_off() -> None:
    def states(**found: Any) -> dict[str, Any]:
        return {"driver": "acpi_idle", "states": found}

    line = {"words": ["processor.max_cstate=1"], "used": True,
            "origins": [{"file": "/etc/kernel/cmdline", "line": 1, "text": "processor.max_cstate=1"}]}
    boot = {"loader": "systemd-boot", "configured": {"kernel-cmdline": line},
            "next": {"kernel": "6.8.12-9-pve", "by": "newest"}}
    off = {"disabled": {"true": "0-3"}, "latency_us": 100, "residency_us": 300}
    before = host(PRE, cmdline=cmdline(), boot=boot, cpuidle=states(C2=off))
    gone = host(POST, cmdline=cmdline("processor.max_cstate=1"), boot=boot, cpuidle=states())
    assert keys(score(before, gone))[1:] == ([], [], [])
    there = {**off, "disabled": {"false": "0-3"}}
    kept = host(POST, cmdline=cmdline("processor.max_cstate=1"), boot=boot, cpuidle=states(C2=there))
    assert keys(score(before, kept))[1] == ["cpuidle C2/disable 0-3"]


@pytest.mark.parametrize("name", PAIRS)
def test_no_forecast_of_a_recorded_story_was_wrong(name: str) -> None:
    found = score(*pair(name))
    assert found is None or (found.missed, found.wrong) == ([], [])


def test_the_story() -> None:
    found = score(*pair("kernel-upgrade-majors-moved"))
    assert found and found.true == found.total > 15 and not found.not_scored


def test_a_parameter_is_shown_as_a_letter_and_written_as_a_number() -> None:
    def module(live: str) -> dict[str, Any]:
        words = {"files": {"value": "0", "origin": {"file": A, "line": 1, "text": "options zfs x=0"}}}
        return {"loaded": {"zfs": {"parameters": {"x": live}}}, "options": {"zfs": {"x": words}}}

    before = host(PRE, modules=module("Y"), cmdline=cmdline())
    assert keys(score(before, host(POST, modules=module("N"), cmdline=cmdline())))[2:] == ([], [])
    assert keys(score(before, host(POST, modules=module("Y"), cmdline=cmdline())))[2] == ["module zfs.x"]
