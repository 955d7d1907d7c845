"""Single values as the kernel writes them, one a file of /proc or /sys, of the machine and of each CPU.

Documentation/filesystems/sysfs.rst, Documentation/admin-guide/cputopology.rst. A list of CPUs may be empty; one that
was never set may read as "(null)". Any other empty file is no value.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from typing import TypeVar

from ..errors import ParseError
from ..sections import base
from .base import Reading, decode, why

T = TypeVar("T")
CPU = "/sys/devices/system/cpu"
CPU_PATHS = (CPU, f"{CPU}/online", f"{CPU}/offline")
_ON, _OFF = ("1", "Y", "true", "enabled"), ("0", "N", "false", "disabled")
_LONGEST = 1 << 16  # characters of a list; 8192 CPUs at their worst need half of it


def parse_switch(text: str) -> bool:
    """1 or 0, Y or N, true or false, enabled or disabled. ParseError when it is none of them."""
    if text not in _ON + _OFF:
        raise ParseError(f"neither on nor off: {text[:80]!r}")
    return text in _ON


def parse_word(text: str) -> str:
    """The text itself. ParseError when it is empty."""
    if not text:
        raise ParseError("nothing in it")
    return text


def parse_words(text: str) -> list[str]:
    """A set of words, sorted. ParseError when it is empty."""
    return sorted(set(parse_word(text).split()))


def parse_cpus(text: str) -> list[int]:
    """CPUs, or NUMA nodes, of a list such as 0-3,8, sorted; none are an empty list. ParseError when it is no list."""
    if text == "(null)":
        return []
    if len(text) > _LONGEST:
        raise ParseError(f"too long for a list of CPUs: {len(text)} characters")
    try:
        return base.parse_cpus(text)
    except ValueError as error:
        raise ParseError(str(error)[:200]) from None


def parse_list(text: str) -> str:
    """As parse_cpus, written again as a list."""
    return base.format_cpus(parse_cpus(text))


def understood(reading: Reading, parse: Callable[[str], T], content: bytes, path: str, *fact: str) -> T | None:
    """What PARSE makes of a content without blanks at its ends; None, unread under FACT, when nothing."""
    try:
        return parse(decode(content).strip(" \t\r\n\0"))
    except ParseError as error:
        reading.unread(fact, path, str(error))
        return None


def value(reading: Reading, parse: Callable[[str], T], path: str, *fact: str) -> T | None:
    """The value in a file; None when it is not there, or, noted as unread under FACT, not to be had."""
    content = reading.bytes(path, *fact)
    return None if content is None else understood(reading, parse, content, path, *fact)


def online(reading: Reading, *fact: str) -> list[int]:
    """The online CPUs; without that list, those that have a folder and are not offline. Unread under FACT when none."""
    content = reading.attempt(f"{CPU}/online")
    if isinstance(content, bytes):
        found = understood(reading, parse_cpus, content, f"{CPU}/online", *fact) or []
    else:
        offline = value(reading, parse_cpus, f"{CPU}/offline", *fact) or []
        names = (name[3:] for name in reading.list(CPU, *fact) if name.startswith("cpu"))
        found = sorted({int(name) for name in names if name.isdecimal() and len(name) < 6}.difference(offline))
    reading.settle(bool(found), CPU, "shows no CPU", *fact)
    return found


def each_cpu(reading: Reading, paths: Mapping[int, str], parse: Callable[[str], T], *fact: str) -> dict[int, T]:
    """The value of each CPU, from its file in PATHS; a CPU whose file is not there has none.

    One that cannot be read or understood is left out and makes the fact unread, noted once; equal contents are
    parsed once.
    """
    known: dict[bytes, T] = {}
    found: dict[int, T] = {}
    broken: tuple[str, str] | None = None
    for cpu, path in paths.items():
        content = reading.attempt(path)
        if isinstance(content, OSError):
            if content.errno not in (errno.ENOENT, errno.ENOTDIR):
                broken = broken or (path, why(content))
        elif content in known:
            found[cpu] = known[content]
        else:
            try:
                found[cpu] = known[content] = parse(decode(content).strip(" \t\r\n\0"))
            except ParseError as error:
                broken = broken or (path, str(error))
    if broken:
        reading.unread(fact, *broken)
    return found
