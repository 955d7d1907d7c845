"""Interface names that udev rules give, from /etc/udev/rules.d.

udev(7). Comma-separated pairs of key, operator and quoted value; == matches, = and := assign. A rule for a network
device says SUBSYSTEM=="net". The later assignment of NAME counts, unless the earlier is :=.
"""

from __future__ import annotations

from ..regexes import regex
from ..sections.net import UdevName
from .base import Reading
from .net_lines import origin, shown
from .secrets import REDACTED, is_secret

FOLDER = "/etc/udev/rules.d"
PATHS = (FOLDER, f"{FOLDER}/*")
_PAIR = regex(r'([A-Z_]+(?:\{[^}"]*\})?)\s*(==|!=|:=|\+=|-=|=)\s*"((?:[^"\\]|\\.)*)"')
_NET = regex(r'SUBSYSTEMS?\s*==\s*"net"')


def read(reading: Reading) -> list[UdevName] | None:
    """The rules in reading order; None without any."""
    names = [name for name in reading.list(FOLDER, "udev_names") if name.endswith(".rules")]
    found = []
    for path in (f"{FOLDER}/{name}" for name in names):
        stat = reading.stat(path, "udev_names")
        if stat is not None and stat.type == "file":  # /dev/null masks a file of /usr/lib
            found += parse_names(reading.config(path, "udev_names") or "", path)
    return found or None


def parse_names(text: str, file: str) -> list[UdevName]:
    """The rules of FILE that name a network interface. Any text is such a file."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or not _NET.search(line):
            continue
        pairs = _PAIR.findall(line)
        names = [value for key, operator, value in pairs if key == "NAME" and operator in ("=", ":=")]
        if names:
            match = {key: REDACTED if is_secret(key) else shown(value)
                     for key, operator, value in pairs if operator == "=="}
            found.append(UdevName(value=shown(names[-1]), match=match, origin=origin(file, number, line)))
    return found
