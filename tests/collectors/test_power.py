"""Runtime power management, PM QoS, policies and power zones."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import power as part
from snapshot.collectors import power

from .epyc_parts import planted
from .fake import Content, MemoryHost, gather

DENIED = PermissionError(errno.EACCES, "denied")
UNUSED, NO_DATA = OSError(errno.EIO, "unused"), OSError(errno.ENODATA, "no data")
CPU, PCI, ZONES = "/sys/devices/system/cpu", "/sys/bus/pci/devices", "/sys/class/powercap"
GPU = "0000:41:00.0"
CONTROL, DELAY = f"{PCI}/{GPU}/power/control", f"{PCI}/{GPU}/power/autosuspend_delay_ms"
QOS = "power/pm_qos_resume_latency_us"


def found(files: dict[str, Content]) -> tuple[dict[str, Any], dict[str, str]]:
    return looked(MemoryHost(files))


def looked(host: MemoryHost) -> tuple[dict[str, Any], dict[str, str]]:
    model, reading = gather(power, host)
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def cpus(count: int = 4, **each: str) -> dict[str, Content]:
    files: dict[str, Content] = {f"{CPU}/online": f"0-{count - 1}\n", "/sys/bus/pci/devices/": ""}
    return files | {f"{CPU}/cpu{n}/power/{name}": f"{text}\n" for n in range(count) for name, text in each.items()}


@pytest.mark.parametrize("kernel", [epyc.BEFORE, epyc.AFTER])
def test_the_story(kernel: str) -> None:
    table, unread = looked(planted(part, kernel))
    runtime = table["runtime_pm"]
    assert len(runtime) == 214
    assert (runtime["0000:40:01.1"], runtime[GPU]) == ("auto", "on")
    assert table["autosuspend_ms"]["0000:40:01.1"] == 100
    assert set(table["autosuspend_ms"]) < {address for address, word in runtime.items() if word == "auto"}
    assert (table["aspm_policy"], table["mem_sleep"]) == ("default", "s2idle")
    assert table["cpu_resume_latency_us"] == {"0": "0-255"}
    assert table["zones"]["intel-rapl:1"] == {"name": "package-1", "enabled": False}
    assert "energy_perf_bias" not in table
    assert not unread


def test_a_cpu_with_a_latency_limit_stands_out() -> None:
    files = cpus(256, pm_qos_resume_latency_us="0", energy_perf_bias="0") | {f"{CPU}/cpu9/{QOS}": "n/a\n"}
    table, _ = found(files)
    assert table["cpu_resume_latency_us"] == {"0": "0-8,10-255", "n/a": "9"}
    assert table["energy_perf_bias"] == {"0": "0-255"}


def test_functions_by_address() -> None:
    table, unread = found(cpus() | {CONTROL: "auto\n", DELAY: UNUSED, f"{PCI}/{GPU}/{QOS}": "5\n"})
    assert (table["runtime_pm"], table["resume_latency_us"]) == ({GPU: "auto"}, {GPU: "5"})
    assert "autosuspend_ms" not in table
    assert not unread
    assert found(cpus() | {CONTROL: "auto\n", DELAY: "-1\n"})[0]["autosuspend_ms"] == {GPU: -1}
    assert found(cpus() | {CONTROL: "auto\n", DELAY: "x\n"})[1] == {f"autosuspend_ms.{GPU}": "no number: 'x'"}
    assert "autosuspend_ms" not in found(cpus() | {CONTROL: "on\n", DELAY: "100\n"})[0]


def test_limits_of_a_package() -> None:
    zone = f"{ZONES}/intel-rapl:0"
    files: dict[str, Content] = {
        f"{ZONES}/intel-rapl/enabled": "1\n", f"{zone}/name": "package-0\n", f"{zone}/enabled": "1\n",
        f"{zone}/energy_uj": DENIED, f"{zone}/constraint_0_name": "long_term\n",
        f"{zone}/constraint_0_power_limit_uw": "270000000\n", f"{zone}/constraint_0_time_window_us": "999424\n",
        f"{zone}/constraint_1_name": "peak_power\n", f"{zone}/constraint_1_power_limit_uw": NO_DATA,
        f"{zone}/constraint_1_time_window_us": DENIED, f"{zone}/constraint_x_name": "no\n",
    }
    table, unread = found(cpus() | files)
    assert table["zones"] == {"intel-rapl:0": {"name": "package-0", "enabled": True, "limits": {
        "long_term": {"power_uw": 270000000, "window_us": 999424}, "peak_power": {}}}}
    assert unread == {"zones.intel-rapl:0.limits.peak_power.window_us": "EACCES"}


@pytest.mark.parametrize(("text", "policy", "why"), [
    ("[default] performance powersave", "default", None), ("default [performance]\r\n", "performance", None),
    ("default performance", None, "no word is marked: 'default performance'"), ("", None, "no word is marked: ''"),
])
def test_the_policy_is_the_marked_word(text: str, policy: str | None, why: str | None) -> None:
    table, unread = found(cpus() | {power.ASPM: text})
    assert (table.get("aspm_policy"), unread.get("aspm_policy")) == (policy, why)


def test_closed_files_are_unread_by_name() -> None:
    closed = (power.ASPM, power.PROFILE, CONTROL, f"{ZONES}/", f"{CPU}/cpu0/{QOS}")
    table, unread = found(cpus() | dict.fromkeys(closed, DENIED))
    assert table == {}
    assert unread == {"aspm_policy": "EACCES", "platform_profile": "EACCES", "zones": "EACCES",
                      f"runtime_pm.{GPU}": "EACCES", f"autosuspend_ms.{GPU}": "EACCES",
                      "cpu_resume_latency_us": "EACCES"}


def test_an_empty_machine_is_unknown() -> None:
    assert found({}) == ({}, {
        "runtime_pm": "ENOENT", "autosuspend_ms": "ENOENT", "cpu_resume_latency_us": "shows no CPU"})


@given(st.binary(max_size=40))
def test_any_content_is_survived(junk: bytes) -> None:
    zone = f"{ZONES}/intel-rapl:0"
    names = ("name", "enabled", "constraint_0_name", "constraint_0_power_limit_uw", "constraint_0_time_window_us")
    files: dict[str, Content] = dict.fromkeys([
        *cpus(2, pm_qos_resume_latency_us="", energy_perf_bias=""), CONTROL, DELAY, power.ASPM, power.SLEEP,
        power.PROFILE, *(f"{zone}/{name}" for name in names)], junk)
    del files["/sys/bus/pci/devices/"]
    found(files)
    found(files | {f"{CPU}/online": "0-1", CONTROL: "auto"})
