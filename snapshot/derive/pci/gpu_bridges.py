"""The ports and bridges above GPUs, from section pci: what they redirect, a GPU's traffic has to follow.

PCI Express Base, "Access Control Services".

Row keys, by PCI address of the bridge:
    address
    type         root port, upstream port, downstream port, ...; missing where it is not known
    gpus         addresses of the GPUs below it, sorted
    in_switch    it is a downstream port of a switch
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..facts import Derived
from .pci_tree import below_ports, functions_of, noun, port_type

if TYPE_CHECKING:
    from ...document import Snapshot


def gpu_bridges(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each; unknown as a whole where the PCI functions were not read. BEFORE adds nothing."""
    del before
    if fact := after.unread("pci", ("functions",)):
        gap = {"subject": "", "what": "which bridges stand above GPUs", "source": fact.source, "why": fact.why}
        return Derived({}, [gap])
    functions, found = functions_of(after), Derived()
    gpus = (address for address, function in functions.items() if noun(function) == "GPU")
    for address, below in sorted(below_ports(functions, gpus).items()):
        kind = port_type(functions, address)
        row = {"address": address, "gpus": below, "in_switch": kind == "downstream port"}
        found.rows[address] = row | ({"type": kind} if kind else {})
    return found
