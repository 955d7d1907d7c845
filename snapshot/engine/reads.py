"""Which facts rules judge: the paths that they name, and what is read by the derived tables that they name.

What a derived table reads stands nowhere but in its code. So it is worked out from snapshots that note what is taken
from them; of a section that it reads as a model, not as a table, all counts as taken. Of values that it goes through
one and all, such as sysctls, those count whose keys a rule that reads the table names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..derive import worked_out
from ..document import Snapshot
from ..records import field, record
from ..sections.base import Model
from ..sections.shape import Path, of_section
from .path import EACH
from .rule import Rule

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_keys, dict_values


@record()
class Reads:
    """What is read at a place and below it: by key, of which * is any. A place that is not WHOLE is only walked."""

    whole: bool = False
    below: dict[str, Reads] = field(default_factory=dict)

    def add(self, path: Path, whole: bool = True) -> None:
        """Note that PATH is read, with all below if WHOLE, or else that it is known to be there."""
        here = self
        for key in path:
            here = here.below.setdefault(key, Reads())
        here.whole |= whole

    def have(self, path: Path) -> bool:
        """Whether something at PATH, above or below it is read."""
        if self.whole or not path:
            return True
        first, rest = path[0], path[1:]
        keys = self.below if first == EACH else {first, EACH}
        return any(key in self.below and self.below[key].have(rest) for key in keys)


def judged_paths(rules: Iterable[Rule], *sides: Snapshot) -> Callable[[Path], bool]:
    """Whether one of RULES reads a path (section first, a key may be *), or something above or below it.

    Forecasts are left out: they read nearly all, and judge no comparison.

    What their derived tables read is seen on SIDES, of which the last is the one after; without any it is not known.
    """
    reads = Reads()
    readers: dict[str, list[Rule]] = {}
    for rule in (rule for rule in rules if rule.scope != "forecast"):
        _note(rule, reads)
        for table in _tables(rule):
            readers.setdefault(table, []).append(rule)
    for table, own in readers.items() if sides else ():
        witnesses = [Witness(side, reads, frozenset(_words(own))) for side in sides]
        worked_out(table, witnesses[-1], witnesses[0] if len(witnesses) > 1 else None)
        worked_out(table, witnesses[0], None)
    return reads.have


def _tables(rule: Rule) -> Iterator[str]:
    yield from ([rule.fact] if rule.fact else [])
    yield from rule.each[1:2] if rule.each[:1] == ["derived"] else []


def _words(rules: Iterable[Rule]) -> Iterator[str]:
    """The words that stand in what the rules compare with."""
    for literal in (one.value for rule in rules for one in rule.conditions()):
        for text in literal if isinstance(literal, list) else [literal]:
            yield from text.split() if isinstance(text, str) else ()


def _note(rule: Rule, reads: Reads) -> None:
    item = _item(rule)
    if item:
        reads.add(item, whole=False)
    for root, *rest in rule.paths():
        keys = tuple(map(str, rest))
        if root in ("before", "after") or (root in ("item", "was") and not rule.each):
            reads.add(keys)
        elif item and root in ("item", "was"):
            reads.add((*item, *keys))
        elif item and root == "parent":
            reads.add((*item[:-1], *keys))


def _item(rule: Rule) -> Path:
    """The path of the items that the rule walks; empty when they are no part of a section."""
    if not rule.each or rule.each[0] == "derived":
        return ()
    shape = of_section(rule.each[0]).at(rule.each[1:])
    return (*rule.each, EACH) if shape and shape.kind == "table" else tuple(rule.each)


class Witness(Snapshot):
    """A snapshot that adds what is read of it to READS; of what is gone through, what has a key among NAMED."""

    def __init__(self, snapshot: Snapshot, reads: Reads, named: frozenset[str] = frozenset()) -> None:
        vars(self).update(vars(snapshot))
        self._seen, self._reads, self._named = snapshot, reads, named

    def table(self, section: str) -> dict[str, Any]:
        """As a snapshot's; it notes what is read."""
        return _Table(self._seen.table(section), (section,), self._reads, self._named)

    def section(self, section: str) -> Model | None:
        """As a snapshot's; what is read of it cannot be seen, so all is."""
        self._reads.add((section,))
        return self._seen.section(section)


class _Table(dict[str, Any]):
    """A table that notes what is read of it."""

    def __init__(self, table: dict[str, Any], path: Path, reads: Reads, named: frozenset[str]) -> None:
        super().__init__(table)
        self._path, self._reads, self._named = path, reads, named

    def _walk(self, key: str) -> None:
        self._reads.add((*self._path, key), whole=False)

    def _of(self, key: str, value: Any) -> Any:
        here = (*self._path, key)
        if isinstance(value, dict):
            self._walk(key)
            return _Table(value, here, self._reads, self._named)
        self._reads.add(here)
        return value

    def _pass(self) -> None:
        """Notes that it is gone through: the tables in it."""
        for key, value in super().items():
            if isinstance(value, dict):
                self._walk(key)

    def _all(self) -> dict[str, Any]:
        return {key: self._of(key, value) if isinstance(value, dict) or key in self._named else value
                for key, value in super().items()}

    def __getitem__(self, key: str) -> Any:
        return self._of(key, super().__getitem__(key))

    def get(self, key: str, default: Any = None, /) -> Any:
        if super().__contains__(key):
            return self[key]
        self._reads.add((*self._path, key))
        return default

    def __contains__(self, key: object) -> bool:
        self._walk(str(key))
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        self._pass()
        return super().__iter__()

    def __len__(self) -> int:
        self._pass()
        return super().__len__()

    def __eq__(self, other: object) -> bool:
        self._reads.add(self._path)
        return super().__eq__(other)

    def __or__(self, other: Any) -> Any:
        return self._all() | other

    def keys(self) -> dict_keys[str, Any]:
        self._pass()
        return super().keys()

    def items(self) -> dict_items[str, Any]:
        return self._all().items()

    def values(self) -> dict_values[str, Any]:
        return self._all().values()

    def copy(self) -> dict[str, Any]:
        return self._all()
