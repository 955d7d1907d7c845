"""Each PCI Express link that has a port of this host at its upper end, from section pci.

PCI Express Base, "Link Capabilities", "Link Status", "Link Control 2" and "Device Control" registers. Both ends tell
the width and speed in use; how wide and fast a link can be is the lesser of what its two ends can. Idle GPUs lower
the speed, never the width, and raise it with the performance state: a speed below what is possible counts for a GPU at
P0 alone (``slow``). A function of which no port is visible (in a virtual machine), and one below an emulated port, has
no row: nothing tells how wide its slot is. The payload that two ends use has to be the same, unless the kernel was
told pci=pcie_bus_perf (pci_configure_mps in drivers/pci/probe.c).

Row keys, by the address of the lower end (its lowest function); a key without a value is missing:
    address, port    lower and upper end
    type, port_type  of both: endpoint, upstream port of a switch, ...; root port or downstream port
    name, driver     of the lower end
    noun             GPU, NIC, NVMe drive, switch (its upstream port) or PCI function: what the lower end is
    devices          addresses of the GPUs, NICs and NVMe drives at or below the lower end
    width            lanes in use; missing when the link is down
    max_width, port_max_width     widest that each end can
    possible_width   the lesser of the two
    degraded         width is less than possible_width, or the link is down; never missing
    width_limited_by port or device: the end that is narrower than the other
    speed_gts        speed now, GT/s; changes by itself
    max_speed_gts, port_max_speed_gts, possible_speed_gts, speed_limited_by   likewise
    target_speed_gts target speed of the port, which caps the link
    below_possible   speed_gts is less than possible_speed_gts: normal for an idle GPU
    performance_state  of an NVIDIA GPU at the lower end
    slow             of an NVIDIA GPU at P0: below_possible
    speed_fixed      ends (port, device) with Hardware Autonomous Speed Disable set
    payload_bytes, port_payload_bytes   MaxPayload in use
    payload_possible_bytes   the lesser of what the two ends support
    payload_differs  the two ends use different ones
    address_before   its address before, by the diff's pairing
    before           {width, possible_width, max_speed_gts, ...: COMPARED} of the same function's link before
    narrower         width is less than before's; missing without a before
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..facts import Derived
from .pci_tree import (
    EMULATED,
    LINK_PORTS,
    Functions,
    Table,
    below_ports,
    express,
    functions_of,
    link,
    lower_ends,
    moved,
    noun,
    port_type,
    unread,
)

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Rows = dict[str, dict[str, Any]]
COMPARED = (
    "width", "possible_width", "max_width", "port_max_width", "max_speed_gts", "port_max_speed_gts",
    "possible_speed_gts", "target_speed_gts", "payload_bytes", "port_payload_bytes",
)
WHAT = "width and speed of the link"


def links(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each link of AFTER; unknown where an end could not be read."""
    found = link_rows(after)
    rows, then = dict(found.rows), link_rows(before).rows if before else {}
    for address, old in moved(before, after).items():
        if address in rows and old in then:
            rows[address] = rows[address] | _compared(rows[address], old, then[old])
    return Derived(rows, found.unknown)


@lru_cache(maxsize=2)
def link_rows(snapshot: Snapshot) -> Derived:
    """The links of one snapshot, nothing compared."""
    functions = functions_of(snapshot)
    if fact := snapshot.unread("pci", ("functions",)):
        return Derived({}, [_gap("", fact)])
    below = below_ports(functions, (a for a, f in functions.items() if noun(f)))
    states = _states(snapshot)
    found = Derived(unknown=list(_unplaced(snapshot, functions)))
    for address, port in lower_ends(functions).items():
        if fact := _unread_end(snapshot, functions, address, port):
            found.unknown.append(_gap(address, fact))
        elif _is_link(functions, address, port):
            row = _row(functions, address, port, states.get(address))
            found.rows[address] = row | {"devices": below.get(port, [])}
    return found


def _is_link(functions: Functions, address: str, port: str) -> bool:
    real = functions[port].get("vendor") not in EMULATED
    return real and port_type(functions, port) in LINK_PORTS and bool(link(functions[address]))


def _unread_end(snapshot: Snapshot, functions: Functions, address: str, port: str) -> UnreadFact | None:
    """Why the widest width of an end is unknown; None when it is known, or there is none."""
    if functions[port].get("vendor") in EMULATED:
        return None
    for end in (address, port):
        fact = unread(snapshot, end, "express", "link", "max_width")
        if fact and "max_width" not in link(functions[end]):
            return fact
    return None


def _unplaced(snapshot: Snapshot, functions: Functions) -> Iterator[dict[str, Any]]:
    """Functions that matter and of which nothing tells what stands above them."""
    for address, function in functions.items():
        if "bridges" not in function and noun(function) and (fact := unread(snapshot, address, "bridges")):
            yield _gap(address, fact)


def _gap(address: str, fact: UnreadFact) -> dict[str, Any]:
    return {"subject": address, "what": WHAT, "source": fact.source, "why": fact.why}


def _states(snapshot: Snapshot) -> dict[str, str]:
    """PCI address -> performance state of NVIDIA GPUs."""
    gpus = snapshot.table("nvidia").get("gpus", {}).values()
    told = {gpu.get("address"): gpu.get("state", {}).get("performance_state") for gpu in gpus}
    return {address: state for address, state in told.items() if address and state}


def _row(functions: Functions, address: str, port: str, state: str | None) -> dict[str, Any]:
    lower, upper = functions[address], functions[port]
    what = "switch" if port_type(functions, address) == "upstream port" else noun(lower) or "PCI function"
    row = {
        "address": address, "port": port, "type": express(lower).get("type"), "port_type": express(upper).get("type"),
        "name": lower.get("name"), "driver": lower.get("driver"), "noun": what, "performance_state": state,
        **_width(link(lower), link(upper)), **_speed(link(lower), link(upper), state),
        **_payload(express(lower), express(upper)),
    }
    return {key: value for key, value in row.items() if value is not None}


def _width(lower: Table, upper: Table) -> dict[str, Any]:
    width = lower.get("width") or upper.get("width")
    own, ports = lower.get("max_width"), upper.get("max_width")
    possible = _least(own, ports)
    return {
        "width": width, "max_width": own, "port_max_width": ports, "possible_width": possible,
        "degraded": width is None or (possible is not None and width < possible),
        "width_limited_by": _narrower(own, ports),
    }


def _speed(lower: Table, upper: Table, state: str | None) -> dict[str, Any]:
    own, ports, speed = lower.get("max_speed_gts"), upper.get("max_speed_gts"), lower.get("speed_gts")
    possible = _least(own, ports)
    below = None if speed is None or possible is None else speed < possible
    fixed = [name for name, end in (("port", upper), ("device", lower)) if end.get("autonomous_speed_disabled")]
    return {
        "speed_gts": speed, "max_speed_gts": own, "port_max_speed_gts": ports, "possible_speed_gts": possible,
        "speed_limited_by": _narrower(own, ports), "target_speed_gts": upper.get("target_speed_gts"),
        "below_possible": below, "slow": below if state == "P0" else None, "speed_fixed": fixed,
    }


def _payload(lower: Table, upper: Table) -> dict[str, Any]:
    own, ports = lower.get("max_payload_bytes"), upper.get("max_payload_bytes")
    supported = "max_payload_supported_bytes"
    return {
        "payload_bytes": own, "port_payload_bytes": ports,
        "payload_possible_bytes": _least(lower.get(supported), upper.get(supported)),
        "payload_differs": None if own is None or ports is None else own != ports,
    }


def _least(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else min(one, other)


def _narrower(own: float | None, ports: float | None) -> str | None:
    """Which end can less than the other."""
    if own is None or ports is None or own == ports:
        return None
    return "device" if own < ports else "port"


def _compared(row: dict[str, Any], address: str, old: dict[str, Any]) -> dict[str, Any]:
    found = {"address_before": address, "before": {key: old[key] for key in COMPARED if key in old}}
    if "width" in row and "width" in old:
        found["narrower"] = row["width"] < old["width"]
    return found
