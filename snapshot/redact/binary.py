"""Serial numbers in binary files: PCI config space and the SMBIOS tables. Lengths stay, so that all offsets do.

PCI Express Base Specification, 7.9.3 Device Serial Number capability; DMTF DSP0134 (SMBIOS), 7.18 Memory Device.
"""

from __future__ import annotations

import re

from ..collectors.pci_space import SERIAL, Space
from ..collectors.smbios import told
from ..regexes import regex
from .pseudonyms import Pseudonyms

_DUMP = regex(r"(?:^[0-9a-f]{2,3}:(?: [0-9a-f]{2}){16}\n)+", re.MULTILINE)
_BIOS, _MEMORY, _IPMI, _END = 0, 17, 38, 127
_TELLING = {_MEMORY: (0x18, 0x19)}  # offsets of the numbers of strings: serial number, asset tag


def pci_config(data: bytes, names: Pseudonyms) -> bytes:
    """Config space with another serial number, where it has one."""
    at = Space(data).extended.get(SERIAL) if len(data) >= 64 else None
    number = data[at + 4 : at + 12][::-1] if at else b""
    if not at or len(number) < 8 or not number.strip(b"\xff"):
        return data
    made = bytes.fromhex(names.wide(number.hex("-")).replace("-", ""))
    return data[: at + 4] + made[::-1] + data[at + 12 :]


def serial_page(data: bytes, names: Pseudonyms) -> bytes:
    """A Unit Serial Number VPD page (SPC-4, 7.8.15) with another serial number, as long as the first."""
    serial = data[4:].decode("latin-1")
    return data[:4] + serial.replace(serial.strip(" \0"), names.serial(serial.strip(" \0"))).encode("latin-1")


def spaces(text: str, names: Pseudonyms) -> str:
    """The output of lspci -xxxx with other serial numbers in its dumps of config space; any other text as it is."""
    return _DUMP.sub(lambda found: _dumped(found[0], names), text)


def _dumped(text: str, names: Pseudonyms) -> str:
    offsets, rows = zip(*(line.split(": ") for line in text.splitlines()), strict=True)
    made = pci_config(bytes.fromhex(" ".join(rows)), names)
    return "".join(f"{offset}: {made[at * 16 : at * 16 + 16].hex(' ')}\n" for at, offset in enumerate(offsets))


def dmi(table: bytes, names: Pseudonyms) -> bytes | None:
    """The SMBIOS structures; of those that no section reads, with serials and UUIDs of any kind, only the frame.

    None when a structure does not end within the table.
    """
    made, at = b"", 0
    while at + 4 <= len(table):
        kind, length = table[at], table[at + 1]
        end = table.find(b"\0\0", at + length)
        if length < 4 or end < 0:
            return None
        head, texts = table[at : at + length], table[at + length : end].split(b"\0")
        if kind in _TELLING:
            texts = _strings(head, texts, _TELLING[kind], names)
        elif kind not in (_BIOS, _IPMI, _END):
            head, texts = head[:4] + bytes(length - 4), [b"x" * len(text) for text in texts]
        made += head + b"\0".join(texts) + b"\0\0"
        at = end + 2
        if kind == _END:
            break
    return made


def _strings(head: bytes, texts: list[bytes], offsets: tuple[int, ...], names: Pseudonyms) -> list[bytes]:
    made = [*texts]
    for index in {head[offset] for offset in offsets if offset < len(head)}:
        if 0 < index <= len(texts):
            text = texts[index - 1].decode("latin-1")
            made[index - 1] = names.serial(text).encode("latin-1") if told(text) else texts[index - 1]
    return made
