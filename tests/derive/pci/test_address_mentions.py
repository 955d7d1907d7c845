from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.pci.address_mentions import addresses, mentions

from ...pairs import snapshot
from ..made import origin


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("setpci -s c1:00.0 CAP_EXP+8.w=5000:7000", ["0000:c1:00.0"]),
        ("nvidia-smi -i 00000000:C1:00.0 -pl 450", ["0000:c1:00.0"]),
        ("w /sys/bus/pci/devices/0001:41:00.0/numa_node - - - - 1", ["0001:41:00.0"]),
        ("/dev/dri/by-path/pci-0000:41:00.0-render", ["0000:41:00.0"]),
        ("setpci -s 0000:41:00 ROM.l=0", ["0000:41:00"]),
        ("for d in 41:00.0 42:00.0; do", ["0000:41:00.0", "0000:42:00.0"]),
        ("pci=disable_acs_redir=0000:40:01.1;0000:60:01.1", ["0000:40:01.1", "0000:60:01.1"]),
        ("OnCalendar=12:15", []),
        ("net0: virtio=BC:24:11:00:00:01,bridge=vmbr0", []),
        ("lxc.cgroup2.devices.allow: c 195:0 rw", []),
        ("lspci -d 10de:2bb5", []),
        ("41:20.0", []),
        ("2001:db8::41:00.0", []),
    ],
)
def test_addresses(text: str, found: list[str]) -> None:
    assert [address for address, _ in addresses(text, False)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("hostpci0: 01:00,pcie=1", ["0000:01:00"]),
        ("hostpci0: 0000:01:00.0;0000:02:00.0", ["0000:01:00.0", "0000:02:00.0"]),
        ("\tmap id=10de:2bb5,node=pve1,path=0000:01:00.0", ["0000:01:00.0"]),
    ],
)
def test_a_passed_device_may_be_short(text: str, found: list[str]) -> None:
    assert [address for address, _ in addresses(text, True)] == found


def machine(**parts: Any) -> dict[str, Any]:
    return {"machines": {"110": {"config_file": "/etc/pve/qemu-server/110.conf", "live": {}} | parts}}


def hostpci(text: str) -> dict[str, Any]:
    return {"hostpci": {"hostpci0": {"host": ["01:00"], "origin": origin(8, text, "/etc/pve/qemu-server/110.conf")}}}


def named(**sections: Any) -> list[tuple[str, str, bool]]:
    return [(one.address, one.file, one.guest) for one in mentions(snapshot(sections))]


def test_the_live_part_of_a_machine_counts_and_no_other() -> None:
    assert named(qemu=machine(live=hostpci("hostpci0: 01:00"))) == [
        ("0000:01:00", "/etc/pve/qemu-server/110.conf", True)]
    other = hostpci("hostpci0: 01:00")
    assert named(qemu=machine(snapshots={"old": other}, pending=other)) == []


def unit(state: str, **more: Any) -> dict[str, Any]:
    text = "ExecStart=/usr/local/sbin/mrrs c1:00.0"
    command = {"key": "ExecStart", "text": text, "origin": origin(5, text, "/etc/u")}
    return {"state": state, "commands": [command]} | more


def script(*called_by: str) -> dict[str, Any]:
    text = "setpci -s c1:00.0 CAP_EXP+8.w=5000:7000"
    return {"called_by": [*called_by], "lines": [{"text": text, "tools": ["setpci"], "origin": origin(2, text, "/s")}]}


@pytest.mark.parametrize(
    ("one", "callers", "files"),
    [
        (unit("enabled", wanted_by=["multi-user.target"]), ["mrrs.service"], ["/etc/u", "/s"]),
        (unit("static"), ["mrrs.service"], ["/etc/u", "/s"]),
        (unit("disabled"), ["mrrs.service"], []),
        (unit("disabled"), ["mrrs.service", "/etc/cron.d/mrrs"], ["/s"]),
        (unit("disabled", wanted_by=["other.service"]), ["mrrs.service"], ["/etc/u", "/s"]),
    ],
    ids=["enabled", "static", "disabled", "disabled, its script called by cron too", "disabled, wanted by another"],
)
def test_units_that_nothing_starts_name_nothing(one: dict[str, Any], callers: list[str], files: list[str]) -> None:
    found = named(units={"units": {"mrrs.service": one}, "scripts": {"/s": script(*callers)}})
    assert [file for _, file, _ in found] == files


def test_the_command_line_names_addresses_too() -> None:
    assert named(cmdline={"tokens": ["pci=disable_acs_redir=0000:40:01.1"], "parameters": {}}) == [
        ("0000:40:01.1", "/proc/cmdline", False)]
