"""What is to be mounted at boot, from /etc/fstab and the .mount units of /etc/systemd/system.

fstab(5), systemd.mount(5), systemd-fstab-generator(8). Six fields: source, place, type, options, dump, check; # begins
a comment line; blanks within a field are \\040. Options may be missing. systemd takes one line for a place, the first.
A unit's file name is its place (systemd-escape --path), and Where= says it too.
"""

from __future__ import annotations

import re

from ..regexes import regex
from ..sections.base import Origin
from ..sections.storage import Fstab, IgnoredLine
from .addresses import without_addresses
from .base import Reading
from .secrets import redacted
from .storage_mounts import decode_place, kept_options

FSTAB = "/etc/fstab"
UNITS = "/etc/systemd/system"
PATHS = (FSTAB, UNITS, f"{UNITS}/*.mount", f"{UNITS}/*/*.mount")
_SECRET = regex(r"((?:^|[\s,])(?:user(?:name)?|domain|pass(?:word)?|secret|key)=)[^\s,]+", re.IGNORECASE)
_OPTION = regex(r"\s*(What|Where|Type|Options)\s*=\s*(.*?)\s*")


def parse_fstab(text: str, file: str = FSTAB) -> tuple[dict[str, Fstab], list[IgnoredLine]]:
    """Lines by place, swap by what it is; and lines that mount nothing. Any text is such a file."""
    found: dict[str, Fstab] = {}
    ignored: list[IgnoredLine] = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        origin = Origin(file=file, line=number, text=shown(line))
        source = shown(decode_place(fields[0]))
        place = decode_place(fields[1]) if len(fields) > 1 else ""
        key = source if place in ("none", "swap") else place
        if not place:
            ignored.append(IgnoredLine(why="no place", origin=origin))
        elif key in found:
            ignored.append(IgnoredLine(why=f"line {found[key].origin.line} is for the same place", origin=origin))
        else:
            found[key] = Fstab(
                source=source, fstype=fields[2] if len(fields) > 2 else "auto",
                options=kept_options(fields[3]) if len(fields) > 3 else ["defaults"],
                check=_digit(fields[5] if len(fields) > 5 else "0"), origin=origin,
            )
    return dict(sorted(found.items())), ignored


def read_units(reading: Reading) -> dict[str, Fstab] | None:
    """The units that an administrator wrote, by place; None without any."""
    names = [name for name in reading.list(UNITS, "mount_units") if name.endswith(".mount")]
    wanted = {path.rsplit("/", 1)[1] for path in reading.glob(f"{UNITS}/*/*.mount", "mount_units")} if names else set()
    found: dict[str, Fstab] = {}
    for name in names:
        path = f"{UNITS}/{name}"
        stat = reading.stat(path, "mount_units")
        text = reading.config(path, "mount_units") if stat is not None and stat.type == "file" else None
        unit = parse_unit(text or "", path, name in wanted)
        if unit:
            found[unit[0]] = unit[1]
    return dict(sorted(found.items())) or None


def parse_unit(text: str, file: str, enabled: bool) -> tuple[str, Fstab] | None:
    """Place and mount of a unit; None when it says no What= and Where=. Any text is such a file."""
    values: dict[str, str] = {}
    where: tuple[int, str] = (0, "")
    for number, line in enumerate(text.splitlines(), 1):
        if match := _OPTION.fullmatch(line):
            values[match[1]] = match[2]
            where = (number, line) if match[1] == "What" else where
    if not values.get("What") or not values.get("Where"):
        return None
    return values["Where"], Fstab(
        source=shown(values["What"]), fstype=values.get("Type") or "auto",
        options=kept_options(values.get("Options", "")), enabled=enabled,
        origin=Origin(file=file, line=where[0], text=shown(where[1])),
    )


def shown(line: str) -> str:
    """LINE without secrets, user names and IP addresses."""
    return _SECRET.sub(r"\1<redacted>", redacted(without_addresses(line)))


def _digit(text: str) -> int:
    return int(text) if len(text) < 4 and text.isascii() and text.isdigit() else 0
