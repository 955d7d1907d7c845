"""What a rule's path leads to: a value, MISSING (the host has no such thing), or a ``Gap`` (nobody knows)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ..diff.change import MISSING, Side
from ..records import record

if TYPE_CHECKING:
    from ..document import Snapshot

Keys = Sequence[str | int]
EACH = "*"


@record(frozen=True)
class Gap:
    """A fact that is unknown with all below it, and why; of a derived fact, WHAT it would have told."""

    path: tuple[str | int, ...]
    source: str
    why: str
    side: Side | None = None
    what: str = ""


@record(frozen=True)
class Place:
    """Where an item stands in a snapshot: the section and the keys down to it. A CELL is a value of what stands there.

    Of a per-CPU table that is the value of some CPUs, of a matrix that of two ids. HERE is what stands there, if known.
    """

    side: Side
    snapshot: Snapshot
    path: tuple[str, ...]
    cell: Any = MISSING
    here: Any = MISSING

    def value(self, keys: Keys) -> Any:
        """What the item has at KEYS: a value, MISSING or a Gap."""
        if self.cell is not MISSING:
            return descend(self.cell, keys)
        if self.here is MISSING or EACH in keys:
            return look(self.side, self.snapshot, [*self.path, *keys])
        found = descend(self.here, keys)
        return (_hidden(self.side, self.snapshot, self.path, keys) or found) if found is MISSING else found

    def where(self, keys: Keys) -> tuple[Side | None, list[str | int]]:
        """Side and full path of KEYS below it, for evidence."""
        return self.side, [*self.path, *keys]


@record(frozen=True)
class Row:
    """A row of the derived table NAME; its key ``unknown`` names keys that nobody knows: {source, why} of each."""

    name: str
    key: str
    values: Mapping[str, Any]

    def value(self, keys: Keys) -> Any:
        """What the row has at KEYS: a value, MISSING or a Gap."""
        value = descend(self.values, keys)
        if value is not MISSING or not keys:
            return value
        unknown = self.values.get("unknown")
        if not isinstance(unknown, dict) or keys[0] not in unknown:
            return value
        gap = unknown[keys[0]]
        return Gap(("derived", self.name, self.key, *keys), gap["source"], gap["why"])

    def where(self, keys: Keys) -> tuple[Side | None, list[str | int]]:
        """The derived table, the row and KEYS."""
        return None, ["derived", self.name, self.key, *keys]


Found = Place | Row


class Facts:
    """A derived table by the keys of items; it is worked out when a row is asked for, which many rules do of few."""

    def __init__(self, name: str, derive: Callable[[], Mapping[str, Any]]) -> None:
        self._name, self._derive = name, derive
        self._rows: Mapping[str, Any] | None = None

    def row(self, key: str) -> Row:
        """The row KEY; an empty one where the table has none."""
        if self._rows is None:
            self._rows = self._derive()
        return Row(self._name, key, self._rows.get(key, {}))


@record(frozen=True)
class Scope:
    """What the paths of a rule can see: the judged side (AFTER), the one before it, and the item on both.

    HIDDEN is what hides the item: at most one gap for each snapshot.
    """

    after: Snapshot
    before: Snapshot | None = None
    key: str = ""
    item: Found | None = None
    was: Found | None = None
    facts: Facts | None = None
    fact_key: str = ""
    hidden: tuple[Gap, ...] = ()

    @property
    def fact(self) -> Row | None:
        """The row of the rule's derived table for the item."""
        return self.facts.row(self.fact_key) if self.facts else None

    def value(self, path: Keys) -> Any:
        """The value at PATH, MISSING or a Gap."""
        return reader(path)(self)

    def where(self, path: Keys) -> tuple[Side | None, list[str | int]]:
        """Side and full path of what PATH leads to, for evidence."""
        root, keys = str(path[0]), list(path[1:])
        if root in ("before", "after"):
            return ("before" if root == "before" else "after"), keys
        start = self._start(root)
        return start.where(keys) if start else (None, [self.key, *keys])

    def _start(self, root: str) -> Found | None:
        return self.parent() if root == "parent" else {"item": self.item, "was": self.was, "fact": self.fact}[root]

    def parent(self) -> Place | None:
        """The table that holds the item."""
        here = self.item
        return Place(here.side, here.snapshot, here.path[:-1]) if isinstance(here, Place) else None


def reader(path: Keys) -> Callable[[Scope], Any]:
    """What ``Scope.value`` does with PATH: to be made once where it is asked of many items."""
    root, keys = str(path[0]), tuple(path[1:])
    if root == "after":
        return lambda scope: look("after", scope.after, keys)
    if root == "before":
        gap = Gap(keys, "", "there is no snapshot from before", "before")
        return lambda scope: look("before", scope.before, keys) if scope.before else gap
    if root in ("item", "was", "fact"):
        return _below_found(attrgetter(root), keys)
    if root != "parent":
        raise KeyError(root)
    return lambda scope: parent.value(keys) if (parent := scope.parent()) else MISSING


def _below_found(of: Callable[[Scope], Found | None], keys: Keys) -> Callable[[Scope], Any]:
    ways = () if EACH in keys else keys

    def read(scope: Scope) -> Any:
        found = of(scope)
        if found is None:
            return MISSING
        here: Any = found.values if type(found) is Row else found.here if type(found) is Place else None
        for key in ways:  # nearly all that rules ask are keys of tables that are there
            if type(here) is not dict or (here := here.get(key, MISSING)) is MISSING:
                return found.value(keys)
        return here if ways else found.value(keys)

    return read


def look(side: Side, snapshot: Snapshot, keys: Keys) -> Any:
    """What a snapshot says at section (or meta) and keys; with EACH among them, the list of what each item has."""
    if EACH in keys:
        return _each(side, snapshot, keys)
    section, rest = str(keys[0]), keys[1:]
    if section == "meta":
        return descend(snapshot.meta.table(), rest)
    value = descend(snapshot.table(section), rest)
    if value is not MISSING and (rest or value):
        return value
    return _hidden(side, snapshot, keys, ()) or value


def _hidden(side: Side, snapshot: Snapshot, path: Keys, keys: Keys) -> Gap | None:
    """Why what stands at KEYS below PATH is unknown; None when the host has no such thing."""
    section = str(path[0])
    unread = snapshot.unread(section, [str(key) for key in (*path[1:], *keys)]) if snapshot.gaps(section) else None
    return Gap((section, *unread.path), unread.source, unread.why, side) if unread else None


def _each(side: Side, snapshot: Snapshot, keys: Keys) -> Any:
    at = list(keys).index(EACH)
    rows = look(side, snapshot, keys[:at])
    if isinstance(rows, list):
        return [*_below(rows, keys[at + 1 :])]
    members = known(side, snapshot, keys[:at])
    if isinstance(members, Gap):
        return members
    values = [gap or look(side, snapshot, [*keys[:at], key, *keys[at + 1 :]]) for key, gap in members.items()]
    gap = next((value for value in values if isinstance(value, Gap)), None)
    flat = [part for value in values if value is not MISSING
            for part in (value if EACH in keys[at + 1 :] and isinstance(value, list) else [value])]
    return gap or flat


def known(side: Side, snapshot: Snapshot, path: Keys) -> dict[str, Gap | None] | Gap:
    """The keys of the table at PATH, with the gap for those below which all is unknown, or the gap for all of them.

    Under the key "" stands that there may be more.
    """
    table = look(side, snapshot, path)
    if isinstance(table, Gap):
        return table
    found: dict[str, Gap | None] = dict.fromkeys(table if isinstance(table, dict) else ())
    section, depth = str(path[0]), len(path) - 1
    outcome = snapshot.outcomes.get(section)
    for fact in (outcome and outcome.unread) or ():
        if list(fact.path[:depth]) == list(path[1 : len(fact.path) + 1]):
            key = fact.path[depth] if len(fact.path) > depth else ""
            if key not in found:
                found[key] = Gap((section, *fact.path), fact.source, fact.why, side)
    return found


def descend(start: Any, keys: Keys) -> Any:
    """The value below START; MISSING where a key or index leads nowhere, a list where a key is EACH."""
    here = start
    for at, key in enumerate(keys):
        if key == EACH and isinstance(here, dict | list):
            return [*_below(here, keys[at + 1 :])]
        if isinstance(here, dict):
            here = here.get(key, MISSING)
        elif isinstance(here, list) and isinstance(key, int) and -len(here) <= key < len(here):
            here = here[key]
        else:
            return MISSING
    return here


def _below(table: Mapping[str, Any] | list[Any], keys: Keys) -> Iterator[Any]:
    for part in table.values() if isinstance(table, dict) else table:
        if (value := descend(part, keys)) is not MISSING:
            yield value
