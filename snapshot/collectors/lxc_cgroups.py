"""Whether a container runs: whether its cgroup holds processes; from /sys/fs/cgroup/GROUP/cgroup.events, memory.events.

lxc.container.conf(5), lxc.cgroup.dir and lxc.cgroup.relative; lxc.system.conf(5), lxc.cgroup.pattern;
cgfsng_payload_create in src/lxc/cgroups/cgfsng.c; cgroup-v2.rst of the kernel, populated and oom_kill.

* The first of these names the cgroup: lxc.cgroup.dir.container, as it is; lxc.cgroup.dir, with lxc.payload.NAME (once
  NAME) below it; the pattern, with lxc.payload below it; lxc.payload.NAME, once lxc/NAME.
* When such a cgroup is still there, LXC takes it with -1, -2, ... behind it (not for lxc.cgroup.dir.container).
* With lxc.cgroup.relative the cgroup stands below that of whoever started the container, which nothing tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import field, record
from ..regexes import regex
from ..sections.lxc import NO_CGROUP2, Part, unquoted
from .base import FactPath, Reading

CGROUP = "/sys/fs/cgroup"
_PAYLOAD = "lxc.payload"
_OOM_KILL = regex(r"^oom_kill ([0-9]{1,19})$", re.MULTILINE | re.ASCII)


@record()
class Cgroups:
    """The cgroups of this host; NAMES are those of the containers of plain LXC, PATTERN is lxc.cgroup.pattern."""

    reading: Reading
    names: list[str]
    pattern: str | None  # None when there is none
    unified: bool = False  # cgroup2 alone is mounted
    _below: dict[str, list[str]] = field(default_factory=dict)
    _running: dict[str, str] = field(default_factory=dict)  # container -> its cgroup

    def look(self) -> None:
        """Finds out what there is."""
        self.unified = self.reading.stat(f"{CGROUP}/cgroup.controllers", "containers") is not None
        self._below[""] = self.reading.list(CGROUP, "containers")

    def running(self, name: str, parts: list[Part], whole: bool, own: str = "") -> bool | None:
        """Whether container NAME runs; None (noted) when that cannot be told, as when PARTS are not its WHOLE text.

        OWN is its lxc.cgroup.dir.container where PARTS do not name one.
        """
        reading, fact = self.reading, ("containers", name, "running")
        if not self.unified:
            reading.unread(fact, CGROUP, NO_CGROUP2)
            return None
        own, above = last(parts, "lxc.cgroup.dir.container") or own, last(parts, "lxc.cgroup.dir")
        before, told = len(reading.unreads), whole and _told(parts, own or above or self.pattern, bool(own or above))
        if group := next((g for g in self._groups(name, own, above, fact) if self._populated(g, fact)), None):
            self._running[name] = group
            reading.settle(True, "", "", *fact)
            return True
        if not told:
            reading.settle(False, CGROUP, "the configuration does not tell its cgroup", *fact)
        return None if len(reading.unreads) > before else False

    def oom_kills(self, name: str) -> int | None:
        """How many processes of container NAME, of which RUNNING was asked, were killed; None when it does not run."""
        if name not in self._running:
            return None
        path = f"{CGROUP}/{self._running[name]}/memory.events"
        found = _OOM_KILL.search(self.reading.text(path, "containers", name, "oom_kills") or "")
        return int(found[1]) if found else None

    def _groups(self, name: str, own: str | None, above: str | None, fact: FactPath) -> Iterator[str]:
        if own and ".." not in own.split("/"):
            yield own.strip("/")
        places = [f"{_PAYLOAD}.%n", "lxc/%n"]
        if above:
            places += f"{above}/{_PAYLOAD}.%n", f"{above}/%n"
        elif self.pattern and "%n" in self.pattern:
            places += self.pattern, f"{self.pattern}/{_PAYLOAD}"
        for place in places:
            if ".." not in place.split("/"):
                yield from self._tried(place.strip("/"), name, fact)

    def _tried(self, place: str, name: str, fact: FactPath) -> Iterator[str]:
        """The cgroup of NAME, %n in PLACE, and those that LXC took instead, which are no other container's."""
        group, others = place.replace("%n", name), {place.replace("%n", n) for n in self.names}
        yield group
        parent, slash, leaf = group.rpartition("/")
        again = re.compile(rf"{re.escape(leaf)}-[0-9]{{1,3}}")
        names = (f"{parent}{slash}{n}" for n in self._list(parent, fact) if again.fullmatch(n))
        yield from (n for n in names if n not in others)

    def _list(self, group: str, fact: FactPath) -> list[str]:
        if group not in self._below:
            before = len(self.reading.unreads)
            names = self.reading.list(f"{CGROUP}/{group}", *fact)
            if len(self.reading.unreads) > before:
                return []
            self._below[group] = names
        return self._below[group]

    def _populated(self, group: str, fact: FactPath) -> bool:
        return "populated 1" in (self.reading.text(f"{CGROUP}/{group}/cgroup.events", *fact) or "").split("\n")


def last(parts: list[Part], key: str) -> str | None:
    """The value of the last line with KEY, as LXC takes it; None when there is none or it is empty."""
    values = [unquoted(line.value) for part in parts for line in part.other or () if line.key == key]
    return values[-1] or None if values else None


def _told(parts: list[Part], place: str | None, fixed: bool) -> bool:
    """Whether the cgroup is known: not relative, not upwards, and a pattern (not FIXED) with a name in it."""
    relative = last(parts, "lxc.cgroup.relative") not in (None, "0")
    upwards = place is not None and ".." in place.split("/")
    return not relative and not upwards and (fixed or place is None or "%n" in place)
