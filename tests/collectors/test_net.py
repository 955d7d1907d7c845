"""Network interfaces as they are; the files that set them up have tests of their own."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from fixtures import epyc
from fixtures.parts import net as part
from snapshot.collectors import net
from snapshot.collectors.net import parse_vlans
from snapshot.collectors.net_interface import find_mac, parse_mask, parse_up
from snapshot.errors import ParseError
from snapshot.host.base import Result

from .epyc_parts import planted
from .fake import Content, MemoryHost, gather

NET = "/sys/class/net"
DENIED = PermissionError(errno.EACCES, "denied")
MAC = "02:00:00:00:00:01"
NIC: dict[str, Content] = {
    f"{NET}/{name}": text for name, text in {
        "eth0/address": f"{MAC}\n", "eth0/addr_assign_type": "0\n", "eth0/type": "1\n", "eth0/flags": "0x1003\n",
        "eth0/operstate": "up\n", "eth0/speed": "25000\n", "eth0/duplex": "full\n", "eth0/mtu": "9000\n",
        "eth0/tx_queue_len": "1000\n", "eth0/uevent": "INTERFACE=eth0\nIFINDEX=2\n", "eth0/device/": "",
        "eth0/queues/rx-0/rps_cpus": "00000000,0000000f\n", "eth0/queues/tx-0/xps_cpus": "0\n",
        "lo/address": "00:00:00:00:00:00\n",
    }.items()
}


def found(
    files: dict[str, Content], links: dict[str, str] | None = None, results: dict[str, Result | str] | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    model, reading = gather(net, MemoryHost(files, links, results=results))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def virtual(name: str, kind: str = "", assigned: str = "3", **more: str) -> dict[str, Content]:
    """The files of a virtual interface."""
    facts = {"address": "02:00:00:00:00:09", "addr_assign_type": assigned, "type": "1", "flags": "0x1003",
             "uevent": f"DEVTYPE={kind}\n" if kind else "INTERFACE=x\n"}
    return {f"{NET}/{name}/{file.replace('__', '/')}": f"{text}\n" for file, text in (facts | more).items()}


def test_a_nic_is_keyed_by_its_permanent_mac() -> None:
    table, unread = found(NIC)
    assert table["interfaces"] == {MAC: {
        "name": "eth0", "permanent_mac": MAC, "kind": "physical", "up": True, "operstate": "up", "speed_mbps": 25000,
        "duplex": "full", "mtu": 9000, "tx_queue_len": 1000, "rx_queues": 1, "tx_queues": 1, "rps": {"rx-0": "0-3"},
    }}
    assert set(unread) == {
        f"interfaces.{MAC}.{fact}"
        for fact in ("rings", "ring_maximums", "channels", "channel_maximums", "coalescing", "offloads")
    }
    assert set(unread.values()) == {"not-found"}


def test_a_link_that_is_down_has_no_speed_and_is_no_alarm() -> None:
    for speed in (OSError(errno.EINVAL, "down"), "-1\n"):
        files = {**NIC, f"{NET}/eth0/speed": speed, f"{NET}/eth0/duplex": "unknown\n"}
        table, unread = found(files)
        assert not {"speed_mbps", "duplex"} & set(table["interfaces"][MAC])
        assert f"interfaces.{MAC}.speed_mbps" not in unread
    assert found({**NIC, f"{NET}/eth0/speed": OSError(errno.EIO, "x")})[1][f"interfaces.{MAC}.speed_mbps"] == "EIO"


def test_a_bond_knows_the_permanent_mac_of_its_members() -> None:
    files = {**NIC, f"{NET}/eth0/addr_assign_type": "3\n", f"{NET}/eth0/address": "02:00:00:00:00:07\n",
             f"{NET}/eth0/bonding_slave/perm_hwaddr": f"{MAC}\n", f"{NET}/eth0/bonding_slave/mii_status": "down\n"}
    nic = found(files, {f"{NET}/eth0/master": "../bond0"})[0]["interfaces"][MAC]
    assert (nic["mac"], nic["mii_status"], nic["master"]) == ("02:00:00:00:00:07", "down", "bond0")


def test_ip_is_asked_where_the_mac_was_set_by_hand() -> None:
    files = {**NIC, f"{NET}/eth0/addr_assign_type": "3\n", f"{NET}/eth0/address": "02:00:00:00:00:07\n"}
    answer = f'[{{"ifname": "eth0", "address": "02:00:00:00:00:07", "permaddr": "{MAC}"}}]'
    table, _ = found(files, results={"ip -j -d link show": answer})
    assert (list(table["interfaces"]), table["interfaces"][MAC]["mac"]) == ([MAC], "02:00:00:00:00:07")


@pytest.mark.parametrize(("answer", "why"), [
    (Result(None, why="not-found"), "not-found"), (Result(1), "exit code 1"), ("[]", "not told"),
    ("{", "no list of links"), ("[" * 100_000, "no list of links"), ('[{"ifname": "eth0"}]', "not told"),
    ('[{"ifname": "eth0", "permaddr": 7}]', "not told"),
])
def test_without_an_answer_the_permanent_mac_is_unknown_and_the_name_the_key(answer: Result | str, why: str) -> None:
    files = {**NIC, f"{NET}/eth0/addr_assign_type": "3\n"}
    table, unread = found(files, results={"ip -j -d link show": answer})
    assert list(table["interfaces"]) == ["eth0"]
    assert unread["interfaces.eth0.permanent_mac"].startswith(why)


def test_a_random_mac_is_no_identity_and_not_recorded() -> None:
    table, unread = found({**NIC, f"{NET}/eth0/addr_assign_type": "1\n"})
    assert not {"mac", "permanent_mac"} & set(table["interfaces"]["eth0"])
    assert "interfaces.eth0.permanent_mac" not in unread


def test_queues_that_cannot_be_listed_are_unknown() -> None:
    files = {path: content for path, content in NIC.items() if "queues" not in path}
    _, unread = found({**files, f"{NET}/eth0/queues/": DENIED})
    assert {path.rpartition(".")[2] for path, why in unread.items() if why == "EACCES"} == {
        "rx_queues", "tx_queues", "rps", "xps"}


def test_two_that_share_a_mac_are_keyed_by_name() -> None:
    second = {path.replace("eth0", "eth1"): content for path, content in NIC.items() if "eth0" in path}
    assert list(found({**NIC, **second})[0]["interfaces"]) == ["eth0", "eth1"]


def test_infiniband_is_keyed_by_the_guid_of_its_port() -> None:
    address = "80:00:02:08:fe:80:00:00:00:00:00:00:00:11:22:33:44:55:66:77\n"
    files = {**NIC, f"{NET}/eth0/address": address, f"{NET}/eth0/type": "32\n"}
    assert list(found(files)[0]["interfaces"]) == ["00:11:22:33:44:55:66:77"]


def test_interfaces_of_guests_are_counted_and_ports_of_a_bridge_left_out() -> None:
    bridge = {"bridge__stp_state": "0", "bridge__vlan_filtering": "1", "brif__eth0": "", "brif__tap100i0": ""}
    files = {**NIC, **virtual("vmbr0", "bridge", **bridge), **virtual("veth101i0"), **virtual("veth102i0"),
             **virtual("fwbr101i0"), **virtual("dummy0")}
    table, _ = found(files)
    assert set(table["interfaces"]) == {MAC, "vmbr0", "dummy0"}
    assert table["left_out"] == {"fwbr*": 1, "veth*": 2}
    assert table["interfaces"]["vmbr0"]["bridge"] == {"ports": ["eth0"], "stp": False, "vlan_filtering": True}
    assert table["interfaces"]["vmbr0"]["kind"] == "bridge"


def test_a_bridge_may_be_called_vnet_and_an_interface_may_vanish() -> None:
    files = {**virtual("vnet0", "bridge", bridge__stp_state="0"), **virtual("vnet1"), f"{NET}/gone/": ""}
    table, unread = found(files)
    assert (list(table["interfaces"]), table["left_out"], unread) == (["vnet0"], {"vnet*": 1}, {})
    closed: dict[str, Content] = {f"{NET}/eth1/": DENIED}
    table, unread = found(closed)
    assert (table["interfaces"]["eth1"]["name"], unread["interfaces.eth1"]) == ("eth1", "EACCES")


def test_vlans_have_their_number_from_the_list_or_from_ip() -> None:
    files = {**virtual("eth0.200", "vlan", lower_eth0="")}
    listed = "VLAN Dev name\t | VLAN ID\nName-Type: X\neth0.200       | 200  | eth0\n"
    table, unread = found({**files, "/proc/net/vlan/config": listed})
    assert (table["interfaces"]["eth0.200"]["vlan_id"], unread) == (200, {})
    assert table["interfaces"]["eth0.200"]["lower"] == ["eth0"]
    answer = '[{"ifname": "eth0.200", "linkinfo": {"info_kind": "vlan", "info_data": {"id": 200}}}]'
    table, unread = found({**files, "/proc/net/vlan/config": DENIED}, results={"ip -j -d link show": answer})
    assert (table["interfaces"]["eth0.200"]["vlan_id"], unread) == (200, {})
    assert found({**files, "/proc/net/vlan/config": DENIED})[1] == {"interfaces.eth0.200.vlan_id": "not-found"}


def test_a_device_that_sleeps_is_not_asked() -> None:
    host = MemoryHost({**NIC, f"{NET}/eth0/device/power/runtime_status": "suspended\n"})
    _, reading = gather(net, host)
    assert host.ran == []
    assert {u.why for u in reading.unreads} == {"asleep"}


def test_an_interface_whose_name_is_an_option_is_not_asked() -> None:
    host = MemoryHost({path.replace("eth0", "-h"): content for path, content in NIC.items()})
    gather(net, host)
    assert host.ran == []


def test_without_interfaces_there_is_an_empty_table_and_without_sys_nothing_is_known() -> None:
    assert found({f"{NET}/lo/address": "x"}) == ({"interfaces": {}}, {})
    assert found({}) == ({"interfaces": {}}, {"interfaces": "ENOENT", "left_out": "ENOENT"})
    assert found({f"{NET}/": DENIED}) == ({"interfaces": {}}, {"interfaces": "EACCES", "left_out": "EACCES"})


@pytest.mark.parametrize("junk", [b"", b"\0", b"\xff\xfe" * 3000, b"9" * 5000, b"a,b\r\n"])
def test_junk_is_survived(junk: bytes) -> None:
    table, unread = found({path: junk if content else content for path, content in NIC.items()})
    (nic,) = table["interfaces"].values()
    assert not {"mtu", "up", "rps", "speed_mbps"} & set(nic)
    assert any(path.endswith(".mtu") for path in unread) == (junk not in (b"", b"\0"))


@pytest.mark.parametrize(("text", "mac"), [
    (MAC, MAC), ("00:00:00:00:00:00", None), ("c0:00:02:01", None), ("", None), ("192.0.2.1", None),
    (":".join(["80"] * 12 + ["11"] * 8), ":".join(["11"] * 8)), (":".join(["11"] * 8), None), ("x" * 5000, None),
])
def test_what_is_a_mac(text: str, mac: str | None) -> None:
    assert find_mac(text) == mac


def test_masks_and_flags() -> None:
    assert parse_mask("ffffffff,00000000,00000001") == "0,64-95"
    assert (parse_mask("00"), parse_up("0x1002"), parse_up("0x1043")) == ("", False, True)
    for text in ("", "0x1", "f,f"):
        with pytest.raises(ParseError):
            parse_mask(text)
    for text in ("", "1003", "0x"):
        with pytest.raises(ParseError):
            parse_up(text)
    assert parse_vlans("VLAN Dev name | VLAN ID\nName-Type: X\na | 5 | b\n") == {"a": 5}


@pytest.mark.parametrize("kernel", [epyc.BEFORE, epyc.AFTER])
def test_the_story_host(kernel: str) -> None:
    model, reading = gather(net, planted(part, kernel))
    table = model.table()
    assert reading.unreads == []
    nic, member = table["interfaces"]["02:00:03:00:00:00"], table["interfaces"]["02:00:03:00:01:01"]
    assert (nic["name"], nic["device"], nic["driver"]) == ("eno1np0", "0000:22:00.0", "mlx5_core")
    assert nic["virtual_functions"] == 16
    assert (member["mtu"], member["rings"], member["master"]) == (9000, {"rx": 8192, "tx": 8192}, "bond0")
    assert member["xps"]["tx-7"] == "7"
    assert table["interfaces"]["bond0"]["bond"]["members"] == ["enp162s0f0np0", "enp162s0f1np1"]
    assert table["interfaces"]["vmbr0"]["bridge"]["ports"] == ["eno1np0"]
    assert sum(i.get("virtual_function", False) for i in table["interfaces"].values()) == 64
    assert table["left_out"] == {"veth*": 3}
    assert table["ifupdown"]["vmbr0"]["options"]["bridge-ports"]["value"] == "eno1np0"
    assert "192.0.2" not in str(table)
    assert "198.51" not in str(table)


@pytest.mark.parametrize(("file", "unread"), [
    ("address", {"mac", "permanent_mac"}), ("addr_assign_type", {"mac", "permanent_mac"}),
    ("bonding_slave/perm_hwaddr", {"mac", "permanent_mac"}),
])
def test_what_tells_the_mac_is_unread(file: str, unread: set[str]) -> None:
    files: dict[str, Content] = {**NIC, f"{NET}/eth0/{file}": DENIED}
    table, gaps = found(files)
    nic = table["interfaces"]["eth0"]
    assert not {"mac", "permanent_mac"} & nic.keys()
    assert {f"interfaces.eth0.{fact}" for fact in unread} <= gaps.keys()


def test_a_bond_or_bridge_is_told_by_its_folder_too() -> None:
    denied: dict[str, Content] = {f"{NET}/{name}/uevent": DENIED for name in ("bond0", "vmbr0")}
    files = virtual("bond0", "bond", bonding__slaves="eth0") | virtual("vmbr0", "bridge", bridge__stp_state="0")
    table, gaps = found(files | denied)
    assert {key: one["kind"] for key, one in table["interfaces"].items()} == {"bond0": "bond", "vmbr0": "bridge"}
    assert not gaps


def test_an_interface_whose_folder_cannot_be_listed_has_its_device() -> None:
    place = "/sys/devices/pci0000:00/0000:00:01.0/0000:04:00.0/net/eth0"
    files: dict[str, Content] = {f"{place}/": DENIED}
    files |= {path.replace(f"{NET}/eth0", place): text for path, text in NIC.items() if "device" not in path}
    links = {f"{NET}/eth0": f"../..{place.removeprefix('/sys')}", f"{place}/device": "../../../0000:04:00.0"}
    model, reading = gather(net, MemoryHost(files, links))
    nic = model.table()["interfaces"][MAC]
    assert (nic["kind"], nic["permanent_mac"], nic["device"]) == ("physical", MAC, "0000:04:00.0")
    assert ("interfaces", MAC) in {unread.path for unread in reading.unreads}
