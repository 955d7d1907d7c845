"""What a rule looks at: the items that it walks, each on both sides, paired as the diff pairs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..derive.facts import Derived
from ..diff import Diff
from ..diff.change import MISSING, Side
from ..records import field, record
from ..sections.base import Matrix, expand, format_cpus
from ..sections.shape import Shape, of_section
from .path import EACH, Found, Gap, Place, Row, descend, known, look
from .rule import Rule

if TYPE_CHECKING:
    from ..document import Snapshot

Derive = Callable[[str, "Snapshot", "Snapshot | None"], Derived]
Seen = Found | Gap | None  # a side of an item: where it is, why that is unknown, or that it is not there
Keys = tuple[str, ...]


@record(frozen=True)
class Case:
    """What is judged: a pair with its diff, or one snapshot with neither."""

    after: Snapshot
    before: Snapshot | None
    diff: Diff | None
    derive: Derive
    walked: dict[object, list[Item]] = field(default_factory=dict)  # what is left of a walk for the next rule


@record(frozen=True)
class Item:
    """One thing that a rule judges. KEY is that of the after side, or of before if it is only there."""

    key: str
    after: Seen = None
    before: Seen = None
    was_key: str = ""  # on the before side


def items(rule: Rule, case: Case) -> Iterator[Item]:
    """The items that RULE walks. An item whose key is "", or the beginning of keys, stands for all that are unknown."""
    if not rule.each:
        yield Item("", Place("after", case.after, ()), Place("before", case.before, ()) if case.before else None)
        return
    each = tuple(rule.each)
    if each[0] == "derived":
        gone = rule.scope != "change" or "removed" in rule.items
        back = gone or _looks_back(rule)
        if (each, back, gone) not in case.walked:
            case.walked[each, back, gone] = [*_rows(each[1], case, back, gone)]
        yield from case.walked[each, back, gone]
    else:
        if each not in case.walked:
            case.walked[each] = [*_walk(case, of_section(each[0]), each[:1], each[:1], [*each[1:]], ())]
        yield from case.walked[each]


def cover(unknown: Mapping[str, Gap], key: str) -> Gap | None:
    """Why KEY is unknown: its own gap, or that of the longest beginning of it."""
    return next((unknown[start] for start in sorted(unknown, reverse=True) if key.startswith(start)), None)


def _looks_back(rule: Rule) -> bool:
    """Whether a rule on pairs needs the table of before: its values, or to tell what is new and what is gone."""
    return {*rule.items} != {"kept", "added"} or any(path[0] == "was" for path in rule.paths())


def _rows(name: str, case: Case, back: bool, gone: bool) -> Iterator[Item]:
    """The rows of a table; BACK: with those of before, GONE: also such as are only there."""
    after = case.derive(name, case.after, case.before)
    before = case.derive(name, case.before, None) if case.before and back else Derived()
    now, then = _gaps(name, after, "after"), _gaps(name, before, "before")
    for key, gap in now.items():
        some = gap if any(old.startswith(key) for old in before.rows) else None  # rows that are not told from others
        yield Item(key, gap, _row(name, key, before, then) or some, key)
    olds = {key: _was(case, key, before) for key in after.rows}
    for key, row in after.rows.items():
        old = olds[key]
        yield Item(key, Row(name, key, row), None if old is None else _row(name, old, before, then), old or "")
    met = {*olds.values()}
    for key, row in before.rows.items() if gone else ():
        if key not in met and cover(now, key) is None:
            yield Item(key, None, Row(name, key, row), key)


def _was(case: Case, key: str, before: Derived) -> str | None:
    """The key before of a row; None if another PCI function had it. Tables that pair have one key for both sides."""
    old = case.diff.moves.before(key) if case.diff else key
    return old if old is None or old in before.rows else key


def _row(name: str, key: str, table: Derived, unknown: Mapping[str, Gap]) -> Seen:
    return Row(name, key, table.rows[key]) if key in table.rows else cover(unknown, key)


def _gaps(name: str, table: Derived, side: Side) -> dict[str, Gap]:
    return {
        gap["subject"]: Gap(("derived", name, *filter(None, [gap["subject"]])), gap["source"], gap["why"], side,
                            gap["what"])
        for gap in table.unknown
    }


def _walk(case: Case, shape: Shape, path: Keys, was: Keys, rest: list[str], keys: Keys) -> Iterator[Item]:
    """The items below PATH (before: below WAS); REST is what of EACH is still to go, KEYS those of tables passed."""
    while rest and rest[0] != EACH:
        step = rest[0]
        shape = (shape.fields.get(step) if shape.kind == "model" else shape.item) or Shape()
        path, was, rest = (*path, step), (*was, step), rest[1:]
    if rest:
        for item in _members(case, path, was):
            yield from _deeper(case, shape.item or Shape(), item, rest[1:], keys)
    elif shape.kind in ("percpu", "matrix"):
        yield from _cells(case, shape, path, was, keys)
    else:
        for item in _members(case, path, was):
            yield Item(" ".join((*keys, item.key)), item.after, item.before, " ".join((*keys, item.was_key)))


def _deeper(case: Case, shape: Shape, item: Item, rest: list[str], keys: Keys) -> Iterator[Item]:
    """What stands in an item of a table on the way."""
    below = (*keys, item.key)
    if isinstance(item.after, Place) or isinstance(item.before, Place):
        path = item.after.path if isinstance(item.after, Place) else ()
        was = item.before.path if isinstance(item.before, Place) else ()
        yield from _walk(case, shape, path or was, was or path, rest, below)
    elif isinstance(item.after, Gap):
        yield Item(" ".join(below), item.after, item.before, " ".join(below))


def _members(case: Case, path: Keys, was: Keys) -> Iterator[Item]:
    """The items of a keyed table on both sides."""
    now = known("after", case.after, path)
    then = known("before", case.before, was) if case.before else {}
    if isinstance(now, Gap):
        yield _all_unknown("", now, then)
        return
    pairs = case.diff.pairing(path[0], path[1:], was[1:]).before_of if case.diff else {}
    table, olds = _table(case.after, path), _table(case.before, was) if then else {}
    met = set()
    for key, gap in now.items():
        if gap and not key:
            yield _all_unknown("", gap, then)
            continue
        old = pairs.get(key, key)
        met.add(old)
        after = gap or Place("after", case.after, (*path, key), MISSING, table[key])
        yield Item(key, after, _before(case, then, was, old, key in pairs, olds), old)
    if isinstance(then, dict):
        for key in (key for key in then if key not in met):
            lost = look("after", case.after, (*path, key))
            if not isinstance(lost, Gap) or lost != now.get(""):  # of that all is said under ""
                yield Item(key, lost if isinstance(lost, Gap) else None, _before(case, then, was, key, True, olds), key)


def _all_unknown(key: str, now: Gap, then: Any) -> Item:
    """What stands for all items, of which on the after side nothing is known, so that none is judged before either."""
    return Item(key, now, then if isinstance(then, Gap) else now, key)


def _table(snapshot: Snapshot | None, path: Keys) -> Any:
    """The table at PATH, {} where there is none."""
    table = descend(snapshot.table(path[0]), path[1:]) if snapshot else {}
    return table if isinstance(table, dict) else {}


def _before(
    case: Case, then: dict[str, Gap | None] | Gap, was: Keys, key: str, paired: bool, table: Mapping[str, Any],
) -> Seen:
    """The before side of an item. Without a pair, one of the same key there is another thing."""
    if isinstance(then, Gap) or case.before is None:
        return then if isinstance(then, Gap) else None
    if key in then:
        return then[key] or (Place("before", case.before, (*was, key), MISSING, table[key]) if paired else None)
    lost = look("before", case.before, (*was, key))
    return lost if isinstance(lost, Gap) else None


def _cells(case: Case, shape: Shape, path: Keys, was: Keys, keys: Keys) -> Iterator[Item]:
    """The groups of CPUs with equal values on both sides, or the cells of a matrix."""
    now, then = look("after", case.after, path), look("before", case.before, was) if case.before else MISSING
    if isinstance(now, Gap):
        yield _all_unknown(" ".join(keys), now, then)
        return
    split = _cpus if shape.kind == "percpu" else _ids
    for key, value, old in split(shape, now, MISSING if isinstance(then, Gap) else then):
        after = None if value is MISSING else Place("after", case.after, path, value)
        before = then if isinstance(then, Gap) else None if old is MISSING or case.before is None else Place(
            "before", case.before, was, old)
        name = " ".join((*keys, key))
        yield Item(name, after, before, name)


def _cpus(shape: Shape, now: Any, then: Any) -> Iterator[tuple[str, Any, Any]]:
    one, other = (expand({} if side is MISSING else side, shape.cpu) for side in (now, then))
    groups: dict[tuple[Any, Any], list[int]] = {}
    for cpu in one.keys() | other.keys():
        groups.setdefault((one.get(cpu, MISSING), other.get(cpu, MISSING)), []).append(cpu)
    for (value, old), cpus in sorted(groups.items(), key=lambda group: min(group[1])):
        yield format_cpus(cpus), value, old


def _ids(_: Shape, now: Any, then: Any) -> Iterator[tuple[str, Any, Any]]:
    """Cells off the diagonal; of two that mirror each other on both sides, the first."""
    one, other = ({} if side is MISSING else Matrix.model_validate(side).cells() for side in (now, then))
    pairs = dict.fromkeys((*one, *other))
    for a, b in pairs:
        value, old = one.get((a, b), MISSING), other.get((a, b), MISSING)
        mirrored = (b, a) in pairs and (one.get((b, a), MISSING), other.get((b, a), MISSING)) == (value, old)
        if a != b and not (mirrored and a > b):
            yield f"{a} {b}", value, old
