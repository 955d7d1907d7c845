"""Texts that the kernel writes about a PCI function, from /sys/bus/pci/devices and /sys/bus/pci/slots.

Documentation/ABI/testing/sysfs-bus-pci, sysfs-bus-pci-devices-aer_stats; drivers/pci/pci-sysfs.c, slot.c.

``resource`` has a line (start, end, flags) an entry: 0 to 5 are the BARs, 6 is the ROM, then come the BARs of the
virtual functions and the windows of a bridge, which are no BARs of this function. A 64-bit BAR leaves the next line
empty. Numbers are those of include/linux/ioport.h. ``address`` of a slot lacks the function, and where the slot is a
whole bus also the device.
"""

from __future__ import annotations

import re

from ..errors import ParseError
from ..regexes import regex
from ..sections.pci import Bar

DEVICES = "/sys/bus/pci/devices"
ADDRESS = regex(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]")
ROOT = regex(r"pci[0-9a-f]{4,8}:[0-9a-f]{2}")
ENTRIES = 7  # at least: the kernel writes more of a bridge
IO, MEMORY, PREFETCH = 0x100, 0x200, 0x2000
_RESOURCE = regex(r"0x([0-9a-f]{16}) 0x([0-9a-f]{16}) 0x([0-9a-f]{16})")


def parse_resource(text: str) -> dict[str, Bar]:
    """BARs by number, and rom; an entry without flags or addresses is none. ParseError names the bad line."""
    bars: dict[str, Bar] = {}
    for number, line in enumerate((text.splitlines() + [""] * ENTRIES)[:ENTRIES]):
        match = _RESOURCE.fullmatch(line.strip())
        if not match:
            raise ParseError(f"no start, end and flags: {line[:80]!r}")
        start, end, flags = (int(part, 16) for part in match.groups())
        if flags & (IO | MEMORY) and end > start:
            bars["rom" if number == 6 else str(number)] = _bar(end - start + 1, flags)
    return bars


def _bar(size: int, flags: int) -> Bar:
    if size >= 1 << 63:
        raise ParseError(f"no BAR has {size} bytes")
    if flags & IO:
        return Bar(size_bytes=size, kind="io")
    return Bar(size_bytes=size, kind="memory", prefetchable=bool(flags & PREFETCH))


def parse_place(link: str) -> tuple[str, list[str]]:
    """Root bus and chain of a function, bridges first, from the target of its link under /sys/bus/pci/devices.

    "../../../devices/pci0000:20/0000:20:01.1/0000:21:00.0" -> "pci0000:20", ["0000:20:01.1", "0000:21:00.0"]
    """
    parts = link.split("/")
    return next((part for part in parts if ROOT.fullmatch(part)), ""), [p for p in parts if ADDRESS.fullmatch(p)]


def parse_slots(addresses: dict[str, str]) -> dict[str, str]:
    """Slot name -> content of its address, turned to address without function -> slot name."""
    return {address.strip(): name for name, address in sorted(addresses.items(), reverse=True)}


def find_slot(slots: dict[str, str], address: str) -> str | None:
    """The physical slot of a function, from what parse_slots gives."""
    device = address.rpartition(".")[0]
    return slots.get(device) or slots.get(device.rpartition(":")[0])


def parse_number(text: str) -> int:
    """A decimal number such as numa_node's -1. ParseError when it is none."""
    number = text.strip()
    if not re.fullmatch("-?[0-9]{1,9}", number):
        raise ParseError(f"no number: {text[:80]!r}")
    return int(number)


def parse_total(text: str) -> int:
    """The TOTAL_ERR_ line of an aer_dev_* file. ParseError when there is none."""
    match = re.search(r"^TOTAL_ERR_\w+ (\d{1,18})$", text, re.MULTILINE)
    if not match:
        raise ParseError(f"no TOTAL_ERR line: {text[:80]!r}")
    return int(match[1])
