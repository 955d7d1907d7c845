"""Bridges and the ports that they should have."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.network.bridge_ports import bridge_ports

from ...pairs import snapshot
from ..nics import MACS, bridge, net, nic, setting, vmbr


def rows(after: dict[str, Any], before: dict[str, Any] | None = None, **sections: Any) -> dict[str, Any]:
    then = snapshot({"net": before}) if before else None
    return bridge_ports(snapshot({"net": after, **sections}), then).rows


def test_a_port_that_is_in() -> None:
    found = rows(net(nic("eno1"), bridge("vmbr0", "eno1", "eno2"), **vmbr("eno1")))["vmbr0 eno1"]
    assert (found["state"], found["others"], found["asked_by"]) == ("in", ["eno2"], "/etc/network/interfaces:7")
    assert "now" not in found


def test_outside() -> None:
    found = rows(net(nic("eno1", up=False, master="bond0"), bridge("vmbr0"), **vmbr("eno1")))["vmbr0 eno1"]
    assert (found["outside"], found["master"], found["switched_off"]) == ("eno1", "bond0", True)
    assert found["now"] == ["ip link set dev eno1 master vmbr0 up"]


def test_missing_with_a_past_and_with_a_guess() -> None:
    after = net(nic("enp5s0"), bridge("vmbr0"), **vmbr("enp4s0"))
    past = rows(after, net(nic("enp4s0")))["vmbr0 enp4s0"]
    assert (past["missing"], past["called"]) == ("enp4s0", "enp5s0") and "unnamed" not in past
    guess = rows(after)["vmbr0 enp4s0"]
    assert guess["unnamed"] == "enp5s0" and "called" not in guess
    assert guess["now"] == past["now"] == ["ip link set dev enp5s0 master vmbr0 up"]


@pytest.mark.parametrize("others", [
    [], [nic("eno1"), nic("eno2", MACS[1])], [nic("eno1", master="bond0")], [nic("eno1", virtual_function=True)],
])
def test_no_guess_where_it_is_none_or_several(others: list[dict[str, Any]]) -> None:
    found = rows(net(*others, bridge("vmbr0"), **vmbr("enp4s0")))["vmbr0 enp4s0"]
    assert found["state"] == "missing" and "unnamed" not in found and "now" not in found


@pytest.mark.parametrize(("sections", "auto", "there"), [
    ({}, True, False),
    ({"os": {"proxmox_ve": "8.4.1"}}, True, True),
    ({"os": {"proxmox_ve": "8.4.1"}}, False, False),
    ({"packages": {"installed": {"ifupdown": {"version": "0.8"}}}}, True, True),
])
def test_a_bridge_that_is_not_there(sections: dict[str, Any], auto: bool, there: bool) -> None:
    found = rows(net(nic("eno1"), **vmbr("eno1", auto)), **sections)
    assert [row["no_bridge"] for row in found.values()] == (["vmbr0"] if there else [])


@pytest.mark.parametrize("active", ["active", "inactive"])
def test_networkd_counts_while_it_runs(active: str) -> None:
    options = {"Match.Name": setting("eno1"), "Network.Bridge": setting("br0")}
    files = {"networkd": {"a.network": {"options": options}}}
    unit = {"state": "enabled", "runtime": {"active": active}}
    units = {"units": {"systemd-networkd.service": unit}}
    assert len(rows(net(nic("eno1"), **files), units=units)) == (active == "active")


def test_ports_of_guests_are_not_missed() -> None:
    assert rows(net(bridge("vmbr0"), left_out={"veth*": 3}, **vmbr("veth0"))) == {}


def test_something_else_of_the_bridges_name() -> None:
    assert rows(net(nic("eno1"), {"name": "vmbr0", "kind": "bond"}, **vmbr("eno1"))) == {}


def test_unread_ports_are_unknown() -> None:
    table = net(nic("eno1"), {"name": "vmbr0", "kind": "bridge"}, **vmbr("eno1"))
    found = bridge_ports(snapshot({"net": table}, unread={"net": [["interfaces", "vmbr0", "bridge", "ports"]]}), None)
    assert found.rows == {} and [gap["subject"] for gap in found.unknown] == ["vmbr0 eno1"]
    assert bridge_ports(snapshot({}, states={"net": "timeout"}), None).unknown[0]["subject"] == ""


def test_hostile_names_are_quoted_or_left_out() -> None:
    found = rows(net(nic("$(id)"), bridge("vmbr0"), **vmbr("enp4s0")), net(nic("enp4s0")))["vmbr0 enp4s0"]
    assert found["now"] == ["ip link set dev '$(id)' master vmbr0 up"] and "durable" not in found
