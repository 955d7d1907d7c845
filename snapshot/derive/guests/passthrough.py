"""What gives PCI functions to virtual machines: hostpciN lines, mappings, and ids= of vfio-pci: qemu, modules, pci.

qm.conf(5), hostpci: Proxmox VE binds vfio-pci itself when a machine with the function starts; an address without
function means all functions. drivers/vfio/pci/vfio_pci.c, ids: vfio-pci binds every function with such ids, also those
that are meant for the host. Documentation/driver-api/vfio.rst.

Row keys, by PCI address; a key without a value is missing:
    guests       virtual machines that are given it, by id, sorted
    guest_lines  [{file, line, text}] that say so
    ids_line     {file, line, text} of the option of vfio-pci that has its ids
    ids          "VENDOR:DEVICE", as that option has it
    ids_tested   true: this boot had the option too, so that who has the function now shows what comes of it
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..boot.initramfs_state import changed_since_boot
from ..facts import Derived
from ..pci.pci_tree import functions_of

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Table = Mapping[str, Any]


def passthrough(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each function of AFTER that something gives to a guest, or to vfio-pci; BEFORE adds nothing."""
    del before
    given, ids, rows = [*_given(after)], dict(_ids(after)), {}
    for address, function in functions_of(after).items():
        names = (address, address.rpartition(".")[0])
        mine = [(machine, line) for machine, where, line in given if where in names]
        kind = f"{function.get('vendor')}:{function.get('device')}"
        row: Row = {"guests": sorted({machine for machine, _ in mine}), "guest_lines": [line for _, line in mine],
                    "ids_line": ids.get(kind), "ids": kind if kind in ids else None,
                    "ids_tested": _tested(after, ids.get(kind))}
        if found := {key: value for key, value in row.items() if value}:
            rows[address] = found
    return Derived(rows)


def _tested(after: Snapshot, line: Table | None) -> bool:
    """Whether a line was there at this boot: it is of the command line, or its file is older."""
    return line is not None and (line["file"] == "/proc/cmdline" or changed_since_boot(after, line["file"]) is False)


def _given(after: Snapshot) -> Iterator[tuple[str, str, Table]]:
    """Machine, address in full (maybe without function) and line of each function that a machine is given."""
    qemu = after.table("qemu")
    for machine, told in qemu.get("machines", {}).items():
        for one in told["live"].get("hostpci", {}).values():
            paths = [*one.get("host", ())]
            for device in qemu.get("mappings", {}).get(one.get("mapping", ""), {}).get("devices", ()):
                paths += device["paths"]
            for path in paths:
                yield machine, _full(path), one["origin"]


def _full(path: str) -> str:
    """An address with its domain, in lower case."""
    return (path if path.count(":") > 1 else f"0000:{path}").lower()


def _ids(after: Snapshot) -> Iterator[tuple[str, Table]]:
    option = after.table("modules").get("options", {}).get("vfio_pci", {}).get("ids", {})
    if assigned := option.get("cmdline") or option.get("files"):
        for word in assigned.get("value", "").lower().split(","):
            yield ":".join(word.split(":")[:2]), assigned["origin"]
