"""Each NVMe drive on PCI against what it was: whether it is there and works, its names, its format, who uses a name.

From sections storage, pci and cmdline. nvme(4) does not promise numbers: nvme0 and nvme1 change places from boot to
boot as their probes end (Documentation/ABI/testing/sysfs-nvme; kernel-parameters.txt, root=). That harms who uses
/dev/nvme0n1 by name, and nobody else. Drives are told by serial; one without, or of a shared one, by name, so that
nothing can be said of its name. Remote controllers (tcp, rdma, fc) come and go, and have no row.

A namespace's logical block is what ``nvme format --lbaf`` sets; 512 where it was 4096 was formatted anew.

Row keys, by the controller's key; a key without a value is missing, and those after a fault are there with it alone:
    name, model, firmware, state, device
    fault          gone      its controller is not there
                             last_name
                             off_bus     true: its PCI function is gone too
                             on_bus      address of its PCI function, which is still there
                             driver_now  driver that has the function
                   dead      its controller's state is not live
                             bad_state
                   reformatted  its logical block has another size
                             block_bytes, block_before_bytes
                   moved     it has another number, and configuration uses the old one
                             named_in    FILE:LINE, or the word of the command line
                             lines       [{file, line, text}] of fstab and mount units that name the old /dev/nvmeXnY
                             words       words of the command line that do
                   renamed   it has another number, and nothing that was read uses the old one
    name_before    with moved and renamed
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...pairing import pair
from ...sections.shape import of_model
from ...sections.storage import Controller
from ..facts import Derived
from ..nameless import Nameless
from ..pci.pci_tree import functions_of, moved, moves

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Table = Mapping[str, Any]
Row = dict[str, Any]
KEPT = ("name", "model", "firmware", "state", "device")
PASSING = ("live", "new", "connecting", "resetting")  # of a drive that is being reset for a moment, not yet a fault


def nvme_drives(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each local drive of AFTER, and for each of BEFORE that is gone."""
    if fact := after.unread("storage", ("controllers",)):
        return Derived({}, [_gap("", fact)])
    found, now = Derived(), _drives(after)
    then = _drives(before) if before else {}
    pairs = pair(then, now, of_model(Controller), moves(before, after)).before_of
    nameless = Nameless(after, "storage", "controllers", pairs)
    for key, drive in now.items():
        if fact := after.unread("storage", ("controllers", key, "state")):
            found.unknown.append(_gap(key, fact))
        else:
            found.rows[key] = _row(drive) | _against((after, drive), (before, then.get(pairs.get(key, ""), {})))
    for key in then.keys() - {*pairs.values()} - now.keys():
        if fact := nameless.may_hold(key, then[key]):
            found.unknown.append(_gap(key, fact))
        elif before:
            found.rows[key] = _row(then[key]) | _gone(then[key], before, after)
    return found


def _drives(snapshot: Snapshot) -> dict[str, Table]:
    controllers: dict[str, Table] = snapshot.table("storage").get("controllers", {})
    return {key: one for key, one in controllers.items() if one.get("transport", "pcie") == "pcie"}


def _gap(subject: str, fact: UnreadFact) -> dict[str, str]:
    return {"subject": subject, "what": "NVMe drives", "source": fact.source, "why": fact.why}


def _row(drive: Table) -> Row:
    return {key: drive[key] for key in KEPT if key in drive}


def _gone(was: Table, before: Snapshot, after: Snapshot) -> Row:
    row = {"fault": "gone", "last_name": was["name"]}
    if was.get("device") not in functions_of(before) or after.unread("pci", ("functions",)):
        return row  # nothing tells whether it is on the bus
    address = next((now for now, old in moved(before, after).items() if old == was["device"]), None)
    if address is None:
        return row | {"off_bus": True}
    driver = functions_of(after)[address].get("driver")
    return row | {"on_bus": address} | ({"driver_now": driver} if driver else {})


def _against(now: tuple[Snapshot, Table], was: tuple[Snapshot | None, Table]) -> Row:
    """What is wrong with a drive that WAS so."""
    (after, drive), (before, old) = now, was
    if (state := drive.get("state", "live")) not in PASSING:
        return {"fault": "dead", "bad_state": state}
    if before is None or not old:
        return {}
    then, size = _block_bytes(before, old), _block_bytes(after, drive)
    if None not in (then, size) and then != size:
        return {"fault": "reformatted", "block_before_bytes": then, "block_bytes": size}
    known = "serial" in drive and old["name"] != drive["name"]
    return _moved(after, old["name"]) if known else {}


def _block_bytes(snapshot: Snapshot, drive: Table) -> int | None:
    """Size of a logical block of the drive's first namespace."""
    found = [block for block in snapshot.table("storage").get("blocks", {}).values()
             if block["name"] == f"{drive['name']}n1"]
    size: int | None = found[0].get("queue", {}).get("logical_block_bytes") if found else None
    return size


def _moved(after: Snapshot, old: str) -> Row:
    word = re.compile(rf"/dev/{re.escape(old)}n[0-9]+")
    storage = after.table("storage")
    entries = [*storage.get("fstab", {}).values(), *storage.get("mount_units", {}).values()]
    lines = [entry["origin"] for entry in entries if word.match(entry["source"])]
    words = [token for token in after.table("cmdline").get("tokens", ()) if word.search(token)]
    if not lines and not words:
        return {"fault": "renamed", "name_before": old}
    named_in = f"{lines[0]['file']}:{lines[0]['line']}" if lines else words[0]
    found: Row = {"fault": "moved", "name_before": old, "named_in": named_in}
    return found | ({"lines": lines} if lines else {}) | ({"words": words} if words else {})
