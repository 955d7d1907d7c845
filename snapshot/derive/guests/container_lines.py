"""Raw lines of containers that do not do what they say, or stop the start, from sections lxc, cpu, os and devices.

pct.conf(5), lxc.container.conf(5); what is wrong with a key or value: ``container_keys``. Proxmox VE skips a line that
it cannot parse with no more than a warning; what stands below a snapshot's header is not the running configuration, and
``echo >>`` appends there. Which devices a line would have opened is told by ``device_access``. A running container that
has started with a line shows that neither LXC nor the kernel refuses it. Lines of packages are nobody's own; include
lines stand in ``container_includes``, entries for devices in ``device_access``.

Row keys, by "ID FILE:LINE"; a key without a value is missing:
    container, who, manager, privileged, running
    file, line, text, origin   the line; origin is the three in one
    place       "FILE:LINE"
    key, value  of a raw line; the key alone of one that is skipped
    fault       ignored: Proxmox VE skips it with a warning
                dropped: LXC skips the rule, which does not parse
                v1-key: a key of cgroup v1 on a host that has cgroup2 alone, or for an LXC that knows none
                wrong-key: a device key that is neither allow nor deny, and counts as deny
                all-devices: the rule a *:* rwm, for which the kernel refuses the whole list
                refused: LXC, the kernel or Proxmox VE refuses it
                below-header: it stands in a snapshot's part, or the pending one, where it counts for nothing
                missing: nothing is wrong with it
    stops_start the next start fails for it
    why         a clause
    effect      what becomes of the container: "cannot open /dev/kfd", "does not start"; missing when nothing does
    snapshot    with below-header: the name of the part
    appended    with below-header: it was not in that part before, and Proxmox VE writes nothing into it
    new         the line that seems to be meant
    denies      devices that it was meant to open, and that the container cannot open for want of it
    now, durable, warnings   commands and sentences: those of ``device_access`` where it denies a device, else an edit
                that counts from the next start on
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Set
from typing import TYPE_CHECKING, Any

from ...records import field, record
from ...regexes import regex
from ...sections.base import Origin
from ...sections.cpu import Cpu
from ...sections.lxc import NO_CGROUP2, Container, Lxc, Part
from ..access.device_access import device_access
from ..access.given_devices import PACKAGED
from ..access.host_devices import Host
from ..access.start_rules import lxc_major, next_rules
from ..facts import Derived
from ..hardware.cpu_lists import cpus
from .container_keys import V1, Fault, fault_of
from .containers import called, down, not_read

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
MEANT = {  # reason of device_access -> fault of the line that it was meant by
    "rule-dropped-by-lxc": "dropped", "rule-ignored-by-pve": "ignored", "v1-key": "v1-key", "wrong-key": "wrong-key",
    "rule-in-snapshot": "below-header", "rule-in-pending": "below-header", "v1-key-refused": "v1-key",
}
PENDING = "pve:pending"
_SKIPPED = regex(r"Proxmox VE: (cannot parse the line|does not know )")
_OPTION = regex(r"\s*([A-Za-z][\w.-]*)\s*[:=]\s*(\S.*)")


def container_lines(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each raw line of a container's own, and for each line that is skipped; BEFORE tells what is new."""
    found, section = Derived(), after.section("lxc")
    if unread := after.unread("lxc", ("containers",)):
        found.unknown.append(_unknown("", unread.source, unread.why))
    if not isinstance(section, Lxc):
        return found
    denied = [row for row in device_access(after, before).rows.values() if row["access"] == "denied"]
    then = before.section("lxc") if before else None
    old = then.containers if isinstance(then, Lxc) else {}
    for key, container in section.containers.items():
        one = _Container(key, container, section, after, [r for r in denied if r["container"] == key], old.get(key))
        found.rows.update(one.rows())
        found.unknown.extend(one.unknown())
    return found


def _unknown(subject: str, source: str, why: str) -> Row:
    return {"subject": subject, "what": "which lines of containers do nothing", "source": source, "why": why}


@record()
class _Container:
    """A container with what its lines are judged by; DENIED are its devices that it cannot open."""

    key: str
    container: Container
    section: Lxc
    snapshot: Snapshot
    denied: list[Row]
    before: Container | None
    possible: Set[int] | None = None
    total: Origin | None = None  # the rule for which the kernel refuses the whole list
    found: dict[str, Row] = field(default_factory=dict)

    def __post_init__(self) -> None:
        cpu, rules = self.snapshot.section("cpu"), next_rules(self.container, self.section, Host.of(self.snapshot))
        self.possible = cpus(cpu.possible) if isinstance(cpu, Cpu) else None
        total = rules.start_fails() if rules else None
        self.total = total.origin if total else None

    def rows(self) -> dict[str, Row]:
        """The rows of its lines, by subject."""
        live = self.container.live
        for line in [*(live.device_rules or ()), *(live.other or ())]:
            if not line.origin.file.startswith(PACKAGED):
                self._add(line.origin, self._fault(line.key, line.value, line.origin), key=line.key, value=line.value)
        for ignored in live.ignored or ():
            if fault := _ignored(ignored.why, ignored.origin):
                self._add(ignored.origin, fault, new=_parsable(ignored.origin.text) if not fault.stops else None)
        for entry in live.mount_entries or ():
            if not (entry.fstype and entry.options) and not entry.source.startswith("/dev/"):
                fault = Fault("refused", "a mount entry needs four fields", True)
                self._add(entry.origin, fault, key="lxc.mount.entry")
        for name, part in self._below():
            self._below_header(name, part)
        return self.found

    def unknown(self) -> Iterator[Row]:
        """The lines of files that it includes and that were not read."""
        for fact in not_read(self.snapshot, self.key):
            yield _unknown(f"{self.key} {fact.source}", fact.source, fact.why)

    def _fault(self, key: str, value: str, origin: Origin) -> Fault | None:
        """What is wrong with a line; nothing of a refusal that the running container disproves."""
        if V1.match(key):
            return self._v1(fault_of(key, value, None))
        if origin == self.total:
            return Fault("all-devices", "the kernel refuses the rule a *:* rwm", True)
        fault = fault_of(key, value, self.possible)
        return None if fault and fault.stops and self._started_with(key, value) else fault

    def _v1(self, fault: Fault | None) -> Fault | None:
        running = self.snapshot.unread("lxc", ("containers", self.key, "running"))
        major = lxc_major(self.snapshot)
        if fault and (major or 0) >= 7:
            return Fault("v1-key", f"LXC {major} does not know it", True, key=fault.key)
        return None if running and running.why == NO_CGROUP2 else fault

    def _started_with(self, key: str, value: str) -> bool:
        part = self.container.generated if self.container.running else None
        lines = [*(part.device_rules or ()), *(part.other or ())] if part else []
        return any((line.key, line.value) == (key, value) for line in lines)

    def _below(self) -> Iterator[tuple[str, Part]]:
        if self.container.pending:
            yield PENDING, self.container.pending
        yield from (self.container.snapshots or {}).items()

    def _below_header(self, name: str, part: Part) -> None:
        """The lines of one part that were meant for a device which is denied, or were appended since before."""
        live = {origin.text for origin in _origins(self.container.live)}
        then = self._part_before(name, part)
        for origin in _origins(part):
            appended = then is not None and origin.text not in {o.text for o in _origins(then)} | live
            if appended or self._meant("below-header", origin):
                why = f"it stands below [{name}]"
                self._add(origin, Fault("below-header", why), snapshot=name, appended=appended or None)

    def _part_before(self, name: str, part: Part) -> Part | None:
        """The snapshot as it was: of the same time, since one of the same name may be another."""
        old = (self.before.snapshots or {}).get(name) if self.before else None
        times = [one.options.get("snaptime") for one in (old, part) if one and one.options]
        same = len(times) == 2 and times[0] and times[1] and times[0].value == times[1].value
        return old if same else None

    def _meant(self, fault: str, origin: Origin) -> list[Row]:
        """The denied devices that a line with this fault was meant for."""
        here = (origin.file, origin.line)
        return [row for row in self.denied if MEANT.get(row["reason"]) == fault and here in _lines_of(row)]

    def _add(self, origin: Origin, fault: Fault | None, **more: Any) -> None:
        one, place = self.container, f"{origin.file}:{origin.line}"
        row: Row = {
            "container": self.key, "who": called(self.key, one), "manager": one.manager, "privileged": one.privileged,
            "running": one.running, **origin.table(), "origin": origin.table(), "place": place, **more,
        }
        if fault:
            row |= {"fault": fault.word, "stops_start": fault.stops or None, "why": fault.why}
            row["new"] = more.get("new") or _new(origin, fault, more)
            row |= self._cure(row, self._meant(fault.word, origin))
            row["effect"] = self._effect(row)
        self.found[f"{self.key} {place}"] = {key: value for key, value in row.items() if value is not None}

    def _cure(self, row: Row, denied: list[Row]) -> Row:
        if not denied:  # nothing to restart a container for
            return {"now": _edit(row)}
        mended = next((one for one in denied if "now" in one), denied[0])
        cures: Row = {name: mended[name] for name in ("now", "durable", "warnings") if name in mended}
        return {"denies": [one["device"] for one in denied], **cures}

    def _effect(self, row: Row) -> str | None:
        if row["stops_start"]:
            return down(self.container)
        return f"cannot open {', '.join(row['denies'])}" if "denies" in row else None


def _ignored(why: str, origin: Origin) -> Fault | None:
    """What a line is called that was not taken in; None of one that does no harm or stands elsewhere."""
    text = origin.text.strip()
    if text.startswith(("#", "lxc.include")) or origin.file.startswith(PACKAGED):
        return None
    who, _, what = why.partition(": ")
    if why.endswith("the start fails"):
        return Fault("refused", f"{who} {what.removesuffix('; the start fails')}", True)
    return Fault("ignored", f"{who} {what}") if _SKIPPED.match(why) else None


def _parsable(text: str) -> str | None:
    """The line as Proxmox VE parses it: no blank in front, none before the colon, a small key."""
    found = _OPTION.fullmatch(text)
    new = f"{found[1].lower()}: {found[2].strip()}" if found else text
    return new if new != text else None


def _new(origin: Origin, fault: Fault, more: Row) -> str | None:
    """The line with the key and value that are meant."""
    old = {name: str(more.get(name, "")) for name in ("key", "value")}
    text = origin.text
    for name, meant in (("value", fault.value), ("key", fault.key)):
        if meant and text.count(old[name]) == 1:
            text = text.replace(old[name], meant)
    return text if text != origin.text else None


def _origins(part: Part) -> list[Origin]:
    """Where the raw lines and devices of a part stand."""
    lines = [*(part.device_rules or ()), *(part.mount_entries or ()), *(part.other or ()), *(part.hooks or ())]
    return [line.origin for line in [*lines, *(part.devices or {}).values()]]


def _lines_of(row: Row) -> list[tuple[str, int]]:
    """The lines that were meant for a device that is denied, for the reason that counts."""
    refused = [row["denied_by"]] if row["reason"] == "v1-key-refused" and "denied_by" in row else []
    also = [line for line in row.get("also", []) if line["reason"] == row["reason"]]
    return [(line["file"], line["line"]) for line in [*refused, *also]]


def _edit(row: Row) -> list[str]:
    """What mends the line wherever it stands in the live part; above the first header, what stood below.

    No line moves up or down for it but those below the header, since other commands name lines by number.
    """
    file, old, new = shlex.quote(row["file"]), row["text"], row.get("new")
    if row["fault"] == "below-header":
        insert = shlex.quote(f"0,/^\\[/{{/^\\[/i {old}")
        return [f"sed '/^\\[/q' {file} | grep -qxF {shlex.quote(old)} || sed -i -e {insert} -e '}}' {file}"]
    edit = f"/^\\[/,$!s|^{_escaped(old, '.*^$[]')}$|{_escaped(new or '', '&')}|"
    return [f"sed -i {shlex.quote(edit)} {file}"]


def _escaped(text: str, signs: str) -> str:
    """TEXT for a part of a sed command between bars, with a backslash before SIGNS."""
    return re.sub(rf"([\\|{re.escape(signs)}])", r"\\\1", text)
