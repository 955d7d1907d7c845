"""PCI Express registers of a function, from its configuration space.

include/uapi/linux/pci_regs.h; PCI Express Base, "PCI Express Capability Structure", "Resizable BAR Capability".

Which registers exist depends on the port type (root complex integrated ones have no link) and the version (Control 2
registers came with 2). Of a virtual function (SR-IOV) controls and link are reserved: what its physical function says
counts for it. Codes that the specification reserves (MaxPayload and MaxReadReq 6 and 7) are the size of nothing: they
are unknown, with the code named, so that nobody compares against an invented 8192. A target speed of 0 is that of a
function that knows 2.5 GT/s only, of another it says nothing. A link of width 0 is down and has no speed. The number
of resizable BARs stands in the first entry only.
"""

from __future__ import annotations

from ..sections.pci import Express, Link, PortType, ResizableBar
from .pci_facts import Gap
from .pci_space import EXPRESS, RESIZABLE, Space

PORT_TYPES: dict[int, PortType] = {
    0: "endpoint", 1: "legacy endpoint", 4: "root port", 5: "upstream port", 6: "downstream port",
    7: "PCIe to PCI bridge", 8: "PCI to PCIe bridge", 9: "root complex integrated endpoint",
    10: "root complex event collector",
}
LINKED = frozenset({0, 1, 4, 5, 6, 7, 8})
SPEEDS = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}
BYTES = {code: 128 << code for code in range(6)}
ASPM: tuple[list[str], ...] = ([], ["L0s"], ["L1"], ["L0s", "L1"])
MIB = 1 << 20
LARGEST = 42  # 4 EiB, the largest power of two that a signed 64-bit integer holds


def parse_express(space: Space, origin: str, virtual: bool) -> tuple[Express | None, tuple[Gap, ...]]:
    """The Express capability, None when there is none or it was not read whole, and gaps for reserved codes."""
    at = space.capabilities.get(EXPRESS)
    flags = space.u16(at + 2) if at else 0
    kind, version = flags >> 4 & 15, flags & 15
    if not at or not space.holds(at, _size(kind, version)):
        return None, ()
    port, capable = PORT_TYPES.get(kind, "reserved"), BYTES.get(space.u32(at + 4) & 7)
    faults = _reserved(origin, max_payload_supported_bytes=(capable, space.u32(at + 4) & 7))
    if virtual:
        return Express(type=port, max_payload_supported_bytes=capable), faults
    control, control2 = space.u16(at + 8), space.u16(at + 0x28)
    payload, request = control >> 5 & 7, control >> 12 & 7
    link, more = _link(space, at, version, origin) if kind in LINKED else (None, ())
    faults += _reserved(
        origin,
        max_payload_bytes=(BYTES.get(payload), payload),
        max_read_request_bytes=(BYTES.get(request), request),
    )
    express = Express(
        type=port,
        max_payload_supported_bytes=capable,
        max_payload_bytes=BYTES.get(payload),
        max_read_request_bytes=BYTES.get(request),
        relaxed_ordering=bool(control & 0x10),
        no_snoop=bool(control & 0x800),
        extended_tags=bool(control & 0x100),
        ten_bit_tags=bool(control2 & 0x1000) if version >= 2 else None,
        link=link,
    )
    return express, (*faults, *more)


def _size(kind: int, version: int) -> int:
    linked = kind in LINKED
    if version >= 2:
        return 0x34 if linked else 0x2A
    return 0x14 if linked else 0x0C


def _link(space: Space, at: int, version: int, origin: str) -> tuple[Link | None, tuple[Gap, ...]]:
    capable, state, control2 = space.u32(at + 0x0C), space.u16(at + 0x12), space.u16(at + 0x30)
    if not capable & 0x3FF:  # neither speed nor width: a function inside the chip that is called an endpoint
        return None, ()
    fastest, widest = SPEEDS.get(capable & 15), capable >> 4 & 63
    width = state >> 4 & 63 or None
    speed = SPEEDS.get(state & 15) if width else None
    target = control2 & 15 if version >= 2 else 0
    slow = version >= 2 and fastest == SPEEDS[1]
    aimed = SPEEDS.get(target) if target else SPEEDS[1] if slow else None
    link = Link(
        max_speed_gts=fastest,
        max_width=widest or None,
        speed_gts=speed,
        width=width,
        target_speed_gts=aimed,
        autonomous_speed_disabled=bool(control2 & 0x20) if version >= 2 else None,
        aspm_supported=list(ASPM[capable >> 10 & 3]),
        aspm=list(ASPM[space.u16(at + 0x10) & 3]),
    )
    return link, _reserved(
        origin,
        "link",
        max_speed_gts=(fastest, capable & 15),
        max_width=(widest or None, 0),
        speed_gts=(speed if width else 0.0, state & 15),
        target_speed_gts=(aimed if target else 0.0, target),
    )


def _reserved(origin: str, *below: str, **values: tuple[float | None, int]) -> tuple[Gap, ...]:
    return tuple(
        Gap(("express", *below, field), origin, f"reserved code {code}")
        for field, (value, code) in values.items()
        if value is None
    )


def parse_resizable(space: Space, origin: str) -> tuple[dict[str, ResizableBar] | None, tuple[Gap, ...]]:
    """The entries of the Physical Resizable BAR capability by BAR number, and gaps for those that make no sense."""
    at = space.extended.get(RESIZABLE)
    if not at:
        return None, ()
    bars: dict[str, ResizableBar] = {}
    faults: list[Gap] = []
    for entry in range(at + 4, at + 4 + 8 * (space.u32(at + 8) >> 5 & 7), 8):
        capable, control = space.u32(entry), space.u32(entry + 4)
        bar, code = str(control & 7), control >> 8 & 63
        if not space.holds(entry, 8) or control & 7 > 5 or code > LARGEST or bar in bars:
            faults.append(Gap(("resizable_bars", bar), origin, f"entry {capable:08x} {control:08x} makes no sense"))
            continue
        sizes = capable >> 4 | control >> 16 << 28
        supported = [MIB << n for n in range(LARGEST + 1) if sizes >> n & 1]
        bars[bar] = ResizableBar(size_bytes=MIB << code, supported_bytes=supported)
    return bars or None, tuple(faults)
