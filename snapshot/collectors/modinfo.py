"""What a kernel module file says of itself, from /lib/modules/RELEASE/**/*.ko, .ko.xz, .ko.zst and .ko.gz.

elf(5); the section .modinfo holds key=value texts, each ended by a NUL (include/linux/moduleparam.h). A signed module
ends in a PKCS #7 message, struct module_signature (its last four bytes the message's length, big-endian), and the
magic text (scripts/sign-file.c). The message names the issuer of the signing certificate, of which the common name is
what modinfo(8) calls the signer. A module signed without certificate names has none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Literal, Protocol

from ..errors import ParseError
from ..records import record

UNPACKED = 256 << 20  # bytes of one module; NVIDIA's proprietary one has some 100 million
MAGIC = b"~Module signature appended~\n"
_TRAILER = 12
_COMMON_NAME = b"\x06\x03\x55\x04\x03"  # object identifier 2.5.4.3
_TEXTS = (0x0C, 0x13, 0x14, 0x16)  # UTF8String, PrintableString, T61String, IA5String
_ORDERS: dict[int, Literal["little", "big"]] = {1: "little", 2: "big"}
_NAMES = 1 << 20  # bytes of section names


@record(frozen=True)
class ModInfo:
    """The keys of .modinfo, first value each, and who signed."""

    fields: dict[str, str]
    signer: str | None


def parse(data: bytes, name: str) -> ModInfo:
    """What the module file NAME, with content DATA, says. ParseError when it is no whole module."""
    module = unpacked(data, name)
    fields: dict[str, str] = {}
    for text in section(module, b".modinfo").split(b"\0"):
        key, equals, value = text.decode("utf-8", "surrogateescape").partition("=")
        if equals:
            fields.setdefault(key, value)
    return ModInfo(fields, signer(module))


def unpacked(data: bytes, name: str) -> bytes:
    """The module itself, by the suffix of its NAME. ParseError when it cannot be unpacked, or has over 256 MiB."""
    begin = next((how for suffix, how in _SUFFIXES.items() if name.endswith(suffix)), None)
    if begin is None:
        return data
    unpacker, fault = begin()
    try:
        module = unpacker.decompress(data, UNPACKED + 1)
    except (fault, EOFError, MemoryError) as error:
        raise ParseError(f"cannot unpack: {error}") from None
    if len(module) > UNPACKED or not unpacker.eof:
        raise ParseError("cut short" if len(module) <= UNPACKED else f"has over {UNPACKED >> 20} MiB unpacked")
    return module


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _xz() -> tuple[_Unpacker, type[Exception]]:
    import lzma  # each codec only where a file of its kind is

    return lzma.LZMADecompressor(memlimit=UNPACKED), lzma.LZMAError


def _zst() -> tuple[_Unpacker, type[Exception]]:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.ZstdDecompressor(), zstd.ZstdError


def _gz() -> tuple[_Unpacker, type[Exception]]:
    import zlib

    return zlib.decompressobj(31), zlib.error


_SUFFIXES: dict[str, Callable[[], tuple[_Unpacker, type[Exception]]]] = {".xz": _xz, ".zst": _zst, ".gz": _gz}


def section(module: bytes, wanted: bytes) -> bytes:
    """The content of an ELF section. ParseError when MODULE is no ELF file, is cut short or lacks it."""
    if module[:4] != b"\x7fELF" or len(module) < 64 or module[4] not in (1, 2) or module[5] not in _ORDERS:
        raise ParseError(f"no ELF file: {module[:8].hex(' ')}")
    wide, order = module[4] == 2, _ORDERS[module[5]]

    def number(at: int, size: int) -> int:
        return int.from_bytes(_piece(module, at, size), order)

    table, size, count, names = (
        (number(0x28, 8), number(0x3A, 2), number(0x3C, 2), number(0x3E, 2)) if wide
        else (number(0x20, 4), number(0x2E, 2), number(0x30, 2), number(0x32, 2))
    )

    def place(index: int) -> tuple[int, int]:
        head = table + index * size
        at, width = (0x18, 8) if wide else (0x10, 4)
        return number(head + at, width), number(head + at + width, width)

    at, length = place(names)
    texts = _piece(module, at, min(length, _NAMES))
    for index in range(count):
        start = number(table + index * size, 4)
        if texts[start : start + len(wanted) + 1] == wanted + b"\0":
            return _piece(module, *place(index))
    raise ParseError(f"no section {wanted.decode()}")


def _piece(module: bytes, at: int, size: int) -> bytes:
    if at + size > len(module):
        raise ParseError(f"cut short: {size} bytes at {at} of {len(module)}")
    return module[at : at + size]


def signer(module: bytes) -> str | None:
    """The common name of the issuer in the appended signature; (unnamed) without one, None when it is not signed."""
    if not module.endswith(MAGIC):
        return None
    end = len(module) - len(MAGIC) - _TRAILER
    length = int.from_bytes(module[end + 8 : end + 12], "big") if end >= 0 else 0
    if not 0 < length <= end:
        raise ParseError(f"a signature of {length} bytes in {len(module)}")
    message = module[end - length : end]
    at = message.find(_COMMON_NAME) + len(_COMMON_NAME)
    if at < len(_COMMON_NAME) or at + 2 > len(message) or message[at] not in _TEXTS or message[at + 1] > 0x7F:
        return "(unnamed)"
    return message[at + 2 : at + 2 + message[at + 1]].decode("utf-8", "surrogateescape") or "(unnamed)"
