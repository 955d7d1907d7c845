"""The IOMMU, from /sys/class/iommu, /sys/kernel/iommu_groups and /boot/config-*.

Documentation/ABI/testing/sysfs-kernel-iommu_groups; iommu= in Documentation/admin-guide/kernel-parameters.txt;
drivers/iommu/Kconfig; Documentation/driver-api/vfio.rst.

A unit has an entry in /sys/class/iommu when its driver took it, with iommu=pt as well: then the type of the groups is
identity. ``type`` is that of the default domain, also while VFIO holds the group. An I/O APIC whose interrupts are
remapped has the chip name IR-IO-APIC; the IOMMU's own interrupts are never remapped.
"""

from __future__ import annotations

import re

from ..regexes import regex
from ..sections.iommu import Iommu
from .base import Reading, Reads
from .kernel_values import parse_switch, parse_word, value

CLASS, GROUPS, IRQ = "/sys/class/iommu", "/sys/kernel/iommu_groups", "/sys/kernel/irq"
UNSAFE = "/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts"
NOIOMMU = "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
CONFIG = "/boot/config-*"
READS = Reads(
    paths=(
        "/sys/class", CLASS, "/sys/kernel", GROUPS, f"{GROUPS}/*/type", f"{GROUPS}/*/devices", IRQ,
        f"{IRQ}/*/chip_name", UNSAFE, NOIOMMU, "/boot", CONFIG,
    ),
    root="vfio's switches; the build configuration of kernels, where /boot is closed",
)
_OPTION = regex(
    rb"^CONFIG_(IOMMU_DEFAULT_(?:DMA_STRICT|DMA_LAZY|PASSTHROUGH)|INTEL_IOMMU_DEFAULT_ON(?:_INTGPU_OFF)?"
    rb"|AMD_IOMMU|INTEL_IOMMU|IRQ_REMAP)=y\r?$", re.MULTILINE
)
_LARGEST = 4 << 20  # of a build configuration


def collect(reading: Reading) -> Iommu:
    """The section; off is a fact, not an absence."""
    units = _names(reading, CLASS, "/sys/class", "units", "enabled")
    members = _members(reading)
    words = {first: _type(reading, number, first) for first, (number, _) in members.items()}
    groups = {first: word for first, word in words.items() if word}
    if len(groups) < len(words):
        reading.settle(False, GROUPS, "not every group tells its type", "types")
    whole = all(unread.path != ("types",) for unread in reading.unreads)
    return Iommu(
        enabled=None if units is None else bool(units), units=units,
        types=sorted(set(groups.values())) or None if whole else None, groups=groups or None,
        shared={first: others for first, (_, others) in members.items() if others} or None,
        interrupt_remapping=_remapping(reading),
        unsafe_interrupts=value(reading, parse_switch, UNSAFE, "unsafe_interrupts"),
        unsafe_noiommu=value(reading, parse_switch, NOIOMMU, "unsafe_noiommu"),
        build_defaults=_build_defaults(reading) or None,
    )


def _names(reading: Reading, folder: str, parent: str, *facts: str) -> list[str] | None:
    """The names in FOLDER; none where PARENT is there without it; None, and FACTS unread, when it cannot be listed."""
    names = reading.list(folder, facts[0])
    failed = any(unread.path == facts[:1] for unread in reading.unreads)
    if failed or not (names or reading.list(parent, facts[0])):
        reading.unread_together(folder, "ENOENT", *facts)
        return None
    return names


def _members(reading: Reading) -> dict[str, tuple[str, list[str]]]:
    """First device of each group -> the group's number and its other devices."""
    facts = ("groups", "shared", "types")
    found: dict[str, tuple[str, list[str]]] = {}
    for number in _names(reading, GROUPS, "/sys/kernel", *facts) or ():
        if devices := reading.list(f"{GROUPS}/{number}/devices", facts[0]):
            found[devices[0]] = (number, devices[1:])
    if any(unread.path == facts[:1] for unread in reading.unreads):
        reading.unread_together(GROUPS, "", *facts)
    return dict(sorted(found.items()))


def _type(reading: Reading, number: str, first: str) -> str | None:
    path = f"{GROUPS}/{number}/type"
    word = value(reading, parse_word, path, "groups", first)
    reading.settle(word is not None, path, "ENOENT", "groups", first)
    return word


def _remapping(reading: Reading) -> bool | None:
    """What the first interrupt of an I/O APIC says, which is among the lowest."""
    fact = "interrupt_remapping"
    for number in sorted(int(n) for n in reading.list(IRQ, fact) if n.isdecimal() and len(n) < 10):
        chip = value(reading, str, f"{IRQ}/{number}/chip_name", fact)
        if chip and chip.endswith("IO-APIC"):
            return chip.startswith("IR-")
    return None


def _build_defaults(reading: Reading) -> dict[str, list[str]]:
    """By release, from the configurations in /boot; unread when there are none."""
    fact = "build_defaults"
    found = {}
    for name in reading.list("/boot", fact):
        if name.startswith("config-"):
            release = name.removeprefix("config-")
            text = reading.bytes(f"/boot/{name}", fact, release, limit=_LARGEST)
            if text is not None:
                found[release] = parse_options(text)
    reading.settle(bool(found), CONFIG, "no build configuration", fact)
    return found


def parse_options(text: bytes) -> list[str]:
    """The options that are y and decide the IOMMU's default, sorted. Any text is a build configuration."""
    return sorted({name.decode() for name in _OPTION.findall(text)})
