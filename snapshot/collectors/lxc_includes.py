"""What lxc.include lines name, read in place, from files such as /usr/share/lxc/config/common.conf.

lxc.container.conf(5), lxc.include; set_config_includefiles and do_includedir in src/lxc/confile.c.

* A directory (or a name with a / at its end) stands for its files ``*.conf``, hidden ones too, in the order
  of readdir(3), which nobody else can know: they are taken by name, and the line is noted as unordered when
  two of them set one key. Where they share none, the order changes nothing.
* A missing file, or a loop, makes the start fail; a missing directory is fine if the name ends in /.
* Only the places where such files belong are read; what another place holds is unread.
"""

from __future__ import annotations

import posixpath

from ..records import field, record
from ..sections.base import Origin
from ..sections.lxc import Ignored, unquoted
from . import lxc_config
from .base import Reading
from .lxc_part import Entry, Line, Unordered

PLACES = ("/usr/share/lxc", "/etc/lxc", "/var/lib/lxc")
_MOST = 200  # files below one configuration: more is a mistake or an attack
_MOST_LINES = 20_000


@record()
class Includes:
    """Reads included files, each once."""

    reading: Reading
    _parsed: dict[str, list[Entry]] = field(default_factory=dict)

    def expand(self, entries: list[Entry], fact: tuple[str, ...], file: str) -> list[Entry]:
        """ENTRIES of FILE, each lxc.include followed by what it names; what cannot be read is unread FACT."""
        return _Expansion(self, fact).expand(entries, (file,))

    def parsed(self, path: str, fact: tuple[str, ...]) -> list[Entry] | None:
        """The lines of one file as it stands; None when it is not there or (noted) cannot be read."""
        if path not in self._parsed:
            text = self.reading.config(path, *fact)
            if text is None:
                return None
            self._parsed[path] = lxc_config.parse(text, path)
        return self._parsed[path]


@record()
class _Expansion:
    """One configuration being expanded."""

    files: Includes
    fact: tuple[str, ...]
    left: int = _MOST
    left_lines: int = _MOST_LINES

    def expand(self, entries: list[Entry], above: tuple[str, ...]) -> list[Entry]:
        found: list[Entry] = []
        for entry in entries:
            found.append(entry)
            if isinstance(entry, Line) and entry.key == "lxc.include" and (path := unquoted(entry.value)):
                found += self._included(path, entry.origin, above)
        return found

    def _included(self, path: str, origin: Origin, above: tuple[str, ...]) -> list[Entry]:
        clean = posixpath.normpath(path)
        reading = self.files.reading
        if not clean.startswith(tuple(f"{place}/" for place in PLACES)):
            reading.unread(self.fact, path, "included from a place that is not read")
            return []
        noted = len(reading.unreads)
        stat = reading.stat(clean, *self.fact)
        if stat and stat.type == "directory":
            return self._directory(clean, origin, above)
        if stat is None and len(reading.unreads) > noted:
            return []
        if path.endswith("/"):
            what = "no directory; the start fails" if stat else "not there, so nothing is included"
            return [Ignored(why=f"LXC: {path} is {what}", origin=origin)]
        return self._file(clean, origin, above)

    def _directory(self, path: str, origin: Origin, above: tuple[str, ...]) -> list[Entry]:
        names = [n for n in self.files.reading.list(path, *self.fact) if n.endswith(".conf") and len(n) > 5]
        files = [self._file(f"{path}/{name}", origin, above) for name in names]
        keys = [_keys(entries) for entries in files]
        shared = len(set().union(*keys)) < sum(map(len, keys))
        head: list[Entry] = [Unordered(path, origin)] if shared else []
        return head + [entry for entries in files for entry in entries]

    def _file(self, path: str, origin: Origin, above: tuple[str, ...]) -> list[Entry]:
        if path in above:
            return [Ignored(why=f"LXC: {path} includes itself; the start fails", origin=origin)]
        reading = self.files.reading
        if not self.left or self.left_lines < 0:
            what = f"{_MOST_LINES} lines" if self.left else f"{_MOST} files"
            reading.settle(False, path, f"more than {what} are included", *self.fact)
            return []
        self.left -= 1
        noted = len(reading.unreads)
        entries = self.files.parsed(path, self.fact)
        if entries is not None:
            self.left_lines -= len(entries)
            return self.expand(entries, (*above, path))
        if len(reading.unreads) > noted:
            return []
        return [Ignored(why=f"LXC: {path} is not there; the start fails", origin=origin)]


def _keys(entries: list[Entry]) -> set[str]:
    """The keys that ENTRIES set, the device list counted as one."""
    keys = {entry.key for entry in entries if isinstance(entry, Line)}
    return {"lxc.cgroup2.devices" if key.startswith("lxc.cgroup2.devices") else key for key in keys}
