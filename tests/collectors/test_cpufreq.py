"""Frequency scaling: policies, limits, boost."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import cpufreq as part
from snapshot.collectors import cpufreq
from snapshot.errors import AbsentError

from . import trees
from .epyc_parts import planted
from .fake import Content, MemoryHost, gather

DENIED, BUSY = PermissionError(errno.EACCES, "denied"), OSError(errno.EBUSY, "busy")
CPU = "/sys/devices/system/cpu"
POLICY = f"{CPU}/cpufreq/policy"
ALL = "0-255"


def found(host: MemoryHost) -> tuple[dict[str, Any], dict[str, str]]:
    model, reading = gather(cpufreq, host)
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def policies(cpus: int = 4, **names: str) -> dict[str, Content]:
    values = {"scaling_driver": "acpi-cpufreq", "scaling_governor": "performance"} | names
    files: dict[str, Content] = {f"{CPU}/online": f"0-{cpus - 1}\n"}
    return files | {f"{POLICY}{n}/{name}": f"{text}\n" for n in range(cpus) for name, text in values.items()}


def test_the_story_before() -> None:
    table, unread = found(planted(part, epyc.BEFORE))
    assert table == {
        "driver": "acpi-cpufreq", "cppc": True, "governor": {"schedutil": ALL}, "min_khz": {"1500000": ALL},
        "governors": ["conservative", "ondemand", "performance", "powersave", "schedutil", "userspace"],
        "max_khz": {"3300000": ALL}, "hardware_min_khz": {"1500000": ALL}, "hardware_max_khz": {"3300000": ALL},
        "bios_limit_khz": {"3300000": ALL}, "boost": {"true": ALL},
        "boost_from": ["cpufreq/boost", "cpufreq/policy*/cpb"],
    }
    assert not unread


def test_the_story_after() -> None:
    table, unread = found(planted(part, epyc.AFTER))
    assert (table["driver"], table["governor"]) == ("amd-pstate-epp", {"powersave": ALL})
    assert table["epp"] == {"performance": ALL}
    assert table["governors"] == ["performance", "powersave"]
    assert table["epps"] == ["balance_performance", "balance_power", "default", "performance", "power"]
    assert table["amd_pstate"] == {"status": "active", "prefcore": True}
    assert (table["boost"], table["boost_from"]) == ({"true": ALL}, ["cpufreq/policy*/boost"])
    assert "bios_limit_khz" not in table
    assert not unread


def test_an_outlier_stands_out() -> None:
    files = policies(256) | {f"{POLICY}255/scaling_governor": "powersave\n"}
    assert found(MemoryHost(files))[0]["governor"] == {"performance": "0-254", "powersave": "255"}


def test_offline_cpus_are_not_asked() -> None:
    files = policies(4) | {f"{CPU}/online": "0-2\n", f"{POLICY}3/scaling_governor": BUSY}
    table, unread = found(MemoryHost(files))
    assert (table["governor"], unread) == ({"performance": "0-2"}, {})


def test_a_shared_policy_counts_for_all_its_cpus() -> None:
    files = policies(1) | {f"{CPU}/online": "0-3\n"}
    links = {f"{CPU}/cpu{n}/cpufreq": "../cpufreq/policy0" for n in range(3)}
    assert found(MemoryHost(files, links))[0]["governor"] == {"performance": "0-2"}


def test_files_in_the_folder_of_the_cpu() -> None:
    files: dict[str, Content] = {f"{CPU}/cpu{n}/cpufreq/scaling_governor": "ondemand" for n in (0, 1)}
    files |= {f"{CPU}/cpu0/cpufreq/scaling_driver": "powernow-k8\n", f"{CPU}/online": "0-1"}
    table, _ = found(MemoryHost(files))
    assert (table["driver"], table["governor"]) == ("powernow-k8", {"ondemand": "0-1"})


@pytest.mark.parametrize(("whole", "own", "boost"), [
    ("1", "1", {"true": "0-3"}), ("0", "1", {"false": "0-3"}), ("1", "0", {"false": "0-3"}),
    (None, "0", {"false": "0-3"}), ("0", None, {"false": "0-3"}), (None, None, None),
])
def test_boost_is_allowed_where_nobody_forbids_it(
    whole: str | None, own: str | None, boost: dict[str, str] | None
) -> None:
    files = policies(4) if own is None else policies(4, boost=own)
    if whole:
        files[f"{CPU}/cpufreq/boost"] = whole
    assert found(MemoryHost(files))[0].get("boost") == boost


def test_no_turbo_is_no_boost() -> None:
    intel: dict[str, Content] = {f"{CPU}/intel_pstate/{name}": text for name, text in (
        ("no_turbo", "1"), ("status", "active"), ("min_perf_pct", "10"), ("max_perf_pct", "100"))}
    table, _ = found(MemoryHost(policies(2) | intel))
    assert (table["boost"], table["boost_from"]) == ({"false": "0-1"}, ["intel_pstate/no_turbo"])
    assert table["intel_pstate"] == {"status": "active", "min_perf_percent": 10, "max_perf_percent": 100}


def test_no_driver_is_absent_and_an_empty_machine_unknown() -> None:
    with pytest.raises(AbsentError, match="no policy"):
        found(MemoryHost({f"{CPU}/online": "0-1\n", f"{CPU}/cpufreq/": ""}))
    assert found(MemoryHost({}))[1] == {"": "shows no CPU"}
    closed: dict[str, Content] = {f"{CPU}/online": "0-1\n", f"{CPU}/cpufreq/": DENIED}
    assert found(MemoryHost(closed))[1][""] == "EACCES"


def test_a_fallback_still_shows_the_driver_that_did_not_load() -> None:
    table, _ = found(MemoryHost({f"{CPU}/online": "0\n", f"{CPU}/amd_pstate/status": "disable\n"}))
    assert table == {"cppc": False, "amd_pstate": {"status": "disable"}}


def test_a_closed_file_is_unread_by_name() -> None:
    files = policies(4, scaling_max_freq="1")
    files |= {f"{POLICY}2/scaling_governor": DENIED, f"{POLICY}1/scaling_max_freq": "x"}
    table, unread = found(MemoryHost(files))
    assert table["governor"] == {"performance": "0-1,3"}
    assert unread == {"governor": "EACCES", "max_khz": "no number: 'x'"}


def test_a_link_that_leads_nowhere_is_no_evidence() -> None:
    host = MemoryHost({f"{CPU}/online": "0\n"}, {f"{CPU}/cpu0/cpufreq": "../cpufreq/policy0"})
    assert found(host)[1] == {"": "the policies cannot be looked at"}


@given(st.binary(max_size=40))
def test_any_content_is_survived(junk: bytes) -> None:
    names = ("amd_pstate/status", "amd_pstate/prefcore", "intel_pstate/no_turbo", "cpufreq/boost")
    files = dict.fromkeys(policies(2, boost="1", scaling_min_freq="1"), junk) | {f"{CPU}/{n}": junk for n in names}
    found(MemoryHost(files | {f"{CPU}/online": "0-1"}))
    found(MemoryHost(files))


FACTS = {
    "2arm-2c": ("U8500", "ondemand", {"800000"}, {"400000"}),
    "48amd64-4pa2n6c-sparse": ("powernow-k8", "performance", {"1700000"}, {"800000"}),
    "nvidia-dgx-gb10": ("cppc_cpufreq", "performance", {"2808000", "3900000"}, {"1378000", "338000"}),
}


def test_the_trees_of_the_corpus(corpus: Path) -> None:
    told = {}
    for path in sorted(corpus.glob("cpu-sysfs-tree/*")):
        name = path.name.removeprefix("hwloc-").removesuffix(".tar.bz2")
        try:
            table, unread = found(trees.from_tar(path))
        except AbsentError:
            continue
        if not unread:
            told[name] = (table["driver"], *table["governor"], set(table["max_khz"]), set(table["min_khz"]))
        if name == "nvidia-dgx-gb10":
            assert table["boost"] == {"false": "0-19"}
    assert told == FACTS


def test_the_text_archive_of_the_corpus(corpus: Path) -> None:
    table, _ = found(trees.from_ttar(corpus / "sysfs-ttar/procfs-cpu.ttar"))
    assert (table["driver"], table["governor"]) == ("intel_pstate", {"powersave": "0"})  # policy1 is empty
