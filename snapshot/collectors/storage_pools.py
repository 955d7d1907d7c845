"""ZFS pools from /proc/spl/kstat/zfs, and md arrays from /proc/mdstat.

zfs(4), md(4). A folder of kstat/zfs is a pool; before ZFS 0.8 it has no ``state``. /etc/zfs/zpool.cache is a list of
names and values in XDR (RFC 4506): length of the name in four octets, its letters filled up to four, the type of the
value, its count; a pool's value is one list (19 in include/sys/nvpair.h). In /proc/mdstat
"md0 : active raid1 sdb1[1] sda1[0](F)" begins an array, [2/1] in the next line is devices and those in sync, (S) marks
a spare, (F) a faulty member.
"""

from __future__ import annotations

import errno
import re

from ..errors import ParseError
from ..regexes import regex
from ..sections.storage import Pool, Raid
from .attributes import Attributes
from .base import Reading, why

KSTAT, CACHE, MDSTAT = "/proc/spl/kstat/zfs", "/etc/zfs/zpool.cache", "/proc/mdstat"
PATHS = (KSTAT, f"{KSTAT}/*", f"{KSTAT}/*/state", CACHE, MDSTAT)
_CACHE_LIMIT = 16 << 20
_ONE_LIST = bytes((0, 0, 0, 19, 0, 0, 0, 1))
_ARRAY = regex(r"(md\S*) : (active|inactive)(?: \((read-only|auto-read-only)\))?((?: \S+)*)")
_MEMBER = regex(r"([^\s\[\]]+)\[\d+\]((?:\([A-Z]\))*)")
_COUNT = regex(r"\[(\d{1,5})/(\d{1,5})\] \[[U_]+\]")
_ACTION = regex(r"\s(recovery|resync|reshape|check|repair)\s*=")


def read_pools(reading: Reading) -> dict[str, Pool] | None:
    """Pools by name; None where zfs is not loaded."""
    names = reading.list(KSTAT, "pools")
    stats = {name: reading.stat(f"{KSTAT}/{name}", "pools") for name in names}
    pools = [name for name, stat in stats.items() if stat is not None and stat.type == "directory"]
    cached = _cached(reading, pools)
    found = {name: Pool(state=_state(reading, name), cached=cached.get(name)) for name in pools}
    return found if names else None


def _cached(reading: Reading, pools: list[str]) -> dict[str, bool]:
    cache = reading.attempt(CACHE, _CACHE_LIMIT) if pools else b""
    if isinstance(cache, OSError) and cache.errno != errno.ENOENT:
        for name in pools:
            reading.unread(("pools", name, "cached"), CACHE, why(cache))
        return {}
    return {name: not isinstance(cache, OSError) and names_pool(cache, name) for name in pools}


def _state(reading: Reading, name: str) -> str | None:
    state = Attributes(reading, f"{KSTAT}/{name}", ("pools", name)).text("state", "state")
    reading.settle(state is not None, f"{KSTAT}/{name}/state", "ENOENT", "pools", name, "state")
    return state


def names_pool(cache: bytes, name: str) -> bool:
    """Whether the bytes of a zpool.cache hold a pool NAME."""
    word = name.encode("utf-8", "surrogateescape")
    return len(word).to_bytes(4, "big") + word + bytes(-len(word) % 4) + _ONE_LIST in cache


def read_raids(reading: Reading) -> dict[str, Raid] | None:
    """Arrays by name; None where md is not loaded."""
    text = reading.text(MDSTAT, "raids")
    try:
        return None if text is None else parse_raids(text)
    except ParseError as error:
        reading.unread(("raids",), MDSTAT, str(error))
        return None


def parse_raids(text: str) -> dict[str, Raid]:
    """Arrays by name. ParseError when TEXT is no /proc/mdstat, or has one twice."""
    if not text.startswith("Personalities :"):
        raise ParseError(f"no list of personalities: {text[:80]!r}")
    parts = re.split(r"^(?=md\S* : )", text, flags=re.MULTILINE)
    found = dict(map(_array, parts[1:]))
    if len(found) < len(parts) - 1:
        raise ParseError("an array stands twice")
    return dict(sorted(found.items()))


def _array(part: str) -> tuple[str, Raid]:
    head, _, rest = part.partition("\n")
    match = _ARRAY.match(head)
    if not match:
        raise ParseError(f"no array: {head[:80]!r}")
    words = match[4].split()
    level = words[0] if words and not _MEMBER.fullmatch(words[0]) else None
    members = [found.groups() for word in words if (found := _MEMBER.fullmatch(word))]
    count, action = _COUNT.search(rest), _ACTION.search(rest)
    return match[1], Raid(
        active=match[2] == "active", read_only=True if match[3] else None, level=level,
        devices=int(count[1]) if count else None, working=int(count[2]) if count else None,
        failed=sorted(name for name, marks in members if "(F)" in marks) or None,
        members=sorted(name for name, _ in members) or None, action=action[1] if action else None,
    )
