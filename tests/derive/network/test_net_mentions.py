"""Which interfaces network files name."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.network.net_mentions import interface_of, mentions, pinned_by, ports

from ..nics import MACS, net, nic, setting, stanza


def named(**files: Any) -> set[str]:
    return {mention.name for mention in mentions(net(**files))}


def test_ifupdown_names_by_stanzas_options_and_hooks() -> None:
    assert named(ifupdown={"vmbr0": stanza(True, bridge_ports="eno1 bond0.100")}) >= {
        "vmbr0", "eno1", "bond0.100", "bond0"}
    assert named(ifupdown={"eno1.5": stanza(True)}) == {"eno1.5", "eno1"}
    hook = [setting("post-up ethtool -G eno9 rx 8192")]
    assert "eno9" in named(ifupdown={"eno1": stanza(hooks=hook)})


def test_a_stanza_of_the_installer_names_nothing() -> None:
    assert named(ifupdown={"eno1": stanza()}) == set()


def test_netplan_names_by_ids_that_match_nothing_else() -> None:
    assert named(netplan={"ethernets.eno1": stanza()}) == {"eno1"}
    assert named(netplan={"bonds.bond0": stanza(interfaces="eno1 eno2")}) == {"eno1", "eno2"}
    by_mac = {"ethernets.lan": stanza(match__macaddress=MACS[0]), "bridges.br0": stanza(interfaces="lan")}
    assert named(netplan=by_mac) == set()
    assert named(netplan={"ethernets.lan": stanza(match__name="eno1")}) == {"eno1"}
    assert named(netplan={"ethernets.lan": stanza(match__name="eno*")}) == set()
    set_name = {**stanza(match__macaddress=MACS[0]), "options": {"set-name": setting("lan0")}}
    assert named(netplan={"ethernets.lan": set_name}) == set()


def test_networkd_names_by_match_without_globs() -> None:
    one = {"options": {"Match.Name": setting("eno1 ens*")}}
    assert named(networkd={"10-a.network": one, "10-b.link": one}) == {"eno1"}


def test_ids_of_netplan() -> None:
    lan = stanza(match__macaddress=MACS[0].upper())
    table = net(nic("eno7"), netplan={"ethernets.lan": lan, "ethernets.wan": stanza(match__driver="ixgbe")})
    assert interface_of(table, "lan") == "eno7"
    assert interface_of(table, "wan") is None
    assert interface_of(table, "eno1") == "eno1"
    assert interface_of(net(netplan={"ethernets.lan": lan}), "lan") is None


@pytest.mark.parametrize("word", ["none", "all", "glob eno*", "regex (eno.*)", "glob eno1 eno2"])
def test_ports_that_are_no_names(word: str) -> None:
    assert [*ports(net(ifupdown={"vmbr0": stanza(True, bridge_ports=word)}))] == []


def test_ports_of_all_managers() -> None:
    found = [*ports(net(
        nic("eno3", MACS[2]), ifupdown={"vmbr0": stanza(bridge_ports="eno1 eno2")},
        netplan={"bridges.br0": stanza(interfaces="lan"), "ethernets.lan": stanza(match__macaddress=MACS[2])},
        networkd={"a.network": {"options": {"Match.Name": setting("eno4"), "Network.Bridge": setting("br1")}},
                  "b.network": {"options": {"Match.MACAddress": setting(MACS[3]), "Network.Bridge": setting("br1")}}},
    ))]
    assert [(p.bridge, p.name, p.manager, p.auto) for p in found] == [
        ("vmbr0", "eno1", "ifupdown", False), ("vmbr0", "eno2", "ifupdown", False),
        ("br0", "eno3", "netplan", True), ("br1", "eno4", "networkd", True)]


def test_what_pins_a_name() -> None:
    link = {"a.link": {"options": {"Link.Name": setting("nic0", 4)}}}
    assert pinned_by(net(networkd=link), "nic0") == setting("nic0", 4)["origin"]
    assert pinned_by(net(networkd=link), "nic1") is None
    assert pinned_by(net(udev_names=[{**setting("eth9", 2), "match": {}}]), "eth9") == setting("eth9", 2)["origin"]
