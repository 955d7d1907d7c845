"""DIMMs and the IPMI interface, from /sys/firmware/dmi/tables/DMI.

DMTF DSP0134 (SMBIOS Reference Specification), 7.18 Memory Device and 7.39 IPMI Device Information; dmidecode(8).
The table is a run of structures: type, length of the formatted part, handle, the part itself, then its strings, each
ended by a NUL, and one NUL more (two when there are none). A string is named by its number from 1; 0 is none.

Firmware leaves fields blank in many words (Not Specified, NO DIMM, Unknown, To Be Filled By O.E.M.), and older tables
have shorter structures: what lies behind their end is not there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..errors import ParseError
from ..records import record
from ..sections.firmware import Dimm

_MEMORY, _IPMI, _END = 17, 38, 127
_TYPES = {
    0x03: "DRAM", 0x07: "RAM", 0x0F: "SDRAM", 0x12: "DDR", 0x13: "DDR2", 0x14: "DDR2 FB-DIMM", 0x18: "DDR3",
    0x1A: "DDR4", 0x1B: "LPDDR", 0x1C: "LPDDR2", 0x1D: "LPDDR3", 0x1E: "LPDDR4",
    0x1F: "logical non-volatile", 0x20: "HBM", 0x21: "HBM2",
    0x22: "DDR5", 0x23: "LPDDR5", 0x24: "HBM3",
}
_UNNAMED = (0, 1, 2)  # other, unknown
_INTERFACES = {1: "KCS", 2: "SMIC", 3: "BT", 4: "SSIF"}
_BLANK = {
    "", "not specified", "not available", "not provided", "none", "unknown", "default string", "no dimm", "n/a",
    "to be filled by o.e.m.", "o.e.m.", "empty", "undefined", "system product name", "system manufacturer",
}


@record(frozen=True)
class Structure:
    """One SMBIOS structure; offsets are those of the specification, from its first byte."""

    type: int
    data: bytes
    strings: tuple[str, ...]

    def number(self, offset: int, size: int) -> int | None:
        """A little-endian number; None beyond the end."""
        return int.from_bytes(self.data[offset : offset + size], "little") if offset + size <= len(self.data) else None

    def string(self, offset: int) -> str | None:
        """The string that the byte at OFFSET names; None when it is blank."""
        index = self.number(offset, 1) or 0
        return told(self.strings[index - 1]) if 0 < index <= len(self.strings) else None


def told(text: str | None) -> str | None:
    """TEXT without blanks at its ends and runs of them; None where it is only a word for nothing."""
    words = " ".join((text or "").split())
    return None if words.casefold() in _BLANK else words


def structures(table: bytes) -> list[Structure]:
    """The structures up to the end-of-table mark. ParseError when one does not end within the table."""
    found, at = [], 0
    while at + 4 <= len(table):
        kind, length = table[at], table[at + 1]
        end = table.find(b"\0\0", at + length)
        if length < 4 or end < 0:
            raise ParseError(f"SMBIOS structure of type {kind} at byte {at}, length {length}, has no end")
        texts = table[at + length : end].split(b"\0")
        strings = tuple(text.decode("utf-8", "surrogateescape") for text in texts if text)
        found.append(Structure(kind, table[at : at + length], strings))
        at = end + 2
        if kind == _END:
            break
    if not found:
        raise ParseError(f"no SMBIOS structure in {len(table)} bytes")
    return found


def dimms(found: list[Structure]) -> tuple[int, dict[str, Dimm]]:
    """How many memory slots there are, and the populated ones by locator."""
    slots = [s for s in found if s.type == _MEMORY]
    full = [s for s in slots if s.number(0x0C, 2)]
    shared = {name for name, count in Counter(s.string(0x10) for s in full).items() if count > 1}
    named: dict[str, Dimm] = {}
    for number, slot in enumerate(full):
        parts = [slot.string(0x11), slot.string(0x10)] if slot.string(0x10) in shared else [slot.string(0x10)]
        name = " / ".join(filter(None, parts)) or f"slot {number}"
        named[name if name not in named else f"{name} #{number}"] = _dimm(slot)
    return len(slots), dict(sorted(named.items()))


def _dimm(slot: Structure) -> Dimm:
    kind, attributes = slot.number(0x12, 1) or 0, slot.number(0x1B, 1) or 0
    return Dimm(
        size_bytes=_size(slot), speed_mts=_speed(slot, 0x15, 0x54), configured_mts=_speed(slot, 0x20, 0x58),
        type=None if kind in _UNNAMED else _TYPES.get(kind, f"type {kind}"), ranks=attributes & 0xF or None,
        bank=slot.string(0x11), manufacturer=slot.string(0x17), part_number=slot.string(0x1A),
        serial=slot.string(0x18),
    )


def _size(slot: Structure) -> int | None:
    """Megabytes, or kilobytes with bit 15; 7FFF: the doubleword at 1C says it; FFFF: unknown."""
    size = slot.number(0x0C, 2) or 0
    if size == 0xFFFF:
        return None
    if size == 0x7FFF:
        extended = slot.number(0x1C, 4)
        return None if extended is None else (extended & 0x7FFFFFFF) << 20
    return (size & 0x7FFF) << (10 if size & 0x8000 else 20)


def _speed(slot: Structure, offset: int, extended: int) -> int | None:
    """0 is unknown; FFFF: the doubleword at EXTENDED says it."""
    speed = slot.number(offset, 2)
    if speed == 0xFFFF:
        speed = (slot.number(extended, 4) or 0) & 0x7FFFFFFF
    return speed or None


def ipmi_interface(found: list[Structure]) -> str | None:
    """How the firmware says that the management controller is reached; None when it names none."""
    kinds: Iterator[int] = (s.number(4, 1) or 0 for s in found if s.type == _IPMI)
    return next((_INTERFACES.get(kind, f"type {kind}") for kind in kinds), None)
