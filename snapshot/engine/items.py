"""What one rule says about each item it walks: applies or not, passes, fails, or cannot be judged.

Missing evidence is never a pass: a guard or check that meets an unknown fact makes the verdict unknown, unless
another guard shows that the rule does not apply, or another check that it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..derive.facts import Derived
from ..diff import Diff, silent
from ..diff.change import MISSING, Side
from .finding import Verdict
from .ops import OPERATORS
from .path import Gap, Place, Scope, look
from .rule import Condition, Rule

if TYPE_CHECKING:
    from ..document import Snapshot

Derive = Callable[[str, "Snapshot", "Snapshot | None"], Derived]
STARTING = ("initializing", "starting")  # systemctl(1), is-system-running


@dataclass(frozen=True, slots=True)
class Ruling:
    """The verdict on one item; what is missing for it, if it is unknown."""

    verdict: Verdict
    scope: Scope
    gaps: tuple[Gap, ...] = ()


def rulings(
    rule: Rule, after: Snapshot, before: Snapshot | None, diff: Diff | None, derive: Derive
) -> dict[str, Ruling]:
    """The ruling on each item by its key. A ruling under the beginning of keys, or "", stands for all of them."""
    whole = Scope(after, before)
    sides: list[tuple[Side, Snapshot]] = [("after", after)]
    if rule.scope == "change" and before:
        sides.append(("before", before))
    gaps = [gap for side, snapshot in sides for gap in _unusable(rule, side, snapshot)]
    if gaps:
        return {"": Ruling("unknown", whole, tuple(gaps))}
    if any(snapshot.outcomes[name].state == "absent" for _, snapshot in sides for name in rule.needs):
        return {"": Ruling("not-applicable", whole)}
    found = _derived(rule, whole, derive) if rule.each[0] == "derived" else _items(rule, whole, diff, derive)
    return dict(found)


def covering(found: dict[str, Ruling], key: str) -> Ruling | None:
    """The ruling on KEY, or the unknown one that stands for it."""
    if key in found:
        return found[key]
    wider = (k for k in sorted(found, reverse=True) if key.startswith(k) and found[k].verdict == "unknown")
    return next((found[k] for k in wider), None)


def holds(condition: Condition, scope: Scope) -> bool | Gap:
    """Whether a condition holds, or what is missing to know."""
    left = scope.value(condition.path)
    right = condition.value if condition.to is None else scope.value(condition.to)
    for value in (left, right):
        if isinstance(value, Gap):
            return value
    answer = OPERATORS[condition.op](left, right)
    if answer is None:
        side, path = scope.where(condition.path)
        return Gap(tuple(path), "", f"cannot be judged by {condition.op}: {left!r}, {right!r}", side)
    return answer


def _unusable(rule: Rule, side: Side, snapshot: Snapshot) -> Iterator[Gap]:
    for name in rule.needs:
        if why := silent(snapshot, name):
            yield Gap((name,), "", why, side)
    state = snapshot.meta.system_state
    if rule.settles and side == "after" and state in STARTING:
        yield Gap(("meta", "system_state"), "systemctl is-system-running", f"taken while systemd was {state}", side)


def _derived(rule: Rule, whole: Scope, derive: Derive) -> Iterator[tuple[str, Ruling]]:
    name = rule.each[1]
    table = derive(name, whole.after, whole.before)
    for gap in table.unknown:
        path = ("derived", name, *filter(None, [gap["subject"]]))
        missing = Gap(path, gap["source"], gap["why"], "after", gap["what"])
        yield gap["subject"], Ruling("unknown", whole, (missing,))
    for key, row in table.rows.items():
        yield key, _judged(rule, Scope(whole.after, whole.before, key, row, table=("derived", name)))


def _items(rule: Rule, whole: Scope, diff: Diff | None, derive: Derive) -> Iterator[tuple[str, Ruling]]:
    """Items of a section's keyed table; for a change rule, those that both sides have."""
    facts = derive(rule.fact, whole.after, whole.before).rows if rule.fact else {}
    section, path = rule.each[0], tuple(rule.each[1:])
    keys = _keys("after", whole.after, rule)
    pairs = diff.pairing(section, path).before_of if diff else {}
    if isinstance(keys, Gap):
        yield "", Ruling("unknown", whole, (keys,))
        return
    for key, gap in keys.items():
        place = Place("after", whole.after, (*rule.each, key))
        was = Place("before", diff.before, (*rule.each, pairs[key])) if diff and key in pairs else None
        if gap or (rule.scope == "change" and not was and (gap := _lacking(diff, rule, key))):
            yield key, Ruling("unknown", whole, (gap,))
        elif was or rule.scope == "state":
            scope = Scope(whole.after, whole.before, key, place, was, facts.get(key, {}))
            yield key, _judged(rule, scope)


def _keys(side: Side, snapshot: Snapshot, rule: Rule) -> dict[str, Gap | None] | Gap:
    """The keys of the table, with the gap for those below which all is unknown; "" stands for keys unknown too."""
    table = look(side, snapshot, rule.each)
    if isinstance(table, Gap):
        return table
    known: dict[str, Gap | None] = dict.fromkeys(() if table is MISSING else table)
    depth = len(rule.each) - 1
    for fact in snapshot.outcomes[rule.each[0]].unread or ():
        key = fact.path[depth] if len(fact.path) > depth else ""
        if fact.path[:depth] == rule.each[1 : len(fact.path) + 1] and key not in known:
            known[key] = Gap((rule.each[0], *fact.path), fact.source, fact.why, side)
    return known


def _lacking(diff: Diff | None, rule: Rule, key: str) -> Gap | None:
    """Why the item may have been there before though the diff pairs it with nothing; None: it is new."""
    value = look("before", diff.before, [*rule.each, key]) if diff else MISSING
    return value if isinstance(value, Gap) else None


def _judged(rule: Rule, scope: Scope) -> Ruling:
    applies, gaps = _all(rule.where, scope)
    if applies is False:
        return Ruling("not-applicable", scope)
    passes, missing = _all(rule.check, scope)
    if passes:  # where it is not known whether the rule applies, it cannot fail either
        return Ruling("pass", scope)
    return Ruling("fail", scope) if applies and passes is False else Ruling("unknown", scope, (*gaps, *missing))


def _all(conditions: list[Condition], scope: Scope) -> tuple[bool | None, list[Gap]]:
    """Whether all hold: False when one does not, None when that is not known, with what is missing."""
    answers = [holds(condition, scope) for condition in conditions]
    gaps = [answer for answer in answers if isinstance(answer, Gap)]
    return (False, []) if any(answer is False for answer in answers) else (None if gaps else True, gaps)
