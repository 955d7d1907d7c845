"""Interfaces that are called otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.network.nic_names import nic_names, rename

from ...pairs import snapshot
from ..nics import INTERFACES, MACS, net, nic, setting, stanza, vmbr

PVE = {"id": "debian", "proxmox_ve": "8.4.1"}


def row(before: dict[str, Any], after: dict[str, Any], **sections: Any) -> dict[str, Any]:
    files = {INTERFACES: "0" * 64, "/etc/network/interfaces.d/b r": "1" * 64}
    return nic_names(snapshot({"net": after, **sections}, files=files), snapshot({"net": before})).rows[MACS[0]]


def test_alone_there_is_no_name_before() -> None:
    assert nic_names(snapshot({"net": net(nic("eno1"))}), None).rows == {MACS[0]: {"name": "eno1", "mac": MACS[0]}}


def test_kept_says_nothing_more() -> None:
    assert row(net(nic("eno1")), net(nic("eno1"))) == {"name": "eno1", "mac": MACS[0], "name_before": "eno1"}


def test_renamed_and_still_named() -> None:
    found = row(net(nic("enp4s0")), net(nic("enp5s0"), **vmbr("enp4s0")), os=PVE)
    assert (found["named"], found["named_in"], found["managers"]) == ("yes", f"{INTERFACES}:7", ["ifupdown"])
    assert found["now"] == [
        rf"sed -i 's/\benp4s0\b/enp5s0/g' {INTERFACES}",
        r"sed -i 's/\benp4s0\b/enp5s0/g' '/etc/network/interfaces.d/b r'", "ifreload -a"]
    text = f"[Match]\\nPermanentMACAddress={MACS[0]}\\n\\n[Link]\\nName=enp5s0\\n"
    assert found["durable"] == [
        f"printf '{text}' > /etc/systemd/network/10-enp5s0.link", "update-initramfs -u -k all"]


def test_a_stanza_alone_is_named_without_a_line() -> None:
    found = row(net(nic("enp4s0")), net(nic("enp5s0"), ifupdown={"enp4s0": stanza(True)}))
    assert (found["named"], found["named_in"]) == ("yes", INTERFACES)
    assert "lines" not in found and found["now"][-1] == "systemctl restart networking"


def test_netplan_and_networkd_reload_in_their_own_way() -> None:
    netplan = {"bonds.bond0": stanza(interfaces="enp4s0")}
    networkd = {"a.network": {"options": {"Match.Name": setting("enp4s0", 2, "/etc/systemd/network/a.network")}}}
    now = row(net(nic("enp4s0")), net(nic("enp5s0"), netplan=netplan, networkd=networkd))["now"]
    assert now[-2:] == ["netplan apply", "networkctl reload && networkctl reconfigure enp5s0"]


def test_not_named_and_not_read_are_two_things() -> None:
    assert row(net(nic("enp4s0")), net(nic("enp5s0")))["named"] == "no"
    after = snapshot({"net": net(nic("enp5s0"))}, unread={"net": [["netplan"]]})
    assert nic_names(after, snapshot({"net": net(nic("enp4s0"))})).rows[MACS[0]]["named"] == "unread"


@pytest.mark.parametrize("names", [("eno2", "eno1"), ("eno2", "eno3")])
def test_no_edit_where_names_went_round(names: tuple[str, str]) -> None:
    before = net(nic("eno1"), nic("eno2", MACS[1]))
    found = row(before, net(nic(names[0]), nic(names[1], MACS[1]), **vmbr("eno1")))
    assert "now" not in found
    assert found.get("taken_by") == (MACS[1] if names[1] == "eno1" else None)


def test_a_pinned_name_is_not_pinned_again() -> None:
    link = {"a.link": {"options": {"Link.Name": setting("nic0", 4, "/etc/systemd/network/a.link")}}}
    found = row(net(nic("enp4s0")), net(nic("nic0"), networkd=link))
    assert found["pinned_text"] == "/etc/systemd/network/a.link:4" and "durable" not in found


@pytest.mark.parametrize("name", ["a'b", "a;reboot", "-x", "a/b", "a&b", "a b", ""])
def test_hostile_names_get_no_commands(name: str) -> None:
    found = row(net(nic("enp4s0")), net(nic(name), **vmbr("enp4s0")))
    assert "now" not in found and "durable" not in found
    assert rename(["/f"], name, "eno1") == []


def test_dots_are_no_wildcards() -> None:
    assert rename(["/f"], "eno1.5", "eno2") == [r"sed -i 's/\beno1\.5\b/eno2/g' /f"]


def test_virtual_functions_and_bridges_have_no_row() -> None:
    others = ({"name": "br0", "kind": "bridge"}, nic("eno1v0", MACS[1], virtual_function=True))
    assert [*nic_names(snapshot({"net": net(nic("eno1"), *others)}), None).rows] == [MACS[0]]


def test_unread_as_a_whole() -> None:
    found = nic_names(snapshot({}, states={"net": "failed"}), None)
    assert found.rows == {} and found.unknown[0]["subject"] == ""


LINK = "/etc/systemd/network/10-nic.link"


def following(uptime_s: int = 200_000, udev: tuple[str, ...] = (), **options: str) -> dict[str, Any]:
    """The row of eno1, for which a .link file has OPTIONS (__ for a dot), and which the bridge names."""
    told = {key.replace("__", "."): setting(value, 5, LINK) for key, value in options.items()}
    table = net(nic("eno1"), networkd={"10-nic.link": {"options": told}}, **vmbr("eno1"))
    table |= {"udev_names": [setting(name) | {"match": {}} for name in udev]} if udev else {}
    meta = {"taken": "2026-01-02T00:00:00Z", "uptime_s": uptime_s}
    found: dict[str, Any] = nic_names(snapshot({"net": table}, meta=meta, files={LINK: "0" * 64}), None).rows[MACS[0]]
    return found


MINE: dict[str, Any] = {"Match__PermanentMACAddress": MACS[0], "Link__Name": "nic0"}


def test_the_next_boot_gives_it_the_name_of_a_link_file() -> None:
    found = following(**MINE)
    assert (found["next_name"], found["next_text"], found["named_in"]) == ("nic0", f"{LINK}:5", f"{INTERFACES}:7")


@pytest.mark.parametrize("more", [
    {**MINE, "uptime_s": 3600},  # this boot had the file, and the name is another all the same
    {**MINE, "Link__Name": "eno1"}, {**MINE, "Link__NamePolicy": "onboard"}, {**MINE, "udev": ("nic0",)},
    {**MINE, "Match__PermanentMACAddress": MACS[1]}, {**MINE, "Match__Path": "pci-0000:01:00.0"},
])
def test_nothing_is_known_to_give_it_another(more: dict[str, Any]) -> None:
    assert "next_name" not in following(**more)
