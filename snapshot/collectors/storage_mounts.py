"""What is mounted, from /proc/self/mountinfo.

proc_pid_mountinfo(5). A line is: id, parent, major:minor, root, place, options, any number of tags, ``-``, type,
source, options of the file system. Blank, tab, newline and backslash are \\ and three octal digits. The last mount at a
place is the one seen. A file system that an error made read-only says ro in its own options, and rw in those of the
mount. The numbers in autofs lines (pipe_ino, fd, pgrp) and tmpfs sizes change by themselves.
"""

from __future__ import annotations

from collections import Counter

from ..errors import ParseError
from ..records import record, replace
from ..regexes import regex
from ..sections.mount_kinds import MEMORY, left_out_as
from ..sections.storage import Mount
from .addresses import without_addresses
from .base import decode
from .secrets import redacted

_ESCAPE = regex(rb"\\([0-7]{3})")
_NUMBERS = regex(r"[0-9]{1,9}:[0-9]{1,9}")
_DROPPED = regex(
    "pipe_ino|fd|pgrp|size|nr_inodes|nr_blocks|addr|clientaddr|mountaddr|user|username|domain|pass|password|secret|key"
    "|user_id|group_id|mountport|port|minproto|maxproto|mds_namespace|name"
)
_OPTIONS = regex(r'(?:[^,"]|"[^"]*"?)+')  # mount(8): a value in quotes may hold commas
_SIZE = regex(r"([0-9]{1,15})([kmg]?)")
_UNITS = {"": 0, "k": 0, "m": 10, "g": 20}


@record(frozen=True)
class Mounted:
    """A file system that counts, and the numbers of its device."""

    place: str
    mount: Mount
    device: str


def parse_mounts(text: str) -> tuple[dict[str, Mounted], dict[str, int]]:
    """Mounts by place, and how many of each kind are left out. ParseError on a line of another form."""
    found: dict[str, Mounted] = {}
    left_out: Counter[str] = Counter()
    for number, line in enumerate(text.rstrip("\n").split("\n"), 1):
        mounted = _line(number, line)
        kind = left_out_as(mounted.place, mounted.mount.fstype)
        if kind:
            left_out[kind] += 1
        elif kind is None:
            found[mounted.place] = _over(found.get(mounted.place), mounted)
    return dict(sorted(found.items())), dict(left_out)


def decode_place(text: str) -> str:
    """TEXT with \\040 and the like as the characters that they stand for."""
    if "\\" not in text:
        return text
    data = text.encode("utf-8", "surrogateescape")
    return decode(_ESCAPE.sub(lambda m: bytes([int(m[1], 8) & 0xFF]), data))


def kept_options(text: str) -> list[str]:
    """Options that say something, in order: no secrets, addresses, or numbers that change by themselves."""
    return [
        redacted(without_addresses(option)) for option in _OPTIONS.findall(text)
        if not _DROPPED.fullmatch(option.partition("=")[0])
    ]


def _line(number: int, line: str) -> Mounted:
    head, dash, tail = line.partition(" - ")
    fields, system = head.split(" "), tail.split(" ")
    if not dash or len(fields) < 6 or len(system) < 3 or not _NUMBERS.fullmatch(fields[2]):
        raise ParseError(f"line {number} is no mount")  # unquoted: it may hold a secret
    options = {*kept_options(fields[5]), *kept_options(system[2])}
    options -= {"rw"} if "ro" in options else set()
    root, place = decode_place(fields[3]), decode_place(fields[4])
    size = _size(system[2]) if system[0] in MEMORY else None
    return Mounted(place, Mount(
        source=redacted(without_addresses(decode_place(system[1]))), fstype=system[0], options=sorted(options),
        root=root if root != "/" else None, size_kb=size,
    ), fields[2])


def _over(below: Mounted | None, mounted: Mounted) -> Mounted:
    if below is None:
        return mounted
    return replace(mounted, mount=mounted.mount.copy(covered=(below.mount.covered or 0) + 1))


def _size(options: str) -> int | None:
    word = next((word[5:] for word in options.split(",") if word.startswith("size=")), "")
    match = _SIZE.fullmatch(word)
    return int(match[1]) << _UNITS[match[2]] if match else None
