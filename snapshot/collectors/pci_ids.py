"""Names of PCI vendors and devices, from /usr/share/misc/pci.ids or /usr/share/hwdata/pci.ids.

pci.ids(5). Vendor lines begin at column 0 with four hex digits, device lines with one tab, subsystem lines with two.
The file has some 1.5 MB and 40,000 lines, of which a host needs some 30: it is cut into vendors once, and the rest is
never split.
"""

from __future__ import annotations

from functools import lru_cache

from ..regexes import regex
from .base import decode

FILES = ("/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids")
_VENDOR = regex(rb"\n(?=[^\t\n#])")


def find_name(data: bytes, vendor: str, device: str) -> str | None:
    """Vendor and device name, only the vendor's when the device is not listed; None when neither is."""
    block = _vendors(data).get(b"%s  " % vendor.encode())
    if block is None:
        return None
    name, at = _rest(block, 6), block.find(b"\n\t%s  " % device.encode())
    return name if at < 0 else f"{name} {_rest(block, at + 8)}"


@lru_cache(maxsize=1)
def _vendors(data: bytes) -> dict[bytes, bytes]:
    """The lines of each vendor, by the beginning of the first."""
    return {block[:6]: block for block in _VENDOR.split(data)}


def _rest(data: bytes, at: int) -> str:
    end = data.find(b"\n", at)
    return decode(data[at : end if end >= 0 else len(data)]).strip()
