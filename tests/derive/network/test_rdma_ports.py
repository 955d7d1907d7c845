"""Ports of RDMA devices, before and after."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.network.rdma_ports import rdma_ports

from ...pairs import snapshot

GUID = "0200:0600:0000:0000"
ADDRESS = "0000:03:00.0"
ACTIVE = {"state": "ACTIVE", "phys_state": "LinkUp", "rate_gbps": 400.0, "link_layer": "InfiniBand"}


def rdma(**port: Any) -> dict[str, Any]:
    device = {"name": "mlx5_0", "node_guid": GUID, "device": ADDRESS, "ports": {"1": port}}
    return {"devices": {GUID: device}}


def pci(driver: str) -> dict[str, Any]:
    return {"functions": {ADDRESS: {"vendor": "15b3", "device": "1021", "driver": driver, "source": "config"}}}


def row(now: dict[str, Any], was: dict[str, Any] | None = None) -> dict[str, Any]:
    before = snapshot({"rdma": rdma(**was)}) if was else None
    return rdma_ports(snapshot({"rdma": rdma(**now)}), before).rows[f"{GUID} 1"]


@pytest.mark.parametrize(("was", "now", "fault"), [
    (None, ACTIVE, None),
    (None, {**ACTIVE, "state": "INIT"}, "unmanaged"),
    (None, {**ACTIVE, "state": "ARMED"}, "unmanaged"),
    (None, {**ACTIVE, "state": "INIT", "link_layer": "Ethernet"}, None),
    (None, {**ACTIVE, "state": "INIT", "phys_state": "Polling"}, None),
    (None, {**ACTIVE, "state": "DOWN", "phys_state": "Polling"}, None),
    (ACTIVE, {**ACTIVE, "state": "DOWN", "phys_state": "Polling"}, "down"),
    (ACTIVE, {**ACTIVE, "state": "ACTIVE_DEFER"}, None),
    (ACTIVE, {**ACTIVE, "rate_gbps": 200.0}, "slower"),
    (ACTIVE, {**ACTIVE, "rate_gbps": 800.0}, None),
    ({**ACTIVE, "state": "DOWN"}, {**ACTIVE, "state": "DOWN", "rate_gbps": 10.0}, None),
])
def test_faults(was: dict[str, Any] | None, now: dict[str, Any], fault: str | None) -> None:
    assert row(now, was).get("fault") == fault


def test_what_a_fault_tells() -> None:
    assert row({**ACTIVE, "rate_gbps": 200.0}, ACTIVE)["rate_before_gbps"] == 400.0
    assert row({**ACTIVE, "state": "INIT"})["waits_in"] == "INIT"
    assert row({**ACTIVE, "state": "DOWN"}, ACTIVE)["state_before"] == "ACTIVE"


def test_gone_with_the_subsystem() -> None:
    before = snapshot({"rdma": rdma(**ACTIVE), "pci": pci("mlx5_core")})
    after = snapshot({"pci": pci("mlx5_core")}, states={"rdma": "absent"})
    found = rdma_ports(after, before).rows[f"{GUID} 1"]
    assert (found["fault"], found["last_state"], found["driver_now"]) == ("gone", "ACTIVE", "mlx5_core")
    unused = snapshot({"rdma": rdma(**{**ACTIVE, "state": "DOWN"})})
    assert rdma_ports(after, unused).rows == {}


def test_unread_is_unknown_unless_the_fault_shows_anyway() -> None:
    lost = snapshot({}, states={"rdma": "timeout"})
    assert rdma_ports(lost, None).unknown[0]["subject"] == ""
    after = snapshot({"rdma": rdma(**ACTIVE)})
    assert [gap["subject"] for gap in rdma_ports(after, lost).unknown] == [f"{GUID} 1"]
    waiting = snapshot({"rdma": rdma(**{**ACTIVE, "state": "INIT"})})
    assert rdma_ports(waiting, lost).rows[f"{GUID} 1"]["fault"] == "unmanaged"
    ports = snapshot({"rdma": {"devices": {GUID: {"name": "mlx5_0"}}}}, unread={"rdma": [["devices", GUID, "ports"]]})
    assert [gap["subject"] for gap in rdma_ports(ports, None).unknown] == [f"{GUID} "]


@pytest.mark.parametrize(("address", "gaps"), [(ADDRESS, []), ("0000:04:00.0", [f"{GUID} "])])
def test_a_device_whose_guid_is_unread_is_the_one_at_its_address_or_may_be_it(address: str, gaps: list[str]) -> None:
    device = {"name": "mlx5_0", "device": address, "ports": {"1": ACTIVE}}
    after = snapshot({"rdma": {"devices": {"mlx5_0": device}}}, unread={"rdma": [["devices", "mlx5_0", "node_guid"]]})
    found = rdma_ports(after, snapshot({"rdma": rdma(**ACTIVE)}))
    assert [gap["subject"] for gap in found.unknown] == gaps
    assert [*found.rows] == ["mlx5_0 1"] and "fault" not in found.rows["mlx5_0 1"]
