"""Swap areas, zram and zswap, from /proc/swaps, /sys/block/zram* and /sys/module/zswap.

proc(5); Documentation/admin-guide/blockdev/zram.rst, mm/zswap.rst. /proc/swaps has columns Filename, Type, Size, Used
(KiB) and Priority. In a name blank, tab, newline and backslash are octal (\\040), other bytes stand as they are
(swap_show() of the kernel's mm/swapfile.c); a file that was removed has \\040(deleted) at its end.
"""

from __future__ import annotations

import re

from ..errors import ParseError
from ..sections.memory import Swap, Zram, Zswap
from .attributes import integer, marked
from .base import Reading
from .kernel_values import parse_switch, parse_word, value
from .storage_mounts import decode_place

SWAPS, BLOCK, ZSWAP = "/proc/swaps", "/sys/block", "/sys/module/zswap/parameters"
SWAP_PATHS = (
    SWAPS, BLOCK, f"{BLOCK}/zram*/disksize", f"{BLOCK}/zram*/comp_algorithm",
    *(f"{ZSWAP}/{name}" for name in (
        "enabled", "compressor", "zpool", "max_pool_percent", "accept_threshold_percent", "shrinker_enabled")),
)


def read_swaps(reading: Reading) -> dict[str, Swap] | None:
    """Areas in use, none in an empty table; None when the kernel cannot swap."""
    return value(reading, parse_swaps, SWAPS, "swaps")


def parse_swaps(text: str) -> dict[str, Swap]:
    """The areas by device or file. ParseError names the line that is none, or that the head is missing."""
    lines = text.rstrip("\n").split("\n")
    if not lines[0].startswith("Filename"):
        raise ParseError(f"no head of a table of swap areas: {text[:80]!r}")
    found: dict[str, Swap] = {}
    for line in lines[1:]:
        words = re.findall(r"[^ \t\r]+", line)
        if len(words) != 5:
            raise ParseError(f"no swap area: {line[:80]!r}")
        size, used, priority = map(integer, words[2:])
        found[decode_place(words[0])] = Swap(
            type=words[1], size_bytes=size << 10, used_bytes=used << 10, priority=priority)
    return found


def read_zram(reading: Reading) -> dict[str, Zram] | None:
    """Devices that were given a size, by name; None when there are none."""
    found: dict[str, Zram] = {}
    for name in reading.list(BLOCK, "zram"):
        if name.startswith("zram"):
            size = value(reading, integer, f"{BLOCK}/{name}/disksize", "zram", name)
            if size:
                algorithm = value(reading, marked, f"{BLOCK}/{name}/comp_algorithm", "zram", name, "algorithm")
                found[name] = Zram(size_bytes=size, algorithm=algorithm)
    return found or None


def read_zswap(reading: Reading) -> Zswap | None:
    """The parameters; None when the kernel has no zswap."""
    def word(name: str) -> str | None:
        return value(reading, parse_word, f"{ZSWAP}/{name}", "zswap", name)

    def percent(name: str) -> int | None:
        return value(reading, integer, f"{ZSWAP}/{name}", "zswap", name)

    found = Zswap(
        enabled=value(reading, parse_switch, f"{ZSWAP}/enabled", "zswap", "enabled"),
        compressor=word("compressor"), zpool=word("zpool"),
        max_pool_percent=percent("max_pool_percent"), accept_threshold_percent=percent("accept_threshold_percent"),
        shrinker_enabled=value(reading, parse_switch, f"{ZSWAP}/shrinker_enabled", "zswap", "shrinker_enabled"),
    )
    return found if found.table() else None
