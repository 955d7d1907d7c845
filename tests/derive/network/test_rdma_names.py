"""Names of RDMA devices, and what NCCL_IB_HCA selects."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.network.rdma_names import rdma_names, selects

from ...pairs import snapshot

GUID = "0200:0300:0000:0000"


def rdma(name: str, state: str = "ACTIVE", **more: Any) -> dict[str, Any]:
    device = {"name": name, "node_guid": GUID, "ports": {"1": {"state": state}}}
    return {"devices": {GUID: device}, **more}


def choice(value: str) -> dict[str, Any]:
    return {"nccl_hca": {"value": value, "origin": {"file": "/etc/nccl.conf", "line": 2, "text": value}}}


def row(before: dict[str, Any] | None, after: dict[str, Any]) -> dict[str, Any]:
    return rdma_names(snapshot({"rdma": after}), snapshot({"rdma": before}) if before else None).rows[GUID]


@pytest.mark.parametrize(("value", "name", "hit"), [
    ("mlx5", "mlx5_0", True), ("mlx5", "rocep3s0", False), ("mlx5_1", "mlx5_10", True), ("=mlx5_1", "mlx5_10", False),
    ("=mlx5_0:1,mlx5_1:1", "mlx5_1", True), ("^mlx5_0", "mlx5_0", False), ("^mlx5_0", "mlx5_1", True),
    ("^=mlx5_1", "mlx5_10", True), ("^=mlx5_1", "mlx5_1", False), ("", "mlx5_0", True), (",,mlx4", "mlx5_0", False),
])
def test_what_nccl_selects(value: str, name: str, hit: bool) -> None:
    assert selects(value, name) is hit


def test_alone() -> None:
    assert row(None, rdma("mlx5_0")) == {"name": "mlx5_0", "active": True}
    assert row(None, rdma("mlx5_0", "DOWN")) == {"name": "mlx5_0"}


def test_a_choice_that_lost_its_device() -> None:
    found = row(rdma("mlx5_0"), rdma("rocep3s0f0", **choice("mlx5")))
    assert (found["name_before"], found["lost_by"], found["selects"]) == ("mlx5_0", "/etc/nccl.conf:2", [])
    kept = row(rdma("mlx5_0"), rdma("rocep3s0f0", **choice("rocep,mlx5")))
    assert "lost_by" not in kept and kept["selects"] == ["rocep3s0f0"]
    assert "lost_by" not in row(rdma("mlx5_0"), rdma("rocep3s0f0", **choice("=other")))


@pytest.mark.parametrize(("folder", "own"), [("/etc", True), ("/usr/lib", False)])
def test_the_rule_that_names(folder: str, own: bool) -> None:
    origin = {"file": f"{folder}/udev/rules.d/60-rdma-persistent-naming.rules", "line": 2, "text": "x"}
    found = row(None, rdma("mlx5_0", naming={"policy": "NAME_KERNEL", "origin": origin}))
    assert found["policy"] == "NAME_KERNEL" and ("policy_by" in found) is own


def test_nothing_and_unread() -> None:
    absent = rdma_names(snapshot({}, states={"rdma": "absent"}), snapshot({"rdma": rdma("mlx5_0")}))
    assert (absent.rows, absent.unknown) == ({}, [])
    assert rdma_names(snapshot({}, states={"rdma": "failed"}), None).unknown[0]["subject"] == ""
