"""Configuration files in systemd's form: sections, KEY=VALUE, and where each stands.

systemd.syntax(7), config_parse() in src/shared/conf-parser.c. A line that ends in a backslash goes on, with a blank in
its place; comment lines (# or ;) within are skipped. Blanks round key and value go. A line before the first section,
or without =, sets nothing. An empty value makes a list forget what stood above it; dependencies do not forget.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..records import record
from ..sections.base import Origin
from ..sections.units import Setting
from .units_lines import redacted

_LISTS = ("Exec", "Condition", "Assert")
_DEPENDENCIES = ("After", "Before", "Wants", "Requires", "Requisite", "BindsTo")


@record(frozen=True)
class Line:
    """One assignment."""

    section: str
    key: str
    value: str
    file: str
    number: int

    def origin(self) -> Origin:
        """Where it stands."""
        return Origin(file=self.file, line=self.number, text=f"{self.key}={redacted(self.value)}")

    def setting(self) -> Setting:
        """Its value with where it stands."""
        return Setting(value=redacted(self.value), origin=self.origin())


def parse(text: str, file: str) -> list[Line]:
    """The assignments of a file, in order. Any text has some or none."""
    lines, section = list[Line](), ""
    for number, line in _logical(text.removeprefix("\ufeff")):
        key, equals, value = line.partition("=")
        if line.startswith("["):
            section = line[1:-1] if line.endswith("]") else ""
        elif equals and section:
            lines.append(Line(section, key.rstrip(), value.lstrip(), file, number))
    return lines


def _logical(text: str) -> Iterable[tuple[int, str]]:
    start, parts = 0, list[str]()
    for number, raw in enumerate(text.replace("\r", "").split("\n"), 1):
        line = raw.lstrip()
        if line[:1] in ("#", ";") or not (line or parts):
            continue
        start = start or number
        goes_on = (len(line) - len(line.rstrip("\\"))) % 2
        parts.append(line[:-1] if goes_on else line)
        if not goes_on:
            yield start, " ".join(filter(None, map(str.strip, parts)))
            start, parts = 0, []
    if parts:
        yield start, " ".join(filter(None, map(str.strip, parts)))


def effective(lines: Iterable[Line]) -> list[Line]:
    """LINES of a fragment and its drop-ins, in reading order, without what an empty value makes forgotten."""
    kept: list[Line] = []
    for line in lines:
        if line.value:
            kept.append(line)
        elif line.key.startswith(_LISTS):
            group = line.key if line.key.startswith("Exec") else ""
            kept = [k for k in kept if k.key != group and (group or not k.key.startswith(("Condition", "Assert")))]
        else:
            kept = [k for k in kept if k.key != line.key or k.key in _DEPENDENCIES]
    return kept


def last(lines: Iterable[Line], section: str, key: str) -> Line | None:
    """The assignment of KEY that counts, where one value counts."""
    return next((line for line in reversed(list(lines)) if (line.section, line.key) == (section, key)), None)


def words(lines: Iterable[Line], section: str, *keys: str) -> list[str] | None:
    """All words of the values of KEYS, sorted; None when there are none."""
    found = {word for line in lines if line.section == section and line.key in keys for word in line.value.split()}
    return sorted(found) or None
