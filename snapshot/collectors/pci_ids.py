"""Names of PCI vendors and devices, from /usr/share/misc/pci.ids or /usr/share/hwdata/pci.ids.

pci.ids(5). Vendor lines begin at column 0 with four hex digits, device lines with one tab, subsystem lines with two.
The file has some 1.5 MB and 40,000 lines, a host some 30 ids: those are searched for, the rest is never split.
"""

from __future__ import annotations

import re

from .base import decode

FILES = ("/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids")
_BLOCK_END = re.compile(rb"\n[^\t\n#]")


def find_name(data: bytes, vendor: str, device: str) -> str | None:
    """Vendor and device name, only the vendor's when the device is not listed; None when neither is."""
    start = data.find(b"\n%s  " % vendor.encode())
    if start < 0:
        return None
    block_end = _BLOCK_END.search(data, start + 1)
    end = block_end.start() if block_end else len(data)
    at = data.find(b"\n\t%s  " % device.encode(), start, end)
    name = _rest(data, start + 7)
    return name if at < 0 else f"{name} {_rest(data, at + 8)}"


def _rest(data: bytes, at: int) -> str:
    end = data.find(b"\n", at)
    return decode(data[at : end if end >= 0 else len(data)]).strip()
