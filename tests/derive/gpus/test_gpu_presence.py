"""Whether the driver that is loaded has a GPU at all."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.gpus.gpu_presence import gpu_presence

from ...pairs import snapshot

ROOT = {"vendor": "1022", "class_code": "060000", "source": "config"}
NONE = "exit 6: No devices were found"


def pci(**more: str) -> dict[str, Any]:
    gpu = {"0000:01:00.0": {"vendor": "10de", "source": "config"} | more} if more else {}
    return {"functions": {"0000:00:00.0": ROOT} | gpu}


def found(functions: dict[str, Any], why: str = NONE, **more: Any) -> Any:
    tables = {"nvidia": {"loaded": True}, "pci": functions} | more
    return gpu_presence(snapshot(tables, unread={"nvidia": [["attached"]]}, why=why), None)


def test_all_are_gone() -> None:
    assert found(pci()).rows == {"nvidia": {"on_bus": 0, "attached": 0, "said": NONE}}


@pytest.mark.parametrize(("function", "on_bus"), [
    ({"class_code": "030200", "driver": "vfio-pci"}, 1), ({"class_code": "030000"}, 1), ({"driver": "nvidia"}, 1),
    ({"class_code": "040300"}, 0),
])
def test_what_is_a_gpu(function: dict[str, str], on_bus: int) -> None:
    assert found(pci(**function)).rows["nvidia"]["on_bus"] == on_bus


@pytest.mark.parametrize("more", [
    {"nvidia": {"loaded": False}}, {"os": {"virtualization": "docker"}}, {"pci": {"functions": {}}},
])
def test_no_row_where_nothing_can_be_told(more: dict[str, Any]) -> None:
    assert not found(pci(), **more).rows and not found(pci(), **more).unknown


@pytest.mark.parametrize(("machine", "rows"), [
    ("none", {"nvidia": {"on_bus": 0, "attached": 0, "switches": 1, "said": NONE}}), ("kvm", {}), (None, {}),
])
def test_a_machine_that_serves_nvswitches_to_others_needs_no_gpu(machine: str | None, rows: dict[str, Any]) -> None:
    assert found(pci(class_code="068000"), os={"virtualization": machine} if machine else {}).rows == rows


def test_unread_is_unknown() -> None:
    assert [gap["why"] for gap in found(pci(), why="timeout").unknown] == ["timeout"]
    lost = snapshot({"nvidia": {"loaded": True}}, states={"pci": "timeout"})
    assert gpu_presence(lost, None).unknown[0]["subject"] == "nvidia"


def test_a_gpu_that_the_driver_lists_is_there() -> None:
    nvidia = {"loaded": True, "gpus": {"GPU-1": {"uuid": "GPU-1"}}}
    assert found(pci(), nvidia=nvidia).rows["nvidia"]["attached"] == 1
