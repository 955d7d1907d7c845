"""Frequencies and idle states of CPUs."""

from __future__ import annotations

from typing import Any

import pytest

from ..tuned import Row, action, cmdline, host, rows, verdicts


def cpus(**more: Any) -> Row:
    return {
        "cpu": {"online": "0-3"},
        "cpufreq": {
            "driver": "acpi-cpufreq",
            "governors": ["performance", "schedutil"],
            "governor": {"performance": "0-3"},
            "max_khz": {"3300000": "0-3"},
            "min_khz": {"1500000": "0-3"},
            "hardware_max_khz": {"3300000": "0-3"},
            "hardware_min_khz": {"1500000": "0-3"},
            "boost": {"true": "0-3"},
        }
        | more,
    }


GOVERNOR = "cpufreq scaling_governor 0-3"


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (action("cpupower", "all", "governor", value="performance"), "kept"),
        (action("cpupower", "0-3", "governor", value="schedutil"), "changes"),
        (action("cpupower", "$CPUS", "governor", value="performance"), "may"),
        (action("file", "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", value="performance"), "kept"),
        (action("file", "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor", value="performance"), "kept"),
        (action("cpupower", "all", "governor", value="ondemand"), "may"),  # the driver refuses it
        (action("unknown", "cpupower", certain=False), "may"),
        (action("unknown", "/sys/devices/system/cpu", "write", certain=False), "may"),
    ],
)
def test_governor(line: Any, word: str) -> None:
    assert rows(host(**cpus()), line)[GOVERNOR]["verdict_boot"] == word


def test_governor_of_some_cpus() -> None:
    found = rows(host(**cpus()), action("cpupower", "0-1", "governor", value="performance"))
    assert (
        verdicts(found)["cpufreq scaling_governor 0-1"] == "kept"
        and verdicts(found)["cpufreq scaling_governor 2-3"] == "may"
    )


def test_governor_of_a_driver_to_come() -> None:
    line = action("cpupower", "all", "governor", value="schedutil")
    schedutil = cpus(governor={"schedutil": "0-3"})
    assert rows(host(**schedutil), line)[GOVERNOR]["verdict_boot"] == "kept"
    after = host(**schedutil, boot={"next": {"kernel": "6.14.11-1-pve", "by": "newest"}})
    assert rows(after, line)[GOVERNOR]["verdict_boot"] == "may"
    assert (
        rows(
            host(**cpus(), boot={"next": {"kernel": "6.14.11-1-pve", "by": "newest"}}),
            action("cpupower", "all", "governor", value="performance"),
        )[GOVERNOR]["verdict_boot"]
        == "kept"
    )
    refused = rows(host(**schedutil), action("cpupower", "all", "governor", value="ondemand"))[GOVERNOR]
    assert refused["not_run"][0]["why_not"] == "the driver does not offer ondemand"


def test_default_governor_of_the_command_line() -> None:
    found = rows(host(**cpus(), cmdline=cmdline("cpufreq.default_governor=performance")))
    assert found[GOVERNOR]["verdict_boot"] == "kept" and found[GOVERNOR]["configured_by"]["how"] == "cmdline"


def test_preference_follows_the_governor_in_active_mode() -> None:
    line = action("cpupower", "all", "governor", value="performance")
    key = "cpufreq energy_performance_preference 0-3"
    active = cpus(driver="amd-pstate-epp", governors=["performance", "powersave"], epp={"performance": "0-3"})
    assert rows(host(**active), line)[key]["verdict_boot"] == "kept"
    assert rows(host(**cpus(epp={"performance": "0-3"})), line)[key]["verdict_boot"] == "may"


@pytest.mark.parametrize(
    ("option", "value", "word"),
    [
        ("max", "3.3GHz", "kept"),
        ("max", "9GHz", "kept"),
        ("max", "2GHz", "changes"),
        ("max", "fast", "may"),
        ("min", "1MHz", "kept"),
    ],
)
def test_limits(option: str, value: str, word: str) -> None:
    found = rows(host(**cpus()), action("cpupower", "all", option, value=value))
    assert found[f"cpufreq scaling_{option}_freq 0-3"]["verdict_boot"] == word


def test_boost_and_no_turbo() -> None:
    top = "/sys/devices/system/cpu"
    key = "cpufreq boost 0-3"
    assert rows(host(**cpus()), action("file", f"{top}/cpufreq/boost", value="1"))[key]["verdict_boot"] == "kept"
    assert (
        rows(host(**cpus()), action("file", f"{top}/intel_pstate/no_turbo", value="1"))[key]["verdict_boot"]
        == "changes"
    )


def test_modes_and_smt() -> None:
    after = host(
        cpufreq={"amd_pstate": {"status": "active"}},
        cpu={"smt": {"control": "off"}},
        cmdline=cmdline("amd_pstate=active", "nosmt"),
    )
    assert verdicts(rows(after)) == {"cpufreq amd_pstate/status": "kept", "cpufreq smt/control": "kept"}
    row = rows(host(**cpus(), cmdline=cmdline("amd_pstate=active")))["cpufreq amd_pstate/status"]
    assert row["absent"] and row["configured"] == "active"


def idle(*off: str, driver: str = "acpi_idle", **more: Any) -> Row:
    states = {
        name: {
            "latency_us": latency,
            "residency_us": 2 * latency,
            "enabled_at_start": True,
            "disabled": {"true" if name in off else "false": "0-3"},
        }
        for name, latency in (("POLL", 0), ("C1", 1), ("C2", 800))
    }
    return {"cpu": {"online": "0-3"}, "cpuidle": {"driver": driver, "states": states} | more}


C2 = "cpuidle C2/disable 0-3"


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (action("cpupower", "all", "idle-state 2", value="disable"), "kept"),
        (action("cpupower", "all", "idle-state 2", value="enable"), "changes"),
        (action("cpupower", "all", "idle-state *", value="enable"), "changes"),
        (action("cpupower", "all", "idle-state $N", value="disable"), "may"),
        (action("cpupower", "all", "idle-state 1", value="disable"), "reverts"),
        (action("cpupower", "all", "idle-latency", value="10"), "kept"),
        (action("cpupower", "all", "idle-latency", value="801"), "changes"),
        (action("cpupower", "all", "idle-latency", value=None), "may"),
        (action("file", "/sys/devices/system/cpu/cpu*/cpuidle/state2/disable", value="1"), "kept"),
        (action("file", "/sys/devices/system/cpu/cpu*/cpuidle/state1/disable", value="1"), "reverts"),
        (action("file", "/sys/devices/system/cpu/cpu*/cpuidle/state[2-9]/disable", value="0"), "changes"),
    ],
)
def test_idle_state_switched_off(line: Any, word: str) -> None:
    assert rows(host(**idle("C2")), line)[C2]["verdict_boot"] == word


@pytest.mark.parametrize(
    ("words", "driver", "word"),
    [
        (("processor.max_cstate=1",), "acpi_idle", "kept"),
        (("processor.max_cstate=0",), "acpi_idle", "kept"),
        (("processor.max_cstate=2",), "acpi_idle", "reverts"),
        (("processor.max_cstate=1",), "intel_idle", "reverts"),
        (("idle=poll",), "intel_idle", "kept"),
        (("idle=halt",), "acpi_idle", "kept"),
        (("cpuidle.off=1",), "acpi_idle", "kept"),
        (("intel_idle.max_cstate=1",), "intel_idle", "may"),
        ((), "acpi_idle", "reverts"),
    ],
)
def test_words_that_take_states_away(words: tuple[str, ...], driver: str, word: str) -> None:
    assert rows(host(**idle("C2", driver=driver), cmdline=cmdline(*words)))[C2]["verdict_boot"] == word


def test_states_that_stay() -> None:
    found = verdicts(rows(host(**idle("C2"), cmdline=cmdline("idle=poll", "processor.max_cstate=1"))))
    assert found == {"cpuidle POLL/disable 0-3": "default", "cpuidle C1/disable 0-3": "changes", C2: "kept"}


def test_states_of_equal_depth_have_no_number() -> None:
    found = idle("C2")
    found["cpuidle"]["states"]["C1"] |= {"latency_us": 800, "residency_us": 1600}
    line = action("cpupower", "all", "idle-state 2", value="disable")
    assert rows(host(**found), line)[C2]["verdict_boot"] == "may"
    line = action("file", "/sys/devices/system/cpu/cpu*/cpuidle/state2/disable", value="1")
    assert rows(host(**found), line)[C2]["verdict_boot"] == "may"
