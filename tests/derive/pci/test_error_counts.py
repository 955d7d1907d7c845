from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.pci.error_counts import memory_errors, pci_errors

from ...pairs import snapshot
from ..machines import GPU1, ROOT, function, gpu

EDAC = {"mc0": {"corrected": 40, "uncorrected": 0, "modules": {
    "dimm0": {"label": "P0_A1", "corrected": 37, "uncorrected": 0},
    "dimm1": {"label": "P0_B1", "corrected": 0, "uncorrected": 0}}}}


@pytest.mark.parametrize(("uptime", "rate"), [(7200, 711.5), (0, 5122800), (None, None), (86400 * 400, 0.1)])
def test_rate_of_pci_errors(uptime: int | None, rate: float | None) -> None:
    aer = {"correctable": 1423, "nonfatal": 0, "fatal": 1}
    pci = {"functions": {ROOT: function("root port", []), GPU1: gpu([ROOT], aer=aer)}}
    found = pci_errors(snapshot({"pci": pci}, meta={} if uptime is None else {"uptime_s": uptime}), None).rows
    row = found[GPU1]
    assert row.get("per_hour") == rate and (row["correctable"], row["fatal"], row["noun"]) == (1423, 1, "GPU")
    assert ROOT not in found


def test_a_controllers_own_row_has_what_no_module_counted() -> None:
    found = memory_errors(snapshot({"memory": {"edac": EDAC}}, meta={"uptime_s": 86400}), None).rows
    assert {key: row["corrected"] for key, row in found.items()} == {"mc0": 3, "mc0 dimm0": 37, "mc0 dimm1": 0}
    assert found["mc0 dimm0"] | {"label": "P0_A1", "per_day": 37.0, "uptime_h": 24} == found["mc0 dimm0"]


def test_the_driver_is_lost_when_a_before_shows_controllers_and_none_is_left() -> None:
    then, gone = snapshot({"memory": {"edac": EDAC}}), snapshot({"memory": {}})
    unread = snapshot({"memory": {}}, unread={"memory": [["edac"]]})
    assert memory_errors(gone, then).rows == {"EDAC": {"driver_lost": True}}
    assert memory_errors(then, then).rows["EDAC"] == {"driver_lost": False}
    assert not memory_errors(unread, then).rows and not memory_errors(gone, gone).rows
    assert not memory_errors(gone, None).rows


def unknown(section: str, path: list[str]) -> list[str]:
    tables: dict[str, Any] = {"pci": {"functions": {}}, "memory": {}}
    table = pci_errors if section == "pci" else memory_errors
    return [gap["subject"] for gap in table(snapshot(tables, unread={section: [path]}), None).unknown]


@pytest.mark.parametrize(
    ("path", "subjects"),
    [
        ([], [""]), (["functions"], [""]), (["functions", GPU1], [GPU1]), (["functions", GPU1, "aer"], [GPU1]),
        (["functions", GPU1, "aer", "correctable"], [GPU1]), (["functions", GPU1, "express"], []),
    ],
)
def test_pci_counts_that_were_not_read(path: list[str], subjects: list[str]) -> None:
    assert unknown("pci", path) == subjects and unknown("memory", ["thp"]) == []


@pytest.mark.parametrize(
    ("path", "subjects"),
    [
        ([], [""]), (["edac"], [""]), (["edac", "mc0"], ["mc0"]), (["edac", "mc0", "corrected"], ["mc0"]),
        (["edac", "mc0", "modules"], ["mc0"]), (["edac", "mc0", "modules", "dimm0"], ["mc0 dimm0"]),
        (["edac", "mc0", "modules", "dimm0", "corrected"], ["mc0 dimm0"]),
        (["edac", "mc0", "modules", "dimm0", "label"], []), (["edac", "mc0", "size_mib"], []), (["thp"], []),
    ],
)
def test_memory_counts_that_were_not_read(path: list[str], subjects: list[str]) -> None:
    assert unknown("memory", path) == subjects
