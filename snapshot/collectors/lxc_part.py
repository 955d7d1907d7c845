"""The lxc.* lines of a container as a part of the model, from lines that lxc_config or pve_conf has read.

lxc.container.conf(5); src/lxc/confile.c. An empty value of a list key (lxc.mount.entry, lxc.idmap) makes LXC
forget the lines above it, so mount entries and id maps are what is left; lists of raw lines keep such lines.
Secrets are dropped from a line before anything else looks at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..records import asdict, field, record
from ..regexes import regex
from ..sections.base import Origin
from ..sections.lxc import (
    DeviceRule,
    IdMap,
    Ignored,
    MountEntry,
    Option,
    Part,
    PassedDevice,
    RawKey,
    unquoted,
)
from .secrets import REDACTED
from .secrets import redacted_line as setting_redacted


@record(frozen=True)
class Line:
    """A line KEY = VALUE; the value has no blanks at its ends."""

    key: str
    value: str
    origin: Origin


@record(frozen=True)
class Unordered:
    """The lxc.include line of a directory whose files' order matters and is not known."""

    directory: str
    origin: Origin


Entry = Line | Unordered | Ignored

_ENVIRONMENT = regex(r"\s*+(?:lxc\.environment[\w.-]*+|env(?![\w.-]))[\s:=]*+(?=\S)", re.IGNORECASE)
_IDMAP = regex(r"([ug])\s+(\w{1,20})\s+(\w{1,20})\s+(\w{1,20})", re.ASCII)
_ESCAPE = regex(r"\\(040|011|012|134|\\)")
_DEVICES = ("lxc.cgroup2.devices", "lxc.cgroup.devices")


def redacted_line(line: str) -> str:
    """LINE without the values of environment variables, passwords, keys and tokens."""
    whole = _ENVIRONMENT.match(line)
    return f"{whole[0]}{REDACTED}" if whole else setting_redacted(line)


@record()
class Draft:
    """A part that grows line by line."""

    options: dict[str, Option] = field(default_factory=dict)
    device_rules: list[DeviceRule] = field(default_factory=list)
    mount_entries: list[MountEntry] = field(default_factory=list)
    devices: dict[str, PassedDevice] = field(default_factory=dict)
    idmap: list[IdMap] = field(default_factory=list)
    features: dict[str, Option] = field(default_factory=dict)
    hooks: list[RawKey] = field(default_factory=list)
    includes: list[Option] = field(default_factory=list)
    unordered: list[Option] = field(default_factory=list)
    other: list[RawKey] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)

    def take(self, entries: Iterable[Entry]) -> Draft:
        """Itself, with all of ENTRIES taken in."""
        for entry in entries:
            if isinstance(entry, Line):
                self._line(entry)
            elif isinstance(entry, Unordered):
                self.unordered.append(Option(value=entry.directory, origin=entry.origin))
            else:
                self.ignored.append(entry)
        return self

    def ignore(self, origin: Origin, why: str) -> None:
        """Notes that a line does not do what it says."""
        self.ignored.append(Ignored(why=why, origin=origin))

    def part(self) -> Part:
        """The part; what is empty is left out."""
        return Part.make({name: value for name, value in asdict(self).items() if value})

    def _line(self, line: Line) -> None:
        key, value, origin = line.key, line.value, line.origin
        if key == "lxc.mount.entry":
            self._mount(line)
        elif key == "lxc.idmap":
            self._map(line)
        elif key == "lxc.include":
            self.includes.append(Option(value=value, origin=origin))
        elif key.startswith(_DEVICES) or key in ("lxc.cgroup2", "lxc.cgroup"):
            self.device_rules.append(DeviceRule(key=key, value=value, origin=origin))
        else:
            hook = key.startswith("lxc.hook") or key == "lxc.autodev"
            (self.hooks if hook else self.other).append(RawKey(key=key, value=value, origin=origin))

    def _mount(self, line: Line) -> None:
        fields = [_ESCAPE.sub(_unescape, f) for f in re.split(r"[ \t]+", unquoted(line.value).strip(" \t"))]
        if fields == [""]:
            self._forget(line, [entry.origin for entry in self.mount_entries])
            self.mount_entries = []
        elif len(fields) < 2:
            self._malformed(line, "LXC: no mount entry SOURCE TARGET TYPE OPTIONS; the start fails")
        else:
            self.mount_entries.append(MountEntry(
                source=fields[0], target=fields[1], fstype=fields[2] if len(fields) > 2 else None,
                options=fields[3].split(",") if len(fields) > 3 else [], origin=line.origin,
            ))

    def _map(self, line: Line) -> None:
        value = unquoted(line.value)
        found = _IDMAP.fullmatch(value)
        numbers = [_number(n) for n in found.groups()[1:]] if found else []
        if not value:
            self._forget(line, [entry.origin for entry in self.idmap])
            self.idmap = []
        elif not found or -1 in numbers:
            self._malformed(line, "LXC: no id map u|g CONTAINER HOST COUNT; the start fails")
        else:
            inner, outer, count = numbers
            self.idmap.append(IdMap(
                kind="u" if found[1] == "u" else "g",
                container_id=inner, host_id=outer, count=count, origin=line.origin,
            ))

    def _forget(self, line: Line, origins: Iterable[Origin]) -> None:
        at = f"{line.origin.file}:{line.origin.line}"
        for origin in origins:
            self.ignore(origin, f"LXC: forgotten for the empty value at {at}")

    def _malformed(self, line: Line, why: str) -> None:
        self.other.append(RawKey(key=line.key, value=line.value, origin=line.origin))
        self.ignore(line.origin, why)


def _unescape(found: re.Match[str]) -> str:
    return {"040": " ", "011": "\t", "012": "\n"}.get(found[1], "\\")


def _number(text: str) -> int:
    """An id as strtoul(3) with base 0 reads it (0 in front is octal, 0x hexadecimal); -1 when it is none."""
    base = 16 if text[:2] in ("0x", "0X") else 8 if text.startswith("0") else 10
    try:
        number = int(text, base) if "_" not in text else -1
    except ValueError:
        return -1
    return number if number <= 0xFFFFFFFF else -1
