"""What ifupdown, netplan, systemd-networkd and udev say of interfaces."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors import net
from snapshot.collectors.net_ifupdown import Interfaces, sourced
from snapshot.collectors.net_netplan import Stanzas
from snapshot.collectors.net_netplan import take as take_netplan
from snapshot.collectors.net_networkd import take as take_networkd
from snapshot.collectors.net_udev import parse_names
from snapshot.collectors.net_yaml import parse_yaml
from snapshot.errors import ParseError
from snapshot.sections.net import Setting

from .fake import Content, MemoryHost, gather

BASE: dict[str, Content] = {"/sys/class/net/lo/address": "x"}
DENIED = PermissionError(errno.EACCES, "denied")
SECRET = "hunter2"


def found(files: dict[str, Content], links: dict[str, str] | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    model, reading = gather(net, MemoryHost({**BASE, **files}, links))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def values(stanza: dict[str, Any]) -> dict[str, str]:
    """Option -> value."""
    return {name: option["value"] for name, option in stanza["options"].items()}


def ifupdown(text: str) -> dict[str, Any]:
    stanzas = Interfaces().take(text, "/etc/network/interfaces").stanza_table()
    return {name: stanza.table() for name, stanza in stanzas.items()}


def test_ifupdown_keeps_what_is_about_the_link() -> None:
    text = ("auto lo vmbr0\niface lo inet loopback\n# comment\niface vmbr0 inet static\n\taddress 192.0.2.1/24\n"
            "\tbridge_ports eno1 \\\n  eno2\n\tmtu 9000\n\tpost-up ip link set vmbr0 txqueuelen 5000\n"
            "\tpost-up echo password=hunter2\n\tup ethtool -K eno1 lro off # 192.0.2.7\n\n"
            "iface vmbr0 inet6 auto\n  mtu 1500\n")
    (name, stanza), = ifupdown(text).items()
    assert (name, stanza["auto"], values(stanza)) == ("vmbr0", True, {"bridge-ports": "eno1 eno2", "mtu": "1500"})
    assert stanza["options"]["bridge-ports"]["origin"]["line"] == 6
    assert [hook["value"] for hook in stanza["hooks"]] == [
        "post-up ip link set vmbr0 txqueuelen 5000", "up ethtool -K eno1 lro off # <address>"]
    assert SECRET not in str(stanza)
    assert "192.0.2" not in str(stanza)


def test_ifupdown_ends_a_stanza_and_survives_what_is_none() -> None:
    assert ifupdown("mtu 9000\niface\niface a inet dhcp\nsource x\nmtu 9000\n")["a"] == {"options": {}}
    assert ifupdown("iface a\r\n mtu 9000\r\n")["a"]["options"]["mtu"]["value"] == "9000"
    assert ifupdown("iface a\n mtu 9000 \\") ["a"]["options"]["mtu"]["value"] == "9000"
    assert ifupdown("") == ifupdown("\0\udcff") == {}


def test_ifupdown_follows_its_folder_and_no_other() -> None:
    table, unread = found({
        "/etc/network/interfaces":
            "source interfaces.d/*.cfg\nsource-directory /etc/network/interfaces.d\nsource /run/x\n",
        "/etc/network/interfaces.d/a.cfg": "iface a inet manual\n mtu 1400\n",
        "/etc/network/interfaces.d/sdn": "iface b inet manual\n",
        "/etc/network/interfaces.d/c.bak": "iface c inet manual\n",
    })
    assert set(table["ifupdown"]) == {"a", "b"}
    assert unread == {"ifupdown": "sourced from a place that is not read"}
    assert found({"/etc/network/interfaces": DENIED})[1] == {"ifupdown": "EACCES"}
    assert sourced("/etc/network/interfaces.d/*", "a.b")
    assert not sourced("/etc/network/interfaces.d/*", ".hidden")
    assert not sourced("/etc/network/*", "x")


NETPLAN = """\
# c
network:
  version: 2
  ethernets:
    eno1:
      match: {macaddress: "02:00:00:00:00:01"}  # which
      set-name: eno1
      addresses: [192.0.2.1/24, "2001:db8::1/64"]
      mtu: 9000
      routes:
      - to: default
        via: 192.0.2.254
  bonds:
    bond0:
      interfaces:
        - eno1
        - 'eno2'
      parameters: {mode: 802.3ad,
        lacp-rate: fast}
  wifis:
    wlan0:
      access-points: {"net": {password: "hunter2"}}
"""


def netplan(text: str) -> dict[str, dict[str, str]]:
    stanzas: Stanzas = {}
    take_netplan(stanzas, text, "/etc/netplan/a.yaml")
    return {name: {key: found.value for key, found in options.items()} for name, options in stanzas.items()}


def test_netplan_is_flattened() -> None:
    assert netplan(NETPLAN) == {
        "ethernets.eno1": {"match.macaddress": "02:00:00:00:00:01", "set-name": "eno1", "mtu": "9000"},
        "bonds.bond0": {"interfaces": "eno1 eno2", "parameters.mode": "802.3ad", "parameters.lacp-rate": "fast"},
    }


def test_netplan_lists_an_interface_that_has_addresses_alone() -> None:
    text = "network: {ethernets: {eno1: {dhcp4: true}}, wifis: {wlan0: {dhcp4: true}}}"
    assert netplan(text) == {"ethernets.eno1": {}}


def test_netplan_in_one_line_shows_no_address() -> None:
    stanzas: Stanzas = {}
    take_netplan(stanzas, "network: {ethernets: {a: {addresses: [192.0.2.1/24], mtu: 9000}}}", "f")
    option = stanzas["ethernets.a"]["mtu"]
    assert option.origin.text == "network: {ethernets: {a: {addresses: [<address>/24], mtu: 9000}}}"


@pytest.mark.parametrize("text", [
    "a: &x 1\n", "a: *x\n", "a: |\n  text\n", "a: [1, 2\n", "a: {b: {c: 1]}\n", "\ta: 1\n", "a: 1\n---\nb: 2\n",
    "text\n", "a:\n  b: 1\n  more\n", "a: [b: c]\n", "[1] 2\n", "a: [1] x\n", "a: [!x 1]\n", "a: [1\n 2]\n",
    "- " * 40 + "a\n", "a: " + "[" * 40 + "1" + "]" * 40,
])
def test_yaml_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match=r"^f:\d+: [^']*$"):
        parse_yaml(text, "f")


def test_yaml_scalars() -> None:
    text = ("---\na: 'it''s' # c\n\"b\": \"x \\\" # y\"\nc: x#y\nd:\n- 1\n-   e: 2\n    f: 3\n"
            "- [4, {g: 5}]\nh: http://x:80\ni:\n")
    assert [(".".join(fact.path), fact.value) for fact in parse_yaml(text, "f")] == [
        ("a", "it's"), ("b", 'x " # y'), ("c", "x#y"), ("d.[]", "1"), ("d.[].e", "2"), ("d.[].f", "3"),
        ("d.[].[]", "4"), ("d.[].[].g", "5"), ("h", "http://x:80"),
    ]


@given(st.text(alphabet="ab:- \n[]{},'\"#&|\t"))
def test_yaml_raises_only_parse_errors(text: str) -> None:
    try:
        parse_yaml(text, "f")
    except ParseError:
        return


def test_netplan_files_hide_merge_and_fail_one_by_one() -> None:
    table, unread = found({
        "/lib/netplan/a.yaml": "network: {ethernets: {x: {mtu: 1}}}",
        "/etc/netplan/a.yaml": "network: {ethernets: {y: {mtu: 2}}}",
        "/etc/netplan/b.yaml": "network: {ethernets: {y: {mtu: 3}}}",
        "/etc/netplan/c.yaml": "x: &a", "/etc/netplan/d.txt": "no",
    })
    assert {name: values(stanza) for name, stanza in table["netplan"].items()} == {"ethernets.y": {"mtu": "3"}}
    assert table["masked"] == {"/lib/netplan/a.yaml": "/etc/netplan/a.yaml"}
    assert unread == {"netplan": "/etc/netplan/c.yaml:1: not understood"}
    assert found({"/etc/netplan/a.yaml": DENIED})[1] == {"netplan": "EACCES"}


def networkd(text: str) -> dict[str, str]:
    options: dict[str, Setting] = {}
    take_networkd(options, text, "/etc/systemd/network/a.link")
    return {name: option.value for name, option in options.items()}


def test_networkd_keeps_links_and_drops_addresses_and_keys() -> None:
    text = ("[Match]\nMACAddress=02:00:00:00:00:01 \\\n# between\n 02:00:00:00:00:02\nSSID=home\n[Link]\n"
            "MTUBytes=9000\n;x\nRxBufferSize = 8192\nName=\n[Network]\nAddress=192.0.2.1/24\nVLAN=a\nVLAN=b\n"
            "[WireGuard]\nPrivateKey=hunter2\nno\n")
    assert networkd(text) == {
        "Match.MACAddress": "02:00:00:00:00:01 02:00:00:00:00:02", "Link.MTUBytes": "9000",
        "Link.RxBufferSize": "8192", "Network.VLAN": "a b",
    }
    assert networkd("[Link]\nName=a\nName=\n[Link]\r\nMTUBytes=1\r\n") == {"Link.MTUBytes": "1"}


def test_of_a_repeat_the_last_line_counts_but_for_lists() -> None:
    options: dict[str, Setting] = {}
    take_networkd(options, "[Match]\nOriginalName=a\nHost=x\n[Link]\nMTUBytes=1500\nNamePolicy=kernel\n", "/a.link")
    take_networkd(options, "[Link]\nAlternativeName=b\n[Match]\nOriginalName=!c d\nArchitecture=x86\n", "/a.link")
    take_networkd(options, "[Match]\nArchitecture=arm\n[Link]\nMTUBytes=9000\nNamePolicy=path mac\n"
                  "AlternativeName=c\n", "/b.conf")
    assert {name: option.value for name, option in options.items()} == {
        "Match.OriginalName": "a !c d", "Match.Architecture": "arm", "Link.MTUBytes": "9000",
        "Link.NamePolicy": "path mac", "Link.AlternativeName": "b c",
    }
    origin = options["Link.MTUBytes"].origin
    assert (origin.file, origin.line, origin.text) == ("/b.conf", 4, "MTUBytes=9000")
    assert networkd("[Match]\nDriver=a\nDriver=\nDriver=b\n[Network]\nBridge=a\nBridge=b\nVLAN=a\nVLAN=\nVLAN=b\n") == {
        "Match.Driver": "b", "Network.Bridge": "b", "Network.VLAN": "a b",
    }
    assert networkd("[SR-IOV]\nVirtualFunction=0\n[SR-IOV]\nVirtualFunction=1\n") == {"SR-IOV.VirtualFunction": "0 1"}


def test_networkd_files_hide_each_other_and_drop_ins_come_on_top() -> None:
    table, unread = found({
        "/etc/systemd/network/10-a.link": "[Link]\nName=lan0\n",
        "/usr/lib/systemd/network/10-a.link": "[Link]\nName=no\n",
        "/run/systemd/network/10-a.link.d/x.conf": "[Link]\nMTUBytes=9000\n",
        "/usr/lib/systemd/network/80-x.network": "[Link]\n",
        "/usr/local/lib/systemd/network/50-pve.link": "[Match]\nMACAddress=02:00:00:00:00:01\n[Link]\nName=nic0\n",
        "/dev/null": "",
    }, {"/etc/systemd/network/99-default.link": "/dev/null"})
    assert unread == {}
    assert values(table["networkd"]["10-a.link"]) == {"Link.Name": "lan0", "Link.MTUBytes": "9000"}
    assert set(table["networkd"]) == {"10-a.link", "50-pve.link", "99-default.link"}
    assert table["masked"] == {"/usr/lib/systemd/network/10-a.link": "/etc/systemd/network/10-a.link"}


@pytest.mark.parametrize("main", ["", None])
@pytest.mark.parametrize("null", [{"/dev/null": ""}, {}])
def test_a_masked_file_has_no_drop_ins_either(main: str | None, null: dict[str, Content]) -> None:
    files = null | {"/etc/systemd/network/10-a.link.d/x.conf": "[Match]\nOriginalName=*\n[Link]\nMTUBytes=9000\n"}
    path = "/etc/systemd/network/10-a.link"
    table, _ = found(files | ({path: main} if main is not None else {}), {path: "/dev/null"} if main is None else {})
    assert values(table["networkd"]["10-a.link"]) == {}


def test_udev_rules_that_name_interfaces() -> None:
    rule = 'SUBSYSTEM=="net", ACTION=="add", ATTR{address}=="02:00:00:00:00:01", NAME="lan0"'
    (name,) = parse_names(f'#{rule}\nSUBSYSTEM=="block", NAME="x"\nSUBSYSTEM=="net", RUN+="x"\n{rule}\n', "f")
    assert (name.value, name.match["ATTR{address}"], name.origin.line) == ("lan0", "02:00:00:00:00:01", 4)
    table, _ = found({"/etc/udev/rules.d/70-persistent-net.rules": rule, "/etc/udev/rules.d/README": rule})
    assert [entry["value"] for entry in table["udev_names"]] == ["lan0"]


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    Interfaces().take(f"iface a\n{text}", "f").stanza_table()
    networkd(f"[Link]\n{text}")
    parse_names(f'SUBSYSTEM=="net",{text}', "f")


def test_a_huge_line_is_survived() -> None:
    long = "a" * 200_000
    udev = f'SUBSYSTEM=="net", NAME="{long}"'
    for text in (long, f"[Link]\nName={long}", f"iface {long}\n mtu {long}", f"x: [{long}", udev):
        ifupdown(text)
        networkd(text)
        parse_names(text, "f")
        with pytest.raises(ParseError):
            parse_yaml(f"{text}\ny", "f")
