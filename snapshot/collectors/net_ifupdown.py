"""Interfaces set up by ifupdown and ifupdown2, from /etc/network/interfaces.

interfaces(5), interfaces-bridge and interfaces-bond of ifupdown2, bridge-utils-interfaces(5). Words in a line; a \\ at
the end goes on in the next; # begins a comment line. ``iface NAME`` may stand once for each address family: both set up
one interface, the later option counts, up and the like add up. An option may be written with _ for -. ``source``
names a file or pattern, ``source-directory`` a folder of which names of letters, digits, _ and - count; only
/etc/network/interfaces.d is followed, as Debian and Proxmox VE have it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from fnmatch import fnmatchcase

from ..records import field, record
from ..regexes import regex
from ..sections.net import Setting, Stanza
from .base import Reading
from .net_lines import setting

FILE, FOLDER = "/etc/network/interfaces", "/etc/network/interfaces.d"
PATHS = (FILE, FOLDER, f"{FOLDER}/*")
_KEPT = regex(
    r"mtu|txqueuelen|hwaddress|bridge-[a-z-]+|(?:bond|slaves)(?:-[a-z-]+)?|vlan-[a-z-]+|vxlan-[a-z-]+|link-[a-z-]+"
    r"|offload-[a-z-]+|ethernet-[a-z-]+|hardware-[a-z-]+|ethtool-[a-z-]+|gro-offload|tso-offload|lro-offload"
)
_HOOKS = ("pre-up", "up", "post-up", "down", "pre-down", "post-down")
_TUNES = regex(r"ethtool|/sys/|/proc/|\bip (?:-\S+ )*link\b|\btc\b|sysctl|setpci|affinity|txqueuelen|\bmtu\b")
_AUTO = regex("auto|allow-.*")
_PLAIN = regex("[A-Za-z0-9_-]+")
_TOP = ("mapping", "rename", "template", "no-auto-down", "no-scripts", "source", "source-directory", "vlan")


@record()
class _Draft:
    options: dict[str, Setting] = field(default_factory=dict)
    hooks: list[Setting] = field(default_factory=list)


@record()
class Interfaces:
    """What files of this form say, as they are read one by one."""

    stanzas: dict[str, _Draft] = field(default_factory=dict)
    auto: set[str] = field(default_factory=set)
    sources: list[str] = field(default_factory=list)  # patterns met in the file read last

    def take(self, text: str, file: str) -> Interfaces:
        """Itself, with the lines of FILE. Any text is such a file; a line that sets nothing is passed over."""
        current: _Draft | None = None
        self.sources = []
        for number, line in _lines(text):
            word, rest = (*line.split(maxsplit=1), "", "")[:2]
            if word == "iface" and rest:
                name = rest.split()[0]
                current = self.stanzas.setdefault(name, _Draft()) if name != "lo" else None
            elif _AUTO.fullmatch(word) or word in _TOP:
                current = None
                self._top(word, rest.strip(), file)
            elif current is not None:
                _option(current, word, rest, file, number, line)
        return self

    def stanza_table(self) -> dict[str, Stanza]:
        """By interface name; an interface that is only named by auto has no stanza."""
        return {
            name: Stanza(options=draft.options, auto=name in self.auto or None, hooks=draft.hooks or None)
            for name, draft in sorted(self.stanzas.items())
        }

    def _top(self, word: str, rest: str, file: str) -> None:
        if word.startswith("source"):
            path = posixpath.join(posixpath.dirname(file), rest)
            self.sources.append(f"{path.rstrip('/')}/" if word == "source-directory" else path)
        elif word not in _TOP:
            self.auto.update(rest.split())


def read(reading: Reading) -> dict[str, Stanza] | None:
    """What /etc/network says; None where it has no such file."""
    text = reading.config(FILE, "ifupdown")
    if text is None:
        return None
    found = Interfaces().take(text, FILE)
    names = reading.list(FOLDER, "ifupdown") if found.sources else []
    for source in found.sources.copy():
        if FOLDER not in (posixpath.normpath(source), posixpath.dirname(posixpath.normpath(source))):
            reading.unread(("ifupdown",), source, "sourced from a place that is not read")
        for name in names:
            if sourced(source, name) and (part := reading.config(f"{FOLDER}/{name}", "ifupdown")) is not None:
                found.take(part, f"{FOLDER}/{name}")
                if found.sources:
                    reading.unread(("ifupdown",), f"{FOLDER}/{name}", "sources further files")
    return found.stanza_table()


def sourced(source: str, name: str) -> bool:
    """Whether a source line (a folder ends in /) stands for the file NAME of interfaces.d."""
    if source.rstrip("/") == FOLDER and (source.endswith("/") or source == FOLDER):
        return bool(_PLAIN.fullmatch(name))
    folder, pattern = posixpath.split(source)
    return folder == FOLDER and fnmatchcase(name, pattern) and (not name.startswith(".") or pattern.startswith("."))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Number of the first line, and the line joined with those it goes on in."""
    joined, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if not joined and line.lstrip().startswith("#"):
            continue
        start = start if joined else number
        joined += line.removesuffix("\\")
        if not line.endswith("\\"):
            yield start, joined
            joined = ""
    if joined:
        yield start, joined


def _option(draft: _Draft, word: str, rest: str, file: str, number: int, line: str) -> None:
    name = word.replace("_", "-")
    if name in _HOOKS:
        if _TUNES.search(rest):
            draft.hooks.append(setting(f"{name} {rest}", file, number, line))
    elif _KEPT.fullmatch(name) and rest.strip():
        draft.options[name] = setting(rest, file, number, line)
