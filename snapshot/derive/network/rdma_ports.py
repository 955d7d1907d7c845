"""Each port of each RDMA device, against what it was: from sections rdma and net.

Documentation/ABI/stable/sysfs-class-infiniband; InfiniBand Architecture Specification, port states: a port whose
link trained (phys_state LinkUp) stays in INIT until a subnet manager has set it up. Of RoCE and iWARP the state
follows the network interface, so that a port without a cable, or whose interface is switched off, is simply not used.

Row keys, by "GUID PORT" (GUID: the device's key; of a port that is gone its key before); a key without a value is
missing, and those after a fault are there with it alone:
    device     name of the device
    port, link_layer (InfiniBand, Ethernet), state, phys_state, rate_gbps, rate, interface
    fault      gone       the port was ACTIVE, and its device is not there
                          last_state
               unmanaged  InfiniBand: the link is up, and no subnet manager has set the port up
                          waits_in (INIT, ARMED)
               down       it was ACTIVE, and is not
                          state_before
               slower     both are ACTIVE, and its rate is lower
                          rate_before_gbps
    driver_now with gone: driver that has its PCI function now; missing when none has, or that is gone too
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...pairing import pair
from ...records import record
from ...sections.rdma import Device
from ...sections.shape import of_model
from ..facts import Derived
from ..nameless import Nameless
from ..pci.pci_tree import functions_of, moved, moves

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Table = Mapping[str, Any]
Row = dict[str, Any]
NEEDED = ("state", "phys_state", "rate_gbps", "link_layer")
ACTIVE = ("ACTIVE", "ACTIVE_DEFER")  # deferred: a link error is being mended, and may be within bounds
SETTING_UP = ("INIT", "ARMED")


def rdma_ports(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each port of AFTER, and for each of BEFORE that is gone and was in use.

    A port without a fault of its own is unknown where it is not known what it was.
    """
    if fact := after.unread("rdma", ("devices",)):
        return Derived({}, [_gap("", fact)])
    found, now = Derived(), _devices(after)
    then = _devices(before) if before else {}
    pairs = pair(then, now, of_model(Device), moves(before, after)).before_of
    nameless = Nameless(after, "rdma", "devices", pairs)
    for key, device in now.items():
        old = pairs.get(key)
        _ports(found, _Side(after, key, device), _Side(before, old or "", then.get(old or "", {})))
    for key in then.keys() - {*pairs.values()} - now.keys():
        if fact := nameless.may_hold(key, then[key]):
            found.unknown.append(_gap(f"{key} ", fact))
        elif before:
            found.rows.update(_gone(key, then[key], before, after))
    return found


@record(frozen=True)
class _Side:
    """A device on one side: empty where there is none."""

    snapshot: Snapshot | None
    key: str
    device: Table

    def unread(self, *paths: tuple[str, ...]) -> UnreadFact | None:
        """Why one of these facts of the device is unknown."""
        if self.snapshot is None or not self.key:
            return self.snapshot.unread("rdma", ("devices",)) if self.snapshot else None
        facts = (self.snapshot.unread("rdma", ("devices", self.key, *path)) for path in paths)
        return next((fact for fact in facts if fact), None)


def _devices(snapshot: Snapshot) -> dict[str, Table]:
    devices: dict[str, Table] = snapshot.table("rdma").get("devices", {})
    return devices


def _gap(subject: str, fact: UnreadFact) -> dict[str, str]:
    return {"subject": subject, "what": "RDMA ports", "source": fact.source, "why": fact.why}


def _ports(found: Derived, now: _Side, was: _Side) -> None:
    """Adds the ports of one device."""
    if fact := now.unread(("ports",)):
        found.unknown.append(_gap(f"{now.key} ", fact))
        return
    for number, port in now.device.get("ports", {}).items():
        subject, paths = f"{now.key} {number}", [("ports", number, name) for name in NEEDED]
        old = was.device.get("ports", {}).get(number, {})
        row = _row(now.device, number, port) | _against(port, old)
        fact = now.unread(*paths) or (None if "fault" in row else was.unread(*paths))
        if fact:
            found.unknown.append(_gap(subject, fact))
        else:
            found.rows[subject] = row


def _row(device: Table, number: str, port: Table) -> Row:
    return {"device": device["name"], "port": number, **port}


def _against(now: Table, was: Table) -> Row:
    """What is wrong with a port that WAS so."""
    state, before = now.get("state"), was.get("state")
    trained = now.get("link_layer") == "InfiniBand" and now.get("phys_state") == "LinkUp"
    if trained and state in SETTING_UP:
        return {"fault": "unmanaged", "waits_in": state}
    if before in ACTIVE and state not in ACTIVE:
        return {"fault": "down", "state_before": before}
    both = before in ACTIVE and state in ACTIVE and "rate_gbps" in now
    if both and now["rate_gbps"] < was.get("rate_gbps", 0):
        return {"fault": "slower", "rate_before_gbps": was["rate_gbps"]}
    return {}


def _gone(key: str, device: Table, before: Snapshot, after: Snapshot) -> Iterator[tuple[str, Row]]:
    address = next((now for now, old in moved(before, after).items() if old == device.get("device")), "")
    driver = functions_of(after).get(address, {}).get("driver")
    for number, port in device.get("ports", {}).items():
        if port.get("state") in ACTIVE:
            row = _row(device, number, port) | {"fault": "gone", "last_state": port["state"]}
            yield f"{key} {number}", row | ({"driver_now": driver} if driver else {})
