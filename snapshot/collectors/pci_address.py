"""PCI addresses as drivers and tools write them, in the form of /sys/bus/pci/devices.

Documentation/PCI/sysfs-pci.rst: four digits of segment (more where it does not fit), lower case. nvidia-smi writes
eight digits and upper case (00000000:C1:00.0), the driver's messages leave the function out (PCI:0000:c1:00).
"""

from __future__ import annotations

import re

from ..regexes import regex

_ADDRESS = regex(
    r"(?:([0-9a-f]{1,8}):)?([0-9a-f]{2}):([01][0-9a-f])(?:\.([0-7]))?", re.IGNORECASE
)


def sysfs_address(text: str) -> str | None:
    """TEXT as sysfs writes it, function 0 where it names none; None when it is no PCI address."""
    found = _ADDRESS.fullmatch(text.strip().removeprefix("PCI:"))
    if not found:
        return None
    segment, bus, device, function = found.groups()
    return f"{int(segment or '0', 16):04x}:{bus.lower()}:{device.lower()}.{function or 0}"
