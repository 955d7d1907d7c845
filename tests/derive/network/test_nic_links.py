"""Links of interfaces and bonds, before and after."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.network.nic_links import nic_links

from ...pairs import snapshot
from ..nics import MACS, net, nic

UP: dict[str, Any] = {"up": True, "operstate": "up", "speed_mbps": 200000, "duplex": "full"}


def against(was: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    found = nic_links(snapshot({"net": net(nic("eno1", **now))}), snapshot({"net": net(nic("eno1", **was))}))
    return found.rows[MACS[0]]


@pytest.mark.parametrize(("was", "now", "fault"), [
    (UP, UP, None),
    (UP, {**UP, "speed_mbps": 400000}, None),
    (UP, {"up": True, "operstate": "down"}, "down"),
    (UP, {"up": True, "operstate": "dormant"}, "down"),
    (UP, {"up": True, "operstate": "unknown"}, None),
    (UP, {"up": False, "operstate": "down"}, "off"),
    (UP, {}, None),
    ({"operstate": "down"}, {"operstate": "down"}, None),
    ({"operstate": "unknown"}, {"operstate": "down"}, None),
    (UP, {**UP, "speed_mbps": 100000, "duplex": "half"}, "slower"),
    (UP, {**UP, "duplex": "half"}, "half"),
    ({**UP, "mii_status": "up"}, {**UP, "mii_status": "down", "master": "bond0"}, "unused"),
])
def test_faults(was: dict[str, Any], now: dict[str, Any], fault: str | None) -> None:
    assert against(was, now).get("fault") == fault


def test_what_a_fault_tells() -> None:
    assert against(UP, {**UP, "speed_mbps": 100000}).items() >= {
        "speed_before_mbps": 200000, "speed_mbps": 100000}.items()
    assert against(UP, {"up": False, "operstate": "down"})["state"] == "switched off"
    assert against(UP, {"up": True, "operstate": "lowerlayerdown"})["state"] == "lowerlayerdown"


def test_a_bond_has_no_speed_of_its_own() -> None:
    def bond(speed: int, *members: str) -> dict[str, Any]:
        return net({"name": "bond0", "kind": "bond", "speed_mbps": speed, "operstate": "up",
                    "bond": {"members": [*members]}})

    was, now = snapshot({"net": bond(400000, "a", "b")}), snapshot({"net": bond(200000, "c")})
    row = nic_links(now, was).rows["bond0"]
    assert (row["fault"], row["members_before"], row["members"]) == ("fewer", 2, 1)
    assert "fault" not in nic_links(snapshot({"net": bond(200000, "c", "d")}), was).rows["bond0"]


def test_gone_counts_if_it_was_up() -> None:
    after = snapshot({"net": net()})
    assert nic_links(after, snapshot({"net": net(nic("eno1", **UP))})).rows[MACS[0]].items() >= {
        "fault": "gone", "state": "gone", "name": "eno1"}.items()
    assert "fault" not in nic_links(after, snapshot({"net": net(nic("eno1", operstate="down"))})).rows[MACS[0]]


def test_who_has_the_card_now() -> None:
    def pci(driver: str) -> dict[str, Any]:
        card = {"vendor": "15b3", "device": "1021", "driver": driver, "source": "config"}
        return {"functions": {"0000:04:00.0": card}}

    before = snapshot({"net": net(nic("eno1", device="0000:04:00.0", **UP)), "pci": pci("mlx5_core")})
    assert nic_links(snapshot({"net": net(), "pci": pci("vfio-pci")}), before).rows[MACS[0]]["driver_now"] == "vfio-pci"
    assert "driver_now" not in nic_links(snapshot({"net": net(), "pci": {"functions": {}}}), before).rows[MACS[0]]


def test_no_row_for_infiniband_bridges_and_virtual_functions() -> None:
    others = (nic("ibp3s0", "02:00:06:00:00:00:00:01"), {"name": "br0", "kind": "bridge"},
              nic("eno1v0", MACS[1], virtual_function=True))
    assert nic_links(snapshot({"net": net(*others)}), None).rows == {}


@pytest.mark.parametrize("side", ["before", "after"])
def test_unread_on_either_side_is_unknown(side: str) -> None:
    table = {"net": net(nic("eno1", operstate="up"))}
    lost = snapshot(table, unread={"net": [["interfaces", MACS[0], "speed_mbps"]]})
    found = nic_links(*((lost, snapshot(table)) if side == "after" else (snapshot(table), lost)))
    assert found.rows == {} and [gap["subject"] for gap in found.unknown] == [MACS[0]]


def test_an_interface_that_vanished_while_it_was_read_is_not_gone() -> None:
    after = snapshot({"net": net()}, unread={"net": [["interfaces", MACS[0]]]})
    found = nic_links(after, snapshot({"net": net(nic("eno1", **UP))}))
    assert found.rows == {} and [gap["subject"] for gap in found.unknown] == [MACS[0]]
    assert nic_links(snapshot({}, states={"net": "denied"}), None).unknown[0]["subject"] == ""


@pytest.mark.parametrize("fact", [[], ["permanent_mac"]])
def test_an_interface_that_is_not_told_may_be_the_one_that_is_missed(fact: list[str]) -> None:
    before = snapshot({"net": net(nic("eno1", **UP))})
    bare = {"name": "eno1", "kind": "physical" if fact else "virtual"}
    after = snapshot({"net": net(bare)}, unread={"net": [["interfaces", "eno1", *fact]]})
    found = nic_links(after, before)
    assert not found.rows.keys() & {*MACS} and MACS[0] in [gap["subject"] for gap in found.unknown]


def test_an_interface_without_its_mac_is_the_one_at_its_address() -> None:
    here = {"device": "0000:04:00.0", **UP}
    bare = {"name": "eno2", "kind": "physical", **here, "speed_mbps": 1000}
    after = snapshot({"net": net(bare)}, unread={"net": [["interfaces", "eno2", "permanent_mac"]]})
    found = nic_links(after, snapshot({"net": net(nic("eno1", **here))}))
    assert found.rows["eno2"]["fault"] == "slower" and [*found.rows] == ["eno2"] and not found.unknown


def test_members_that_are_unread_are_not_fewer() -> None:
    bond = {"name": "bond0", "kind": "bond", "bond": {"members": ["a", "b"]}}
    after = snapshot({"net": net(bond | {"bond": {"members": []}})},
                     unread={"net": [["interfaces", "bond0", "bond", "members"]]})
    found = nic_links(after, snapshot({"net": net(bond)}))
    assert not found.rows and [gap["subject"] for gap in found.unknown] == ["bond0"]
