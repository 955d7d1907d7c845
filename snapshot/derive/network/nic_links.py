"""Each physical network interface and bond against what it was: whether it is there, its link, speed, bond members.

From section net. Documentation/ABI/testing/sysfs-class-net (operstate, speed, duplex);
Documentation/networking/operstates.rst and bonding.rst. Bridges and VLANs have no row: they are up while something
in them is, and those of guests come and go. Virtual functions have none either. InfiniBand's links are in rdma_ports.

The first fault of those below counts; the columns after it are there with that fault alone.

Row keys, by the interface's key after, of one that is gone before; a key without a value is missing:
    name, kind (physical, bond), driver, speed_mbps, duplex, master
    fault      gone     it was up, and is not there
               off      it was up, and is switched off
               down     it was up, and has no link
                        state_before (up), state (gone, switched off, or the word of operstate)
               unused   its bond took it for up (mii_status), and does not now
                        bond
               slower   its link is slower
                        speed_before_mbps
               half     its duplex was full, and is half
                        duplex_before
               fewer    the bond has fewer members; by number, as members may be called otherwise now
                        members_before, members
    driver_now with gone: driver that has its PCI function now; missing when none has, or that is gone too
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...pairing import pair
from ...sections.net import Interface
from ...sections.shape import of_model
from ..facts import Derived
from ..nameless import Nameless
from ..pci.pci_tree import functions_of, moved, moves

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Table = Mapping[str, Any]
Row = dict[str, Any]
NEEDED = (("kind",), ("operstate",), ("speed_mbps",), ("duplex",), ("up",), ("mii_status",), ("bond", "members"))
KEPT = ("name", "kind", "driver", "speed_mbps", "duplex", "master")
GUID_LENGTH = 23  # of InfiniBand the permanent address is a GUID of 8 octets
UP = ("up", "unknown")  # a driver that tells no state says unknown


def nic_links(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each physical interface and bond of AFTER, and for each of BEFORE that is gone."""
    if fact := after.unread("net", ("interfaces",)):
        return Derived({}, [_gap("", fact)])
    found, now = Derived(), _interfaces(after)
    then = _interfaces(before) if before else {}
    pairs = pair(then, now, of_model(Interface), moves(before, after)).before_of
    nameless = Nameless(after, "net", "interfaces", pairs)
    for key, interface in _judged(now).items():
        if fact := _unread(after, key) or (_unread(before, pairs[key]) if before and key in pairs else None):
            found.unknown.append(_gap(key, fact))
        else:
            found.rows[key] = _row(interface) | _against(interface, then[pairs[key]] if key in pairs else {})
    for key in _judged(then).keys() - {*pairs.values()} - now.keys():
        if fact := nameless.may_hold(key, then[key]):
            found.unknown.append(_gap(key, fact))
        elif before:
            found.rows[key] = _row(then[key]) | _gone(then[key], before, after)
    return found


def _interfaces(snapshot: Snapshot) -> dict[str, Table]:
    interfaces: dict[str, Table] = snapshot.table("net").get("interfaces", {})
    return interfaces


def _judged(interfaces: Mapping[str, Table]) -> dict[str, Table]:
    return {key: i for key, i in interfaces.items() if _counts(i)}


def _counts(interface: Table) -> bool:
    if interface["kind"] == "bond":
        return True
    infiniband = len(interface.get("permanent_mac", "")) == GUID_LENGTH
    return interface["kind"] == "physical" and not infiniband and not interface.get("virtual_function")


def _unread(snapshot: Snapshot, key: str) -> UnreadFact | None:
    return next((f for path in NEEDED if (f := snapshot.unread("net", ("interfaces", key, *path)))), None)


def _gap(subject: str, fact: UnreadFact) -> dict[str, str]:
    return {"subject": subject, "what": "links of interfaces", "source": fact.source, "why": fact.why}


def _row(interface: Table) -> Row:
    return {key: interface[key] for key in KEPT if key in interface}


def _gone(was: Table, before: Snapshot, after: Snapshot) -> Row:
    if was.get("operstate") != "up":
        return {}
    address = next((now for now, old in moved(before, after).items() if old == was.get("device")), "")
    driver = functions_of(after).get(address, {}).get("driver")
    row = {"fault": "gone", "state_before": "up", "state": "gone"}
    return row | ({"driver_now": driver} if driver else {})


def _against(now: Table, was: Table) -> Row:
    """What became of a link since it WAS."""
    if was.get("operstate") == "up" and now.get("operstate", "up") not in UP:
        off = now.get("up") is False
        state = "switched off" if off else now["operstate"]
        return {"fault": "off" if off else "down", "state_before": "up", "state": state}
    if was.get("mii_status") == "up" and now.get("mii_status", "up") != "up":
        return {"fault": "unused", "bond": now.get("master", "")}
    slower = "speed_mbps" in now and now["speed_mbps"] < was.get("speed_mbps", 0)
    if slower and now["kind"] == "physical":
        return {"fault": "slower", "speed_before_mbps": was["speed_mbps"]}
    if was.get("duplex") == "full" and now.get("duplex") == "half":
        return {"fault": "half", "duplex_before": "full"}
    counts = {"members_before": _members(was), "members": _members(now)}
    return {"fault": "fewer", **counts} if counts["members"] < counts["members_before"] else {}


def _members(interface: Table) -> int:
    return len(interface.get("bond", {}).get("members", ()))
