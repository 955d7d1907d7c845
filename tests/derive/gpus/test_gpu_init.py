from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.gpus.gpu_init import gpu_init

from ...pairs import snapshot
from ...recordings import taken

A = "0000:01:00.0"


def row(gpu: dict[str, Any], key: str = "GPU-1", failed: int | None = None, **more: Any) -> dict[str, Any]:
    events = {"events": {A: {"init_failed": failed}}} if failed else {}
    table = {"driver": {"version": "580.95.05", "flavour": "open"}, "gpus": {key: {"address": A} | gpu}, **events}
    found = gpu_init(snapshot({"nvidia": table}, **more), None)
    assert not found.unknown
    return found.rows[key]


@pytest.mark.parametrize(
    ("gpu", "initialised"),
    [
        ({"uuid": "GPU-1", "answers": True}, True), ({"uuid": "GPU-1", "answers": False}, False),
        ({"uuid": "GPU-1"}, True), ({}, False),
    ],
)
def test_initialised(gpu: dict[str, Any], initialised: bool) -> None:
    found = row(gpu, failed=3)
    assert found["initialised"] is initialised and found["failures"] == 3


def test_firmware() -> None:
    assert row({"firmware": "580.95.05"})["firmware_fits"] is True
    assert row({"firmware": "570.86.15"})["firmware_fits"] is False
    assert "firmware_fits" not in row({})


def test_a_log_that_cannot_be_read_hides_failures_and_no_others() -> None:
    unread = {"nvidia": [["events"]]}
    assert row({}, unread=unread)["unknown"].keys() == {"failures"}
    assert "unknown" not in row({}, failed=1, unread=unread)


def test_gpus_that_are_unknown() -> None:
    found = gpu_init(snapshot({"nvidia": {"loaded": True}}, unread={"nvidia": [["gpus"]]}), None)
    assert not found.rows and found.unknown[0]["subject"] == ""
    assert gpu_init(snapshot({}, states={"nvidia": "absent"}), None).unknown == []


def test_recorded_gpus_are_initialised() -> None:
    assert all(one["initialised"] for one in gpu_init(taken("pve-epyc-after.tar.xz"), None).rows.values())
