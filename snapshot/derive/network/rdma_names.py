"""Each RDMA device: what it is called, was called, and whether NCCL still finds it. From section rdma.

rdma-core's 60-rdma-persistent-naming.rules and rdma_rename.c: without a rule the kernel counts devices (mlx5_0), with
NAME_FALLBACK and the like their names come from slot or GUID (rocep3s0f0, ibp3s0f0). NCCL's user guide, NCCL_IB_HCA:
beginnings of names with commas; = in front: whole names; ^: all but these; :N behind a name: one port.

Row keys, by the device's key; a key without a value is missing:
    name, name_before   the latter by the diff's pairing
    active         true when a port is ACTIVE
    policy         how udev names devices: NAME_FALLBACK, NAME_KERNEL, ...; missing when no rule names them
    policy_by      FILE:LINE of the rule, when it stands below /etc: the administrator's own
    choice         NCCL_IB_HCA of /etc/nccl.conf
    choice_lines   [{file, line, text}] of it
    lost_by        FILE:LINE of the choice, when it selected this device by its name before, and now does not
    selects        names of devices that the choice selects now; empty: none
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...pairing import pair
from ...sections.rdma import Device
from ...sections.shape import of_model
from ..facts import Derived
from ..pci.pci_tree import moves

if TYPE_CHECKING:
    from ...document import Snapshot

Table = Mapping[str, Any]
Row = dict[str, Any]


def rdma_names(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each device of AFTER; unknown as a whole where they could not be listed."""
    if fact := after.unread("rdma", ("devices",)):
        gap = {"subject": "", "what": "names of RDMA devices", "source": fact.source, "why": fact.why}
        return Derived({}, [gap])
    rdma, then = after.table("rdma"), before.table("rdma") if before else {}
    pairs = pair(then.get("devices", {}), rdma.get("devices", {}), of_model(Device), moves(before, after)).before_of
    names = [device["name"] for device in rdma.get("devices", {}).values()]
    found = Derived()
    for key, device in rdma.get("devices", {}).items():
        old = then["devices"][pairs[key]]["name"] if key in pairs else None
        row = {"name": device["name"], "name_before": old, "active": _active(device) or None, **_naming(rdma)}
        row |= _choice(rdma, names, device["name"], old)
        found.rows[key] = {name: value for name, value in row.items() if value is not None}
    return found


def selects(choice: str, name: str) -> bool:
    """Whether NCCL_IB_HCA of value CHOICE uses a device NAME, by any port."""
    negated = choice.startswith("^")
    rest = choice.removeprefix("^")
    exact, words = rest.startswith("="), rest.removeprefix("=").split(",")
    starts = [word.partition(":")[0] for word in words if word]
    hit = not starts or any(name == start if exact else name.startswith(start) for start in starts)
    return hit is not negated


def _active(device: Table) -> bool:
    return any(port.get("state") == "ACTIVE" for port in device.get("ports", {}).values())


def _naming(rdma: Table) -> Row:
    rule = rdma.get("naming", {})
    origin = rule.get("origin", {"file": ""})
    by = f"{origin['file']}:{origin['line']}" if origin["file"].startswith("/etc/") else None
    return {"policy": rule.get("policy"), "policy_by": by}


def _choice(rdma: Table, names: list[str], name: str, old: str | None) -> Row:
    if not (choice := rdma.get("nccl_hca")):
        return {}
    value, origin = choice["value"], choice["origin"]
    lost = old is not None and selects(value, old) and not selects(value, name)
    return {
        "choice": value, "choice_lines": [origin], "lost_by": f"{origin['file']}:{origin['line']}" if lost else None,
        "selects": [one for one in names if selects(value, one)],
    }
