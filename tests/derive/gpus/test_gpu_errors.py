from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.gpus.gpu_errors import gpu_errors
from snapshot.derive.gpus.xid_codes import MEANINGS, XIDS

from ...pairs import snapshot
from ...recordings import taken

A = "0000:a1:00.0"


def nvidia(xid: dict[str, int], **gpu: Any) -> dict[str, Any]:
    return {"nvidia": {"gpus": {"GPU-5": {"uuid": "GPU-5", "address": A, **gpu}}, "events": {A: {"xid": xid}}}}


@pytest.mark.parametrize(
    ("code", "action"),
    [("79", "reboot"), ("119", "reset"), ("95", "reset"), ("31", "application"), ("43", "none"), ("63", "none"),
     ("54", "power-cable"), ("145", "nvlink"), ("92", "support"), ("9999", None)],
)
def test_what_a_code_asks_for(code: str, action: str | None) -> None:
    row = gpu_errors(snapshot(nvidia({code: 2})), None).rows[f"GPU-5 {code}"]
    assert (row.get("action"), row["code"], row["times"]) == (action, int(code), 2)
    assert ("meaning" in row) is (action is not None)


@pytest.mark.parametrize(
    ("gpu", "recovered"),
    [
        ({"answers": True, "state": {"health": {"recovery_action": "None"}}}, True),
        ({"answers": True, "state": {"health": {"recovery_action": "Reset"}}}, False),
        ({"answers": True, "state": {"health": {"recovery_action": "Drain and Reset"}}}, False),
        ({"answers": False}, None),
        ({"answers": True, "state": {}}, None),  # drivers before R565
    ],
)
def test_whether_anything_is_left_to_do(gpu: dict[str, Any], recovered: bool | None) -> None:
    assert gpu_errors(snapshot(nvidia({"95": 1}, **gpu)), None).rows["GPU-5 95"].get("recovered") is recovered


def test_a_gpu_that_the_driver_no_longer_lists() -> None:
    tables = {"nvidia": {"events": {A: {"xid": {"79": 1}, "off_bus": 1}, "0000:01:00.0": {"aer_correctable": 4}}}}
    assert [*gpu_errors(snapshot(tables), None).rows] == [f"{A} 79"]


def test_a_log_that_is_cut_has_known_errors_and_perhaps_more() -> None:
    found = gpu_errors(snapshot(nvidia({"79": 1}), unread={"nvidia": [["events"]]}), None)
    assert [*found.rows] == ["GPU-5 79"] and [gap["subject"] for gap in found.unknown] == [""]


def test_a_code_that_is_no_number_is_left_out() -> None:
    assert gpu_errors(snapshot(nvidia({"x": 1, "79": 1})), None).rows.keys() == {"GPU-5 79"}


def test_a_lost_gpu_as_recorded() -> None:
    found = gpu_errors(taken("gpu-lost.tar.xz"), None)
    assert [row["action"] for row in found.rows.values()] == ["reboot"] and not found.unknown


def test_no_code_stands_twice() -> None:
    assert len(XIDS) == sum(map(len, MEANINGS.values()))
