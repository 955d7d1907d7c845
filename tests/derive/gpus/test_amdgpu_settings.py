from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.gpus.amdgpu_settings import amdgpu_settings

from ...pairs import snapshot

LEVEL, CAP = "power_dpm_force_performance_level", "power1_cap"
DEVICE = "/sys/bus/pci/devices/0000:01:00.0"
UNIT = "/etc/systemd/system/amd.service"


def gpus(address: str = "0000:01:00.0", **facts: Any) -> dict[str, Any]:
    return {"amdgpu": {"gpus": {"a": {"unique_id": "a", "address": address, **facts}}}}


def row(name: str, now: dict[str, Any], then: dict[str, Any] | None = None) -> dict[str, Any]:
    found = amdgpu_settings(snapshot(now), snapshot(then) if then else None)
    assert not found.unknown
    return found.rows[f"a {name}"]


def test_a_level_that_was_set() -> None:
    found = row(LEVEL, gpus(performance_level="auto"), gpus(performance_level="high"))
    assert found["was_set"] and found["restore"] == f"echo high | tee {DEVICE}/{LEVEL}"
    assert f"ExecStart=/bin/sh -c '{found['restore']}'\n" in found["keep"][0]


def test_the_level_of_the_driver_was_not_set() -> None:
    found = row(LEVEL, gpus(performance_level="high"), gpus(performance_level="auto"))
    assert not found["was_set"] and "keep" not in found


@pytest.mark.parametrize(("before", "was_set"), [(600000, True), (750000, False)])
def test_power_caps(before: int, was_set: bool) -> None:
    then = gpus(power_cap_mw=before, power_cap_default_mw=750000)
    found = row(CAP, gpus(power_cap_mw=750000, power_cap_default_mw=750000), then)
    assert (found["value"], found["before"]) == ("750 W", f"{before // 1000} W") and found["was_set"] == was_set
    assert found["restore"] == f"echo {before}000 | tee {DEVICE}/hwmon/hwmon*/{CAP}"


def test_a_profile_has_no_command() -> None:
    found = row("pp_power_profile_mode", gpus(power_profile="BOOTUP_DEFAULT"), gpus(power_profile="COMPUTE"))
    assert found["was_set"] and not {"restore", "keep"} & found.keys()


def test_a_partition_counts_as_set() -> None:
    found = row("current_compute_partition", gpus(compute_partition="SPX"), gpus(compute_partition="CPX"))
    assert found["was_set"] and found["restore"].startswith("echo CPX ")


@pytest.mark.parametrize("address", ["0000:01:00.0'; reboot #", "", "$(reboot)"])
def test_a_hostile_address_gets_into_no_command(address: str) -> None:
    found = row(LEVEL, gpus(address, performance_level="auto"), gpus(address, performance_level="high"))
    assert not {"restore", "keep", "show"} & found.keys()


def test_a_hostile_value_gets_into_no_command() -> None:
    found = row(LEVEL, gpus(performance_level="auto"), gpus(performance_level="high; reboot"))
    assert found["was_set"] and not {"restore", "keep"} & found.keys()


def test_what_was_not_read_is_unknown() -> None:
    path = ["gpus", "a", "performance_level"]
    blind = snapshot(gpus(), unread={"amdgpu": [path]})
    seen = snapshot(gpus(performance_level="auto"))
    assert amdgpu_settings(blind, seen).rows[f"a {LEVEL}"]["unknown"].keys() == {"value"}
    assert amdgpu_settings(seen, blind).rows[f"a {LEVEL}"]["unknown"].keys() == {"before", "was_set"}
    whole = amdgpu_settings(snapshot(gpus(), unread={"amdgpu": [["gpus"]]}), None)
    assert [gap["subject"] for gap in whole.unknown] == [""]


def test_what_a_line_at_boot_asks_for() -> None:
    text = f"/bin/sh -c 'echo high > {DEVICE}/{LEVEL}'"
    origin = {"file": UNIT, "line": 5, "text": f"ExecStart={text}"}
    command = {"key": "ExecStart", "text": text, "tools": ["write"], "paths": [f"{DEVICE}/{LEVEL}"], "origin": origin}
    unit = {"state": "enabled", "wanted_by": ["multi-user.target"], "type": "oneshot", "commands": [command]}
    units = {"units": {"units": {"amd.service": unit}}}
    assert row(LEVEL, gpus(performance_level="high") | units)["asked"] == f"{UNIT}:5"
    assert row(LEVEL, gpus(performance_level="auto") | units)["not_taken"] == f"{UNIT}:5"


def test_a_gpu_has_the_settings_that_it_has() -> None:
    assert amdgpu_settings(snapshot(gpus()), snapshot(gpus(performance_level="high"))).rows == {}
