"""PCI configuration space as bytes with two capability lists.

PCI Local Bus Specification 6.7; PCI Express Base, "PCI Express Extended Capability Structures";
include/uapi/linux/pci_regs.h. A list may be cut short (no root, a short dump) or broken (loops, pointers to nowhere,
parts that read as all ones): then the entries found before are known, and whether there are more is not.
"""

from __future__ import annotations

from .pci_facts import NEEDS_ROOT

HEADER = 64
CONVENTIONAL = 256
LIMIT = 4096
SUBSYSTEM, EXPRESS = 0x0D, 0x10
SERIAL, ACS, RESIZABLE = 0x0003, 0x000D, 0x0015
SIZES = {SUBSYSTEM: 8}
EXTENDED_SIZES = {SERIAL: 12, ACS: 8, RESIZABLE: 12}
CARDBUS = 2


class Space:
    """The bytes, and the offset of each capability. A flaw says why its list may lack entries, "" that it does not."""

    def __init__(self, data: bytes) -> None:
        self.data = data[:LIMIT]
        self.kind = self.u8(0x0E) & 0x7F
        self.flaw = self.extended_flaw = ""
        self.capabilities = self._walk() if self.u16(0x06) & 0x10 else {}
        self.extended = self._walk_extended()

    def u8(self, at: int) -> int:
        """The byte at AT; what lies beyond the end reads as 0, as for u16 and u32."""
        return int.from_bytes(self.data[at : at + 1], "little")

    def u16(self, at: int) -> int:
        """The word at AT."""
        return int.from_bytes(self.data[at : at + 2], "little")

    def u32(self, at: int) -> int:
        """The double word at AT."""
        return int.from_bytes(self.data[at : at + 4], "little")

    def holds(self, at: int, size: int) -> bool:
        """Whether SIZE bytes from AT were read."""
        return at + size <= len(self.data)

    def _walk(self) -> dict[int, int]:
        found: dict[int, int] = {}
        seen: set[int] = set()
        at = self.u8(0x14 if self.kind == CARDBUS else 0x34) & 0xFC
        while at:
            self.flaw = self._fault(at, at in seen)
            if self.flaw:
                break
            seen.add(at)
            found.setdefault(self.u8(at), at)
            at = self.u8(at + 1) & 0xFC
        return found

    def _fault(self, at: int, seen: bool) -> str:
        if len(self.data) <= HEADER:
            return NEEDS_ROOT
        if not self.holds(at, SIZES.get(self.u8(at), 4)):
            return f"only {len(self.data)} bytes were read"
        sane = at >= HEADER and self.u8(at) != 0xFF and not seen
        return "" if sane else f"the capability list is broken at {at:02x}"

    def _walk_extended(self) -> dict[int, int]:
        found: dict[int, int] = {}
        seen: set[int] = set()
        at = CONVENTIONAL if len(self.data) > CONVENTIONAL else 0
        while at >= CONVENTIONAL and (header := self.u32(at)):
            number = header & 0xFFFF
            whole = self.holds(at, EXTENDED_SIZES.get(number, 4))
            if at in seen or header == 0xFFFFFFFF or not whole:
                self.extended_flaw = f"the extended capability list is broken at {at:03x}"
                break
            seen.add(at)
            found.setdefault(number, at)
            at = header >> 20 & 0xFFC
        return found
