"""How far apart two devices of a benchmark are, by the names that it has for them: PCI address or UUID.

nvidia-smi(1), topo: what the driver says counts; where it says nothing, host_map does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ..pci.host_map import host_map
from ..pci.pci_tree import moved

if TYPE_CHECKING:
    from ...document import Snapshot

SWITCH, NODE, ACROSS, NVLINK = "same switch", "same NUMA node", "across NUMA nodes", "NVLink"
PATHS = {"PIX": SWITCH, "PXB": SWITCH, "PHB": NODE, "NODE": NODE, "SYS": ACROSS}


def distances(snapshot: Snapshot) -> Callable[[str, str], str | None]:
    """The function of two names; None where it is not known. Works out what it needs when it is first asked."""
    @cache
    def facts() -> _Facts:
        return _Facts(snapshot)

    return lambda one, other: facts().between(one, other)


def renamed(after: Snapshot, before: Snapshot) -> dict[str, str]:
    """PCI address after -> address before, of the functions that moved."""
    olds = {uuid: address for address, uuid in uuids(before).items()}
    gpus = {address: olds[uuid] for address, uuid in uuids(after).items() if uuid in olds}
    return {new: old for new, old in {**moved(before, after), **gpus}.items() if new != old}


def uuids(snapshot: Snapshot) -> dict[str, str]:
    """Address -> UUID of the GPUs of which the driver tells both."""
    gpus = snapshot.table("nvidia").get("gpus", {}).values()
    return {gpu["address"]: gpu["uuid"] for gpu in gpus if "address" in gpu and "uuid" in gpu}


class _Facts:
    """What the snapshot says of its devices."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.addresses = {uuid: address for address, uuid in uuids(snapshot).items()}
        self.rows: Mapping[str, Mapping[str, Any]] = host_map(snapshot, None).rows
        matrix = snapshot.table("nvidia").get("topology", {"ids": [], "rows": []})
        self.paths = {(one, other): path for one, row in zip(matrix["ids"], matrix["rows"], strict=True)
                      for other, path in zip(matrix["ids"], row, strict=True)}

    def between(self, one: str, other: str) -> str | None:
        """How far apart they are."""
        one, other = (self.addresses.get(name, name) for name in (one, other))
        path = str(self.paths.get((one, other), ""))
        if path in PATHS or path.startswith("NV"):
            return PATHS.get(path, NVLINK)
        return self._mapped(self.rows.get(one, {}), self.rows.get(other, {}))

    def _mapped(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
        if {*one.get("switches", ())} & {*other.get("switches", ())}:
            return SWITCH
        nodes = [row.get("numa_node", -1) for row in (one, other)]
        if min(nodes) < 0:
            return None
        if nodes[0] != nodes[1]:
            return ACROSS
        return None if any("switches" in row.get("unknown", ()) for row in (one, other)) else NODE
