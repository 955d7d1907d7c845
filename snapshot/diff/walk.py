"""The walk that compares one section's two tables, leaf by leaf, guided by the shape of its model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..pairing import NOWHERE, Moves, pair
from ..sections.base import Matrix, expand, format_cpus
from ..sections.shape import LEAF, SETTINGS, Path, Shape
from .change import MISSING, Change, Counts, Incomparable, Side, State
from .selection import Sieve
from .weight import leaves, unknown, weigh

Value = Any  # a TOML value, or MISSING
Table = dict[str, Any]
Unread = Mapping[Path, tuple[str, str]]  # path -> source, why


def same(before: Value, after: Value) -> bool:
    """Whether two TOML values are equal and of equal types all the way down; NaN equals NaN."""
    if type(before) is not type(after):
        return False
    if isinstance(before, dict):
        return before.keys() == after.keys() and all(same(value, after[key]) for key, value in before.items())
    if isinstance(before, list):
        return len(before) == len(after) and all(map(same, before, after))
    return bool(before == after or (before != before and after != after))


def _alike(before: Value, after: Value) -> int:
    """How many facts two unequal values have in common, key by key."""
    if isinstance(before, dict) and isinstance(after, dict):
        return sum(_alike(value, after[key]) for key, value in before.items() if key in after)
    return leaves(before) if same(before, after) else 0


def _above(unread: Unread) -> set[Path]:
    """The places below which something is unknown."""
    return {path[:end] for path in unread for end in range(len(path))}


class Walk:
    """Compares the tables of SECTION. BEFORE and AFTER are the unknown paths of either side."""

    def __init__(self, section: str, before: Unread, after: Unread, sieve: Sieve, moves: Moves = NOWHERE) -> None:
        self.section = section
        self._sieve = sieve
        self._moves = moves
        self.changes: list[Change] = []
        self.incomparable: list[Incomparable] = []
        self.counts = Counts()
        self._unread: dict[Side, Unread] = {"before": before, "after": after}
        self._met: set[Path] = set()  # where the walk came upon unknown facts
        self._above: dict[Side, set[Path]] = {"before": _above(before), "after": _above(after)}
        self._set: set[str] = set()  # keys that a file sets: they do not change by themselves

    def run(self, shape: Shape, before: Table, after: Table) -> None:
        """Compare the whole tables; an unknown path below which no side holds anything counts one fact."""
        if SETTINGS in shape.fields:
            self._set = {*before.get(SETTINGS, ()), *after.get(SETTINGS, ())}
        self._visit(shape, (), (), before, after)
        for path in sorted({*self._unread["before"], *self._unread["after"]}):
            if self._met.isdisjoint(path[:end] for end in range(len(path) + 1)):
                self._not_comparable(LEAF, path, path, MISSING, MISSING)

    def _visit(self, shape: Shape, was: Path, path: Path, before: Value, after: Value) -> None:
        if was in self._unread["before"] or path in self._unread["after"]:
            self._not_comparable(shape, was, path, before, after)
            return
        inner = shape.kind in ("model", "table") and not shape.evidence
        deeper = inner and self._unknown_below(was, path, before, after)
        if not deeper and same(before, after):
            self.counts.same += leaves(before)
        elif shape.evidence:
            equal = _alike(before, after)
            self.counts.same += equal
            self.counts.evidence += max(leaves(before), leaves(after)) - equal
        elif shape.kind == "model" and (deeper or MISSING not in (before, after)):
            for name in sorted({**_table(before), **_table(after)}):
                self._child(shape.fields.get(name, LEAF), name, was, path, before, after)
        elif shape.kind == "table":
            self._keyed(shape, was, path, _table(before), _table(after))
        elif MISSING in (before, after):
            self._change(shape, was, path, before, after)
        else:
            self._differ(shape, was, path, before, after)

    def _child(self, shape: Shape, name: str, was: Path, path: Path, before: Value, after: Value) -> None:
        values = (_table(side).get(name, MISSING) for side in (before, after))
        self._visit(shape, (*was, name), (*path, name), *values)

    def _unknown_below(self, was: Path, path: Path, before: Value, after: Value) -> bool:
        """Whether it takes a look below; of what only one side has, unless the other side knows that it lacks it."""
        one, other = was in self._above["before"], path in self._above["after"]
        return one if before is MISSING else other if after is MISSING else one or other

    def _not_comparable(self, shape: Shape, was: Path, path: Path, before: Value, after: Value) -> None:
        self._met |= {was, path}
        facts, ignored = unknown(shape, self._sieve, was, path, before, after)
        self.counts.ignored += ignored
        if facts:
            side: Side = "before" if was in self._unread["before"] else "after"
            here = was if side == "before" else path
            source, why = self._unread[side][here]
            self.incomparable.append(Incomparable(self.section, here, side, why, source, facts))
            self.counts.not_comparable += facts

    def _keyed(self, shape: Shape, was: Path, path: Path, before: Table, after: Table) -> None:
        pairing = pair(before, after, shape.item or LEAF, self._moves)
        known = not self._unknown_below(was, path, before, after)
        for key in pairing.removed:
            self._visit(self._item(shape, key), (*was, key), (*path, key), before[key], MISSING)
        for key in pairing.added:
            self._visit(self._item(shape, key), (*was, key), (*path, key), MISSING, after[key])
        for key, old in pairing.before_of.items():
            if key != old and key not in pairing.follows:
                self._move((*was, old), (*path, key))
            if known and same(before[old], after[key]):  # which most are: no shape has to be asked for
                self.counts.same += leaves(after[key])
                continue
            self._visit(self._item(shape, key), (*was, old), (*path, key), before[old], after[key])

    def _move(self, was: Path, path: Path) -> None:
        if self._sieve.shows(was, path, "moved"):
            self.changes.append(Change(self.section, path, "moved", was[-1], path[-1], was, facts=0))

    def _item(self, shape: Shape, key: str) -> Shape:
        return (shape.item or LEAF) if key in self._set else shape.of_key(key)

    def _differ(self, shape: Shape, was: Path, path: Path, before: Value, after: Value) -> None:
        if shape.kind == "rows":
            from .rows import align

            for one, other in align(before, after, shape.item or LEAF):
                old, new = (MISSING if i is None else side[i] for i, side in ((one, before), (other, after)))
                first, second = (j if i is None else i for i, j in ((one, other), (other, one)))
                self._visit(shape.item or LEAF, (*was, str(first)), (*path, str(second)), old, new)
        elif shape.kind == "percpu":
            self._cpus(shape, was, path, before, after)
        elif shape.kind == "matrix":
            rows = Shape("table", item=Shape("table", item=Shape(volatile=shape.volatile)))
            self._keyed(rows, was, path, _cells(before), _cells(after))
        else:
            self._change(shape, was, path, before, after)

    def _cpus(self, shape: Shape, was: Path, path: Path, before: Table, after: Table) -> None:
        one, other = expand(before, shape.cpu), expand(after, shape.cpu)
        groups: dict[tuple[Value, Value], list[int]] = {}
        for cpu in one.keys() | other.keys():
            groups.setdefault((one.get(cpu, MISSING), other.get(cpu, MISSING)), []).append(cpu)
        for (old, new), cpus in sorted(groups.items(), key=lambda group: min(group[1])):
            if old == new:
                self.counts.same += 1
            else:
                self._change(shape, was, path, old, new, format_cpus(cpus))

    def _change(
        self, shape: Shape, was: Path, path: Path, before: Value, after: Value, cpus: str = ""
    ) -> None:
        """One change for the leaf or subtree, which stands for those of its facts that count."""
        state: State = "added" if before is MISSING else "removed" if after is MISSING else "changed"
        if state == "changed" and self._sieve.within(was, path, before, after):
            self.counts.same += 1
            self.counts.within += 1
            return
        weight = weigh(shape, after if before is MISSING else before, self._sieve, was, path, state)
        if facts := self.counts.add(weight, self._sieve.show_volatile):
            here = was if state == "removed" else path
            moved = was if state == "changed" and was != path else ()
            self.changes.append(Change(
                self.section, here, state, before, after, moved, cpus, facts,
                volatile=not weight["plain"], computed=shape.computed,
            ))


def _table(value: Value) -> dict[str, Any]:
    return {} if value is MISSING else value


def _cells(matrix: Table) -> dict[str, Table]:
    """Row id -> column id -> cell."""
    rows: dict[str, Table] = {}
    for (row, column), cell in Matrix.model_validate(matrix).cells().items():
        rows.setdefault(row, {})[column] = cell
    return rows
