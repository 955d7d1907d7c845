"""The parts of a Proxmox VE container's configuration, from /etc/pve/lxc/ID.conf.

pct.conf(5); parse_pct_config in src/PVE/LXC/Config.pm of pve-container, whose tests are made here in its
order, on the line as it stands:

* ``[pve:pending]`` or ``[NAME]`` (two signs or more: ``[a]`` is no header) begins another part; what follows
  is not live, and a header that comes twice throws its first part away;
* ``#`` at column 0 is the description; there are no other comments, and a blank before a key spoils the line;
* ``lxc.KEY: V``, ``lxc.KEY = V``, ``lxc.KEY=V`` are raw lines, kept in order; ``lxc.KEY : V`` is refused, as
  is a key that Proxmox VE does not know: a warning, and the line counts for nothing;
* ``KEY: V`` is an option, the last one counts; the value of an unknown one is kept as well.
"""

from __future__ import annotations

import re

from ..records import field, record
from ..regexes import regex
from ..sections.base import Origin
from ..sections.lxc import Ignored, Option, Part, RawKey
from . import pve_options
from .lxc_part import Draft, Entry, Line, redacted_line
from .pve_keys import refused

_BLANKS = " \t\n\r\f\v"
_HEADER = regex(r"\[([a-z][a-z0-9_-]+)\]\s*", re.IGNORECASE | re.ASCII)
_RAW = regex(r"(lxc\.[a-z0-9_.-]+)(?::|\s*=)", re.ASCII)
_SNAPSTATE = regex(r"snapstate:\s*(prepare|delete)\s*", re.ASCII)
_OPTION = regex(r"([a-z][a-z_]*[0-9]*):", re.ASCII)
_DEVICE = regex(r"dev(?:[0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])", re.ASCII)


@record()
class Section:
    """What stands below one header: raw lines (and ignored ones) in order, options, what is to be deleted."""

    entries: list[Entry] = field(default_factory=list)
    options: dict[str, Option] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)

    def option(self, name: str) -> str | None:
        """The value of an option."""
        return self.options[name].value if name in self.options else None

    def unprivileged(self) -> bool:
        """Whether Proxmox VE takes the container for unprivileged; to Perl, nonsense is a yes as well."""
        asked = (self.option("unprivileged") or "0").lower() not in ("0", "off", "no", "false")
        return asked or any(isinstance(e, Line) and e.key == "lxc.idmap" for e in self.entries)

    def part(self) -> Part:
        """The part of the model."""
        draft = Draft(deleted=self.deleted)
        for name, option in self.options.items():
            _place(draft, name, option)
        return draft.take(self.entries).part()


@record()
class Conf:
    """A whole file."""

    live: Section = field(default_factory=Section)
    pending: Section | None = None
    snapshots: dict[str, Section] = field(default_factory=dict)


def parse(text: str, file: str) -> Conf:
    """The parts of FILE."""
    return Parser().parse(text, file)


class Parser:
    """What the files of containers and of virtual machines have in common, in the words of containers."""

    pending = regex(r"\[pve:pending\]\s*", re.IGNORECASE | re.ASCII)

    def __init__(self) -> None:
        """For one file."""
        self.conf = Conf()
        self.section = self.conf.live
        self.may_delete = False

    def parse(self, text: str, file: str) -> Conf:
        """The parts of FILE."""
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip(_BLANKS):
                kept = self.redacted(line)
                self.line(kept, Origin(file=file, line=number, text=kept))
        return self.conf

    def redacted(self, line: str) -> str:
        """LINE without secrets."""
        return redacted_line(line)

    def line(self, text: str, origin: Origin) -> None:
        """Takes in one line that is not blank."""
        if self.pending.fullmatch(text):
            self._begin(origin, self.conf.pending)
            self.conf.pending, self.may_delete = self.section, True
        elif header := _HEADER.fullmatch(text):
            self._begin(origin, self.conf.snapshots.get(header[1]))
            # A snapshot called "pending" is taken for the pending part in this one respect.
            self.conf.snapshots[header[1]], self.may_delete = self.section, header[1] == "pending"
        elif text.startswith("#"):
            return
        elif raw := _RAW.match(text):
            self._raw(Line(raw[1], text[raw.end():].strip(_BLANKS), origin))
        else:
            self._option(text, origin)

    def _begin(self, origin: Origin, before: Section | None) -> None:
        self.section = Section()
        if before is not None:
            self._ignore(origin, "this header stands twice: what followed the first one counts for nothing")

    def _raw(self, line: Line) -> None:
        why = refused(line.key)
        if why is None:
            self.section.entries.append(line)
        else:
            self._ignore(line.origin, why)

    def _option(self, text: str, origin: Origin) -> None:
        found = _OPTION.match(text)
        name, value = (found[1], text[found.end():]) if found else ("", "")
        at = text.rfind("snapstate:")
        if name == "description":
            return
        if state := _SNAPSTATE.fullmatch(text, max(at, 0)):
            self._keep("snapstate", state[1], origin)
        elif name == "delete" and value.strip(_BLANKS):
            self._delete(value, origin)
        elif value:
            self._keep(name, value.strip(_BLANKS), origin)
        else:
            self._ignore(origin, "cannot parse the line")

    def _keep(self, name: str, value: str, origin: Origin) -> None:
        if name == "snapstate" and self.section is self.conf.live:
            self._ignore(origin, "drops snapstate outside of a snapshot")
            return
        if before := self.section.options.pop(name, None):
            self._ignore(before.origin, f"{name} stands again at line {origin.line}, which counts")
        self.section.options[name] = Option(value=value, origin=origin)

    def _delete(self, value: str, origin: Origin) -> None:
        if self.may_delete:
            self.section.deleted = [w.removeprefix("!") for w in re.split(r"[,;\s\0]+", value) if w]
        else:
            self._ignore(origin, "takes delete in [pve:pending] only")

    def _ignore(self, origin: Origin, why: str) -> None:
        self.section.entries.append(Ignored(why=f"Proxmox VE: {why}", origin=origin))


def _place(draft: Draft, name: str, option: Option) -> None:
    try:
        if _DEVICE.fullmatch(name):
            draft.devices[name] = pve_options.device(option)
        elif name == "features":
            draft.features = pve_options.features(option)
        elif name == "hookscript":
            draft.hooks.append(RawKey(key=name, value=option.value, origin=option.origin))
        else:
            draft.options[name] = option
    except ValueError as error:
        draft.options[name] = option
        draft.ignore(option.origin, f"Proxmox VE: refuses {name}, {error}; the start fails")
