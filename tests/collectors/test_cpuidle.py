"""Idle states."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import cpuidle as part
from snapshot.collectors import cpuidle
from snapshot.collectors.cpuidle import Kind, keys
from snapshot.errors import AbsentError

from . import trees
from .epyc_parts import planted
from .fake import Content, MemoryHost, gather

DENIED = PermissionError(errno.EACCES, "denied")
CPU = "/sys/devices/system/cpu"
ALL = "0-255"


def found(host: MemoryHost) -> tuple[dict[str, Any], dict[str, str]]:
    model, reading = gather(cpuidle, host)
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def machine(*states: tuple[str, int], cpus: int = 2) -> dict[str, Content]:
    files: dict[str, Content] = {f"{CPU}/online": f"0-{cpus - 1}\n", f"{CPU}/cpuidle/current_driver": "acpi_idle\n"}
    for cpu in range(cpus):
        for index, (name, latency) in enumerate(states):
            folder = f"{CPU}/cpu{cpu}/cpuidle/state{index}"
            files |= {f"{folder}/name": name, f"{folder}/latency": str(latency), f"{folder}/disable": "0\n"}
    return files


def test_the_story_before() -> None:
    table, unread = found(planted(part, epyc.BEFORE))
    assert table["states"]["C2"] == {
        "description": "ACPI IOPORT 0x814", "latency_us": 800, "residency_us": 1600, "enabled_at_start": True,
        "disabled": {"true": ALL},
    }
    assert {name: state["disabled"] for name, state in table["states"].items()} == {
        "POLL": {"false": ALL}, "C1": {"false": ALL}, "C2": {"true": ALL}}
    assert (table["driver"], table["governor"], table["processor_max_cstate"]) == ("acpi_idle", "menu", 8)
    assert not unread


def test_the_story_after() -> None:
    table, unread = found(planted(part, epyc.AFTER))
    assert (set(table["states"]), table["processor_max_cstate"], unread) == ({"POLL", "C1"}, 1, {})


def test_what_is_the_drivers_is_read_once() -> None:
    class Counting(MemoryHost):
        reads = 0

        def read(self, path: str, limit: int = 64 << 20) -> bytes:
            self.reads += 1
            return super().read(path, limit)

    host = Counting(machine(("POLL", 0), ("C1", 1), cpus=256))
    found(host)
    assert host.reads < 256 * 2 + 30


def test_a_cpu_that_is_not_disabled_stands_out() -> None:
    files = machine(("C2", 400), cpus=256) | {f"{CPU}/cpu{n}/cpuidle/state0/disable": "1\n" for n in range(255)}
    assert found(MemoryHost(files))[0]["states"]["C2"]["disabled"] == {"false": "255", "true": "0-254"}


def test_offline_cpus_do_not_count() -> None:
    files = machine(("C1", 1), cpus=4) | {f"{CPU}/online": "0-2\n"}
    assert found(MemoryHost(files))[0]["states"]["C1"]["disabled"] == {"false": "0-2"}


def test_cpus_of_another_driver_have_their_own_states() -> None:
    files = machine(("WFI", 1), ("sleep", 100), cpus=4)
    for cpu in range(4):
        files[f"{CPU}/cpu{cpu}/cpuidle/driver/name"] = "big\n" if cpu > 1 else "little\n"
    for cpu in (2, 3):
        files[f"{CPU}/cpu{cpu}/cpuidle/state1/latency"] = "250\n"
    states = found(MemoryHost(files))[0]["states"]
    assert {name: state["disabled"] for name, state in states.items()} == {
        "WFI": {"false": "0-3"}, "sleep, 100 us": {"false": "0-1"}, "sleep, 250 us": {"false": "2-3"}}


def test_twins_have_numbers() -> None:
    table, _ = found(MemoryHost(machine(("C1", 1), ("C1", 1), ("C2", 3))))
    assert list(table["states"]) == ["C1, 1 us", "C1, 1 us, 2", "C2"]


def test_off_is_absent_and_closed_is_unread() -> None:
    with pytest.raises(AbsentError, match="no cpuidle"):
        found(MemoryHost({f"{CPU}/online": "0\n"}))
    files = machine(("C1", 1), ("C2", 400)) | {
        f"{CPU}/cpu1/cpuidle/state1/disable": DENIED, "/sys/module/processor/parameters/max_cstate": DENIED}
    table, unread = found(MemoryHost(files))
    assert unread == {"states": "EACCES", "processor_max_cstate": "EACCES"}
    assert table["states"]["C2"]["disabled"] == {"false": "0"}
    assert found(MemoryHost({}))[1][""] == "shows no CPU"


def test_a_driver_without_states() -> None:
    table, unread = found(MemoryHost({f"{CPU}/online": "0\n", f"{CPU}/cpuidle/current_driver": "none\n"}))
    assert (table, unread) == ({"driver": "none", "states": {}}, {})


def test_an_old_kernel_cannot_disable() -> None:
    files = {path: text for path, text in machine(("C1", 1)).items() if not path.endswith("disable")}
    files[f"{CPU}/cpuidle/current_governor_ro"] = "menu\n"
    table, _ = found(MemoryHost(files))
    assert (table["states"], table["governor"]) == ({"C1": {"latency_us": 1}}, "menu")


def test_a_state_without_a_name_makes_the_states_unknown() -> None:
    files = machine(("C1", 1), ("", 400))
    table, unread = found(MemoryHost(files))
    assert (set(table["states"]), unread) == ({"C1"}, {"states": "nothing in it"})


@given(st.binary(max_size=40))
def test_any_content_is_survived(junk: bytes) -> None:
    files = dict.fromkeys(machine(("C1", 1), ("C2", 400)), junk) | {f"{CPU}/online": "0-1"}
    found(MemoryHost(files))


@given(st.lists(st.tuples(st.sampled_from(["C1", "C1, 1 us", "C1, 1 us, 2"]), st.sampled_from([1, None])), max_size=6))
def test_no_two_states_share_a_key(parts: list[tuple[str, int | None]]) -> None:
    kinds = [Kind(name, None, latency, None, None, twin) for twin, (name, latency) in enumerate(parts)]
    assert list(keys(kinds).values()) == kinds


def test_the_trees_of_the_corpus(corpus: Path) -> None:
    told = {}
    for path in sorted(corpus.glob("cpu-sysfs-tree/*")):
        try:
            table, unread = found(trees.from_tar(path))
        except AbsentError:
            continue
        assert not unread
        told[path.name.removeprefix("hwloc-").removesuffix(".tar.bz2")] = (table["driver"], list(table["states"]))
    assert told == {
        "2arm-2c": ("cpuidle_driver", [f"C{n}" for n in range(7)]),
        "40intel64-2g2n4c+pcilocality": ("intel_idle", ["C0", "NHM-C1", "NHM-C3", "NHM-C6"]),
        "48amd64-4pa2n6c-sparse": ("acpi_idle", []), "64amd64-4s2n4ca2co": ("acpi_idle", []),
        "nvidia-dgx-gb10": ("acpi_idle", []),
    }
