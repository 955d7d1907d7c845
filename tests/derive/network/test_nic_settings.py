"""MTU, rings, channels, coalescing and offloads of interfaces, before and after."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from snapshot.derive.network.nic_settings import nic_mtus, nic_settings

from ...pairs import snapshot
from ..nics import MACS, net, nic, setting, stanza

IFUPDOWN = {"eno1": stanza(True, [setting("post-up ethtool -G $IFACE rx 8192", 12)], mtu="9000")}


def mtu(now: dict[str, Any], was: dict[str, Any], **files: Any) -> dict[str, Any]:
    after = snapshot({"net": net(nic("eno1", **now), **files)})
    return nic_mtus(after, snapshot({"net": net(nic("eno1", **was))})).rows[MACS[0]]


def settings(now: dict[str, Any], was: dict[str, Any], **files: Any) -> dict[str, dict[str, Any]]:
    after = snapshot({"net": net(nic("eno1", **now), **files)})
    return nic_settings(after, snapshot({"net": net(nic("eno1", **was))})).rows


def test_mtu() -> None:
    found = mtu({"mtu": 1500, "up": False}, {"mtu": 9000})
    assert (found["fault"], found["before"], found["live"], found["idle"]) == ("less", 9000, 1500, True)
    assert found["restore"] == "ip link set dev eno1 mtu 9000"
    assert "fault" not in mtu({"mtu": 9000}, {"mtu": 1500}) and "fault" not in mtu({"mtu": 9000}, {"mtu": 9000})
    assert "before" not in nic_mtus(snapshot({"net": net(nic("eno1", mtu=1500))}), None).rows[MACS[0]]


def test_lines_that_ask_for_it() -> None:
    found = mtu({"mtu": 1500}, {"mtu": 9000}, ifupdown=IFUPDOWN)
    assert (found["asked_by"], "allowed_by" in found) == ("/etc/network/interfaces:7", False)
    assert found["durable"] == "# below iface eno1 in /etc/network/interfaces: mtu 9000"
    other = mtu({"mtu": 9000}, {"mtu": 9216}, ifupdown=IFUPDOWN)
    assert (other["allowed_by"], "asked_by" in other) == ("/etc/network/interfaces:7", False)


def test_a_line_that_asked_all_along_excuses_nothing() -> None:
    after, before = (snapshot({"net": net(nic("eno1", mtu=size), ifupdown=IFUPDOWN)}) for size in (9000, 9216))
    row = nic_mtus(after, before).rows[MACS[0]]
    assert (row["all_along"], "allowed_by" in row) == ("/etc/network/interfaces:7", False)


def test_netplan_keeps_the_mtu() -> None:
    found = mtu({"mtu": 1500}, {"mtu": 9000}, netplan={"ethernets.eno1": stanza()})
    assert found["durable"] == "netplan set ethernets.eno1.mtu=9000 && netplan apply"


def test_rings_and_the_hook_that_sets_them() -> None:
    found = settings({"rings": {"rx": 1024, "tx": 512}}, {"rings": {"rx": 8192, "tx": 512}}, ifupdown=IFUPDOWN)
    assert "fault" not in found["eno1 ring/tx"]
    row = found["eno1 ring/rx"]
    assert (row["group"], row["setting"], row["asked_by"]) == ("ring", "rx", "/etc/network/interfaces:12")
    assert row["durable"].endswith("/etc/network/interfaces: post-up /usr/sbin/ethtool -G eno1 rx 8192")


@pytest.mark.parametrize(("was", "now", "fault"), [
    ({"channels": {"combined": 63}}, {"channels": {"combined": 8}}, "less"),
    ({"channels": {"combined": 8}}, {"channels": {"combined": 63}}, None),
    ({"offloads": {"x": True}}, {"offloads": {"x": False}}, "off"),
    ({"offloads": {"x": False}}, {"offloads": {"x": True}}, None),
    ({"coalescing": {"rx-usecs": 8}}, {"coalescing": {"rx-usecs": 0}}, "other"),
    ({"coalescing": {"adaptive-rx": "on"}}, {"coalescing": {"adaptive-rx": "off"}}, "other"),
    ({"rings": {"rx": 1024}}, {"rings": {"tx": 1024}}, None),
])
def test_faults(was: dict[str, Any], now: dict[str, Any], fault: str | None) -> None:
    assert {row.get("fault") for row in settings(now, was).values()} == {fault}


def test_what_changes_by_itself_has_no_row() -> None:
    adaptive: dict[str, Any] = {"coalescing": {"adaptive-rx": "on", "rx-usecs": 8, "tx-usecs": 8}}
    adaptive |= {"offloads": {"large-receive-offload": True}}
    assert [*settings(adaptive, adaptive)] == ["eno1 coalesce/adaptive-rx", "eno1 coalesce/tx-usecs"]
    function = snapshot({"net": net(nic("eno1v0", virtual_function=True, mtu=1500))})
    assert nic_mtus(function, None).rows == {}


def test_udev_keeps_what_no_file_of_a_manager_does() -> None:
    [row] = settings({"offloads": {"tx-gso": False}}, {"offloads": {"tx-gso": True}}).values()
    assert (row["before"], row["live"], row["restore"]) == ("on", "off", "ethtool -K eno1 tx-gso on")
    rule = 'ACTION=="add", SUBSYSTEM=="net", NAME=="eno1", RUN+="/usr/sbin/ethtool -K eno1 tx-gso on"'
    assert shlex.split(row["durable"]) == ["echo", rule, ">>", "/etc/udev/rules.d/90-eno1.rules"]


@pytest.mark.parametrize("name", ["$(id)", "a\nreboot", "a b", '"'])
def test_hostile_names_are_quoted_or_left_out(name: str) -> None:
    files = {"ifupdown": {name: stanza(True)}}
    after = snapshot({"net": net(nic(name, mtu=1500, rings={name: 1}), **files)})
    before = snapshot({"net": net(nic(name, mtu=9000, rings={name: 2}))})
    row = nic_mtus(after, before).rows[MACS[0]]
    assert shlex.split(row["restore"])[:5] == ["ip", "link", "set", "dev", name] and "durable" not in row
    [ring] = nic_settings(after, before).rows.values()
    assert shlex.split(ring["restore"])[2:4] == [name, name] and "durable" not in ring


@pytest.mark.parametrize(("why", "before", "files", "unknown"), [
    ("EIO", "EIO", {}, True),
    ("not-found", "not-found", {}, False),
    ("not-found", None, {}, True),
    ("not-found", "not-found", {"ifupdown": IFUPDOWN}, True),
])
def test_a_host_without_ethtool(why: str, before: str | None, files: dict[str, Any], unknown: bool) -> None:
    table, lost = net(nic("eno1"), **files), {"net": [["interfaces", MACS[0], "rings"]]}
    then = snapshot({"net": table}, unread=lost if before else None, why=before or "")
    found = nic_settings(snapshot({"net": table}, unread=lost, why=why), then)
    assert [gap["subject"] for gap in found.unknown] == (["eno1 ring/"] if unknown else [])


def test_unread() -> None:
    assert nic_mtus(snapshot({}, states={"net": "failed"}), None).unknown[0]["subject"] == ""
    lost = snapshot({"net": net(nic("eno1"))}, unread={"net": [["interfaces", MACS[0], "mtu"]]})
    assert [gap["subject"] for gap in nic_mtus(lost, None).unknown] == [MACS[0]]
    assert nic_settings(lost, None).unknown == []
