"""What tunables were in an earlier snapshot, by the diff's pairing of functions, GPUs, interfaces and disks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...pairing import pair
from ...records import replace
from ...sections.base import expand, format_cpus, parse_cpus
from ...sections.shape import of_section
from ..pci.pci_tree import moves
from .tunable import Path, Tunable, Value
from .tunable_facts import at

if TYPE_CHECKING:
    from ...document import Snapshot

KEYED = (("pci", "functions"), ("nvidia", "gpus"), ("amdgpu", "gpus"), ("net", "interfaces"), ("storage", "blocks"))
BY_ADDRESS = (("power", "runtime_pm"), ("irq", "devices"))  # tables whose keys are those of pci.functions


def with_before(found: Iterable[Tunable], after: Snapshot, before: Snapshot | None) -> Iterator[Tunable]:
    """Each tunable with its value in BEFORE; what CPUs have is parted by that value."""
    if before is None:
        yield from found
        return
    then = _Before(after, before)
    for tunable in found:
        if tunable.cpus:
            yield from then.parted(tunable)
        else:
            tunable.before = then.value(tunable)
            yield tunable


class _Before:
    """The values of an earlier snapshot, by the places of a later one."""

    def __init__(self, after: Snapshot, before: Snapshot) -> None:
        self._before = before
        self._tables: dict[str, Mapping[str, Any]] = {}
        self._after = after
        self._keys: dict[Path, Mapping[str, str]] = {}
        self._folders: dict[Path, Mapping[str, Any] | None] = {}
        self._cpus: dict[Path, Mapping[int, Value]] = {}

    def value(self, tunable: Tunable) -> Value | None:
        """The value of the same tunable; None where it was not there, or not read."""
        folder = tunable.path[:-1]
        if folder not in self._folders:
            self._folders[folder] = self._folder(folder)
        table = self._folders[folder]
        if table is None:
            return None
        found = table.get(tunable.path[-1])
        return tunable.otherwise if found is None else tunable.show(found)

    def _folder(self, path: Path) -> Mapping[str, Any] | None:
        """The table in which the values below PATH stood."""
        section, *keys = path
        known = self._known((section, *keys[:1]))
        if known is not None and len(keys) > 1:
            if keys[1] not in known:
                return None
            keys[1] = known[keys[1]]
        found = at(self._table(section), keys)
        if found is None and section == "modules":  # what was built in may be a module now
            found = at(self._table(section), ["builtin" if keys[0] == "loaded" else "loaded", *keys[1:]])
        if section == "power" and known is not None and found is not None:  # the function is the last key
            return {now: found[then] for now, then in known.items() if then in found}
        return found if isinstance(found, dict) else None

    def _known(self, place: Path) -> Mapping[str, str] | None:
        """Key after -> key before of the table at PLACE; None where its keys are names."""
        place = KEYED[0] if place in BY_ADDRESS else place
        if place not in self._keys and place in KEYED:
            self._keys[place] = _pairs(self._after, self._before, place)
        return self._keys.get(place)

    def parted(self, tunable: Tunable) -> Iterator[Tunable]:
        """One for each value that its CPUs had."""
        values = self._of_cpus(tunable)
        groups: dict[Value | None, list[int]] = {}
        for cpu in parse_cpus(tunable.subject):
            groups.setdefault(values.get(cpu), []).append(cpu)
        for value, cpus in groups.items():
            yield replace(tunable, subject=format_cpus(cpus), before=value) if len(groups) > 1 else _had(tunable, value)

    def _of_cpus(self, tunable: Tunable) -> Mapping[int, Value]:
        if tunable.path not in self._cpus:
            table = at(self._table(tunable.path[0]), tunable.path[1:]) or {}
            self._cpus[tunable.path] = expand(table, tunable.cpus or str)
        return self._cpus[tunable.path]

    def _table(self, section: str) -> Mapping[str, Any]:
        if section not in self._tables:
            self._tables[section] = self._before.table(section)
        return self._tables[section]


def _had(tunable: Tunable, value: Value | None) -> Tunable:
    tunable.before = value
    return tunable


def _pairs(after: Snapshot, before: Snapshot, place: Path) -> Mapping[str, str]:
    """Key after -> key before of the items of a keyed table."""
    section, name = place
    shape = of_section(section).at((name,))
    items = [snapshot.table(section).get(name, {}) for snapshot in (before, after)]
    known = None if section == "pci" else moves(before, after)
    return pair(items[0], items[1], shape.item, known).before_of if shape and shape.item else {}
