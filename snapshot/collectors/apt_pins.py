"""Pins of packages, from /etc/apt/preferences.d/* and /etc/apt/preferences.

apt_preferences(5): records as in deb822(5), of which Package, Pin and Pin-Priority count; Explanation and lines
that begin with # do not. A record without one of the three pins nothing. Of the files in preferences.d only
those count that end in .pref or have no dot.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..regexes import regex
from ..sections.base import Origin
from ..sections.packages import Pin
from .secrets import redacted

_COUNTS = regex(r"[A-Za-z0-9_-](?:[A-Za-z0-9_.-]*\.pref|[A-Za-z0-9_-]*)")
_PRIORITY = regex(r"[+-]?[0-9]{1,9}")


def counts(name: str) -> bool:
    """Whether apt reads a file of this name in preferences.d."""
    return _COUNTS.fullmatch(name) is not None


def parse(text: str, file: str) -> list[Pin]:
    """The pins of FILE in order."""
    record: dict[str, tuple[str, Origin]] = {}
    pins: list[Pin] = []
    last = ""
    for number, raw in enumerate([*text.split("\n"), ""], 1):
        line = raw.rstrip("\r")
        key, colon, value = line.partition(":")
        if not line.strip():
            pins += _pin(record)
            record = {}
        elif line[0] in " \t" and last in record:
            record[last] = (f"{record[last][0]} {line.strip()}".strip(), record[last][1])
        elif colon and not line.startswith("#"):
            last = key.strip().lower()
            record[last] = (value.strip(), Origin(file=file, line=number, text=redacted(line)))
    return pins


def _pin(record: dict[str, tuple[str, Origin]]) -> Iterable[Pin]:
    if {"package", "pin", "pin-priority"} <= record.keys():
        priority = record["pin-priority"][0]
        yield Pin(
            packages=record["package"][0], pin=redacted(record["pin"][0]),
            priority=int(priority) if _PRIORITY.fullmatch(priority) else None, origin=record["package"][1],
        )
