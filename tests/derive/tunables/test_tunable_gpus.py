"""What nvidia-smi and amdgpu set."""

from __future__ import annotations

from typing import Any

import pytest

from ..tuned import Row, action, derive, host, rows, verdicts

GPU = "0000:01:00.0"


def gpus(**state: Any) -> Row:
    made = {
        "power": {"limit_mw": 450000, "default_mw": 600000},
        "persistence": True,
        "compute_mode": "Default",
        "ecc": True,
        "ecc_pending": True,
        "mig": False,
        "mig_pending": False,
        "architecture": "Blackwell",
    } | state
    return {
        "nvidia": {
            "gpus": {"GPU-b": {"address": "0000:21:00.0", "state": made}, "GPU-a": {"address": GPU, "state": made}}
        }
    }


LIMIT = "nvidia GPU-a power-limit"


@pytest.mark.parametrize(
    ("selector", "value", "word"),
    [
        ("all", "450", "kept"),
        ("all", "450.00", "kept"),
        ("all", "500", "changes"),
        ("0", "450", "kept"),
        ("1", "450", "reverts"),
        ("GPU-a", "450", "kept"),
        ("GPU-b", "450", "reverts"),
        ("0,1", "450", "kept"),
        ("00000000:01:00.0", "450", "kept"),
        ("$i", "450", "may"),
        ("all", None, "may"),
        ("all", "lots", "may"),
    ],
)
def test_power_limits(selector: str, value: str | None, word: str) -> None:
    row = rows(host(**gpus()), action("nvidia-smi", selector, "power-limit", value=value))[LIMIT]
    assert row["verdict_boot"] == word and row["default"] == 600000


def test_modes_of_gpus() -> None:
    found = verdicts(rows(host(**gpus())))
    assert [found[f"nvidia GPU-a {name}"] for name in ("persistence", "compute-mode", "ecc", "mig")] == [
        "reverts",
        "default",
        "kept",
        "default",
    ]


def test_modes_that_lines_and_the_gpu_set() -> None:
    found = rows(
        host(**gpus(ecc_pending=False, compute_mode="Exclusive_Process")),
        action("nvidia-smi", "all", "persistence", value="1"),
        action("nvidia-smi", "all", "compute-mode", value="3"),
    )
    assert [found[f"nvidia GPU-a {name}"]["verdict_boot"] for name in ("persistence", "compute-mode", "ecc")] == [
        "kept",
        "kept",
        "changes",
    ]
    assert found["nvidia GPU-a ecc"]["configured"] is False
    assert found["nvidia GPU-a ecc"]["configured_by"]["text"] == "ecc pending: off"


@pytest.mark.parametrize(("architecture", "word"), [("Ampere", "kept"), ("Hopper", "reverts"), ("Rubin", "may")])
def test_mig_mode_is_kept_by_ampere_alone(architecture: str, word: str) -> None:
    after = host(**gpus(architecture=architecture, mig=True, mig_pending=True))
    assert rows(after)["nvidia GPU-a mig"]["verdict_boot"] == word


def test_application_clocks() -> None:
    after = host(
        **gpus(
            application_clocks={"memory_mhz": 2619, "graphics_mhz": 1980},
            default_clocks={"memory_mhz": 2619, "graphics_mhz": 1755},
        )
    )
    key = "nvidia GPU-a applications-clocks"
    assert (rows(after)[key]["live"], rows(after)[key]["verdict_boot"]) == ("2619,1980", "reverts")
    line = action("nvidia-smi", "all", "applications-clocks", value="2619, 1980")
    assert rows(after, line)[key]["verdict_boot"] == "kept"
    assert rows(after, before=after)[key]["reverted"] is False


def test_locked_clocks_are_told_by_nobody() -> None:
    row = rows(host(**gpus()), action("nvidia-smi", "all", "lock-gpu-clocks", value="1980"))[
        "nvidia GPU-a lock-gpu-clocks"
    ]
    assert row["absent"] == "no driver tells what it is" and row["configured"] == "1980"


def test_a_gpu_that_nvidia_smi_does_not_tell_of() -> None:
    after = host(nvidia={"gpus": {"GPU-a": {"address": GPU}}}, unread={"nvidia": [["gpus", "GPU-a", "state"]]})
    found = derive(after)
    assert {"nvidia GPU-a power-limit", "nvidia GPU-a ecc"} <= {
        gap["subject"] for gap in found.unknown
    } and not found.rows
    row = rows(after, action("nvidia-smi", "all", "power-limit", value="450"))[LIMIT]
    assert row["verdict_boot"] == "unknown" and row["unread_live"]["why"] == "EACCES"


def test_amdgpu() -> None:
    gpu = {
        "address": GPU,
        "card": "card1",
        "performance_level": "high",
        "power_cap_mw": 300000,
        "power_cap_default_mw": 355000,
    }
    after = host(amdgpu={"gpus": {"id": gpu}})
    level, cap = "amdgpu id power_dpm_force_performance_level", "amdgpu id power1_cap"
    assert verdicts(rows(after)) == {level: "may", cap: "reverts"}
    lines = [
        action("file", "/sys/class/drm/card*/device/power_dpm_force_performance_level", value="high", how="udev"),
        action("file", f"/sys/bus/pci/devices/{GPU}/hwmon/hwmon*/power1_cap", value="300000000"),
    ]
    assert verdicts(rows(after, *lines)) == {level: "kept", cap: "kept"}
