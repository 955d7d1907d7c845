"""Where configuration names a PCI address literally: sections qemu, lxc, units, modules, net and cmdline.

pct.conf(5), qm.conf(5), setpci(8). Every fact from a file keeps its line, so the lines are looked through as they
stand. What sets nothing is left out: parts of snapshots, pending and refused lines, what a container's last start
generated, units and scripts that nothing starts.

An address is written with or without its domain, with or without its function, and with a domain of eight digits by
nvidia-smi. Two numbers with a colon alone are taken for one only where a passed-through device is named, since they
may as well be a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...records import record
from ...regexes import regex

if TYPE_CHECKING:
    from ...document import Snapshot

Table = Mapping[str, Any]
SECTIONS = ("qemu", "lxc", "units", "modules", "net")
NOT_IN_FORCE = ("snapshots", "pending", "generated", "ignored")
NOT_STARTED = ("disabled", "masked", "masked-runtime")
CMDLINE = "/proc/cmdline"
_ADDRESS = regex(
    r"(?<![\w:.])(?:([0-9a-f]{4}|[0-9a-f]{8}):)?([0-9a-f]{2}):([01][0-9a-f])(?:\.([0-7]))?(?![\w:])", re.IGNORECASE)
_PASSED = regex(r"\s*(hostpci\d+:|map )")


@record(frozen=True)
class Mention:
    """A line that names ADDRESS, as WRITTEN, without .function where all of a device are meant; GUEST: a VM gets it."""

    address: str
    written: str
    file: str
    text: str
    line: int | None = None
    guest: bool = False

    def names(self, address: str) -> bool:
        """Whether it names the function at ADDRESS."""
        return address == self.address or address.rpartition(".")[0] == self.address


def mentions(snapshot: Snapshot) -> Iterator[Mention]:
    """Every address that a line in force names."""
    for section in SECTIONS:
        for origin in _origins(_started(snapshot.table(section))):
            guest = section == "qemu"
            for address, written in addresses(origin["text"], guest and bool(_PASSED.match(origin["text"]))):
                yield Mention(address, written, origin["file"], origin["text"], origin["line"], guest)
    for token in snapshot.table("cmdline").get("tokens", ()):
        for address, written in addresses(token, False):
            yield Mention(address, written, CMDLINE, token)


def addresses(text: str, passed: bool) -> list[tuple[str, str]]:
    """The addresses in TEXT, as the kernel writes them and as they stand; PASSED: a bare bus:device is one too."""
    found = []
    for match in _ADDRESS.finditer(text):
        domain, bus, device, function = match.groups()
        if passed or domain or function:
            start = f"{(domain or '0')[-4:]:>04}:{bus}:{device}".lower()
            found.append((start if function is None else f"{start}.{function}", match[0]))
    return found


def _origins(table: Table) -> Iterator[Table]:
    """Every {file, line, text} in TABLE that is in force."""
    for key, value in table.items():
        if key in NOT_IN_FORCE or (isinstance(value, dict) and _idle(value)):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                yield from [part] if part.keys() == {"file", "line", "text"} else _origins(part)


def _started(section: Table) -> Table:
    """The section without scripts that only units call which are idle."""
    idle = {name for name, unit in section.get("units", {}).items() if _idle(unit)}
    scripts = section.get("scripts", {})
    kept = {path: script for path, script in scripts.items() if not idle.issuperset(script["called_by"])}
    return {**section, "scripts": kept} if idle and scripts else section


def _idle(table: Table) -> bool:
    """Whether it is a unit that is switched off and that nothing starts."""
    return table.get("state") in NOT_STARTED and not table.get("wanted_by")
