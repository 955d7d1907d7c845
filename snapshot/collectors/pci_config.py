"""The facts of a PCI function, from its configuration space: /sys/bus/pci/devices/*/config or lspci -xxx.

include/uapi/linux/pci_regs.h; PCI Local Bus Specification 6.1; Documentation/PCI/sysfs-pci.rst.

The kernel gives 64 bytes to a reader without CAP_SYS_ADMIN in the initial user namespace (128 of a CardBus bridge): the
header is known then, and nothing else. A function that has left the bus reads as all ones. 256 bytes of an Express
function are no proof that it has no extended capabilities: the upper part was not dumped (lspci -xxx) or cannot be
reached. A virtual function (SR-IOV) reads FFFF as its vendor and device.
"""

from __future__ import annotations

from typing import Literal

from ..sections.pci import Acs, Function
from .pci_express import parse_express, parse_resizable
from .pci_facts import CAPABILITIES, DEAD, EXTENDED, REGISTERS, Decoded, Gap, gaps
from .pci_space import ACS, CONVENTIONAL, EXPRESS, HEADER, SERIAL, SUBSYSTEM, Space

BRIDGE = 1


def parse_config(data: bytes, origin: str, source: Literal["config", "lspci hex"] = "config") -> Decoded:
    """The registers of one function; ORIGIN is what the gaps name. Never raises: what makes no sense is a gap."""
    if len(data) < HEADER or data[:HEADER] == b"\xff" * HEADER:
        why = DEAD if len(data) >= HEADER else f"only {len(data)} bytes were read"
        return Decoded(Function(source="sysfs"), gaps(REGISTERS, origin, why))
    space = Space(data)
    virtual = space.u32(0) == 0xFFFFFFFF
    express, faults = parse_express(space, origin, virtual)
    resizable, more = parse_resizable(space, origin)
    subsystem = _subsystem(space)
    function = Function(
        vendor=None if virtual else f"{space.u16(0):04x}",
        device=None if virtual else f"{space.u16(2):04x}",
        subsystem_vendor=f"{subsystem & 0xFFFF:04x}" if subsystem else None,
        subsystem_device=f"{subsystem >> 16:04x}" if subsystem else None,
        class_code=f"{space.u32(8) >> 8:06x}",
        revision=f"{space.u8(8):02x}",
        serial=_serial(space),
        express=express,
        acs=_acs(space),
        resizable_bars=resizable,
        source=source,
    )
    # One gap a path: what was met at the capability itself says more than that the list is cut short.
    found = {gap.path: gap for gap in (*_missing(space, function, origin, virtual), *faults, *more)}
    return Decoded(function, tuple(found.values()))


def _missing(space: Space, function: Function, origin: str, virtual: bool) -> tuple[Gap, ...]:
    why = {"vendor": "virtual function", "device": "virtual function"} if virtual else {}
    if space.flaw and space.kind == BRIDGE:
        why |= dict.fromkeys(("subsystem_vendor", "subsystem_device"), space.flaw)
    if EXPRESS not in space.capabilities:
        why |= dict.fromkeys(CAPABILITIES, space.flaw) if space.flaw else {}
    elif not function.express:
        why |= dict.fromkeys(CAPABILITIES, f"only {len(space.data)} bytes were read")
    elif len(space.data) <= CONVENTIONAL:
        why |= dict.fromkeys(EXTENDED, f"lies beyond the {len(space.data)} bytes that were read")
    elif space.extended_flaw:
        why |= dict.fromkeys(EXTENDED, space.extended_flaw)
    return tuple(Gap((f,), origin, w) for f, w in why.items() if getattr(function, f) is None)


def _subsystem(space: Space) -> int:
    """Device and vendor in one number, 0 for none. A bridge has no room for them in its header."""
    if space.kind == BRIDGE:
        at = space.capabilities.get(SUBSYSTEM)
        return space.u32(at + 4) if at else 0
    return space.u32(0x2C) if space.kind == 0 else 0


def _serial(space: Space) -> str | None:
    at = space.extended.get(SERIAL)
    number = space.data[at + 4 : at + 12][::-1] if at else b""
    # Parts that were never given a number read as all zeros or ones: that names nothing.
    return number.hex("-") if number.strip(b"\0") and number.strip(b"\xff") else None


def _acs(space: Space) -> Acs | None:
    at = space.extended.get(ACS)
    if not at:
        return None
    control = space.u16(at + 6)
    return Acs(
        source_validation=bool(control & 1),
        translation_blocking=bool(control & 2),
        request_redirect=bool(control & 4),
        completion_redirect=bool(control & 8),
        upstream_forwarding=bool(control & 16),
        egress_control=bool(control & 32),
        direct_translated=bool(control & 64),
    )
