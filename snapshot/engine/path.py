"""What a rule's path leads to: a value, MISSING (the host has no such thing), or a ``Gap`` (nobody knows)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..diff.change import MISSING, Side

if TYPE_CHECKING:
    from ..document import Snapshot

Keys = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class Gap:
    """A fact that is unknown with all below it, and why; of a derived fact, WHAT it would have told."""

    path: tuple[str | int, ...]
    source: str
    why: str
    side: Side | None = None
    what: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item stands in a snapshot: the section and the keys down to it."""

    side: Side
    snapshot: Snapshot
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """What the paths of a rule can see. An item is a row of a derived table, or a place in a snapshot."""

    after: Snapshot
    before: Snapshot | None = None
    key: str = ""
    item: Place | Mapping[str, Any] = field(default_factory=dict)
    was: Place | None = None
    fact: Mapping[str, Any] = field(default_factory=dict)
    table: tuple[str, ...] = ()  # "derived" and the table, of a derived item

    def value(self, path: Keys) -> Any:
        """The value at PATH, MISSING or a Gap."""
        root, keys = path[0], path[1:]
        if root in ("before", "after"):
            return self._document("before" if root == "before" else "after", keys)
        start = {"item": self.item, "was": self.was, "fact": self.fact}[str(root)]
        if isinstance(start, Place):
            return look(start.side, start.snapshot, [*start.path, *keys])
        return descend(start or {}, keys)

    def where(self, path: Keys) -> tuple[Side | None, list[str | int]]:
        """Side and full path of what PATH leads to, for evidence."""
        root, keys = path[0], list(path[1:])
        if root in ("before", "after"):
            return ("before" if root == "before" else "after"), keys
        start = self.was if root == "was" else self.item
        if root != "fact" and isinstance(start, Place):
            return start.side, [*start.path, *keys]
        return None, [*self.table, self.key, *keys]

    def _document(self, side: Side, keys: Keys) -> Any:
        snapshot = self.before if side == "before" else self.after
        if snapshot is None:
            return Gap(tuple(keys), "", "there is no snapshot from before", side)
        return look(side, snapshot, keys)


def look(side: Side, snapshot: Snapshot, keys: Keys) -> Any:
    """What a snapshot says at section (or meta) and keys."""
    section, rest = str(keys[0]), keys[1:]
    if section == "meta":
        return descend(snapshot.meta.table(), rest)
    value = descend(snapshot.table(section), rest)
    if value is not MISSING and (rest or value):
        return value
    unread = snapshot.unread(section, [str(key) for key in rest])
    return Gap((section, *unread.path), unread.source, unread.why, side) if unread else value


def descend(start: Any, keys: Keys) -> Any:
    """The value below START; MISSING where a key or index leads nowhere."""
    here = start
    for key in keys:
        if isinstance(here, Mapping):
            here = here.get(key, MISSING)
        elif isinstance(here, list) and isinstance(key, int) and -len(here) <= key < len(here):
            here = here[key]
        else:
            return MISSING
    return here
