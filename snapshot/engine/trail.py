"""How a verdict came about: each condition of a rule with the values that it met, on each side that is judged.

The scopes are those of ``judge``, which keeps none of this: only who asks for one verdict pays for its trail.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from ..derive import derived
from ..diff import Diff
from ..diff.change import Side
from ..document import Snapshot
from ..records import record
from .conditions import test_of
from .finding import Verdict
from .items import Case, Derive, Item, items
from .path import Gap, Row, Scope
from .rule import AnyOf, Condition, Guard, Rule, RulePath
from .sight import Sight

Role = Literal["where", "check", "mended"]


@record(frozen=True)
class Met:
    """What a path led to: a value, MISSING or a Gap; side and full path, where it is a fact of a snapshot."""

    value: Any
    side: Side | None
    path: tuple[str | int, ...]


@record(frozen=True)
class Step:
    """One condition, and whether it holds, or what is missing to know. Of those with one CHOICE (from 1) one is enough.

    RIGHT is the operand; its path is empty when it is a literal or a limit, it is None when there is none.
    """

    role: Role
    condition: Condition
    answer: bool | Gap
    left: Met
    right: Met | None
    choice: int = 0


@record(frozen=True)
class Trial:
    """The verdict on one side of an item. ROWS are the derived rows that were read; GAPS why it could not be looked at.
    """

    side: Side
    verdict: Verdict
    steps: tuple[Step, ...] = ()
    rows: tuple[Row, ...] = ()
    gaps: tuple[Gap, ...] = ()


def case(before: Snapshot | None, after: Snapshot, diff: Diff | None, derive: Derive = derived) -> Case:
    """What ``judge`` makes of the same arguments: a pair with its diff, or one snapshot."""
    return Case(after, before, diff, derive)


def trail(rule: Rule, case: Case, key: str) -> list[Trial]:
    """How RULE came to its verdict on the item KEY: of a state rule on a pair also on the side before.

    KEY is the subject of a finding, but for a forecast that takes it from the fault which it foresees.

    Empty when it looks at no such item. What it needs as a whole is not looked at: sections, a boot between.
    """
    item = next((item for item in items(rule, case) if item.key == key), None)
    sight = Sight(rule, case)
    return [*_trials(rule, sight, item)] if item and sight.watched(item) else []


def _trials(rule: Rule, sight: Sight, item: Item) -> Iterator[Trial]:
    scopes: dict[Side, Scope | None] = {"after": sight.after(item)}
    scopes |= {"before": sight.before(item)} if rule.scope != "change" else {}
    yield from (_trial(side, rule, sight, scope) for side, scope in scopes.items() if scope)


def _trial(side: Side, rule: Rule, sight: Sight, scope: Scope) -> Trial:
    if scope.hidden:
        return Trial(side, "unknown", gaps=scope.hidden)
    rows = tuple(row for row in (scope.item, scope.fact) if isinstance(row, Row) and row.values)
    steps = [*_steps("where", rule.where, scope, rule), *_steps("check", rule.check, scope, rule)]
    if side == "after":
        steps += _steps("mended", rule.mended, scope, rule)
    return Trial(side, sight.verdict(scope)[0], tuple(steps), rows)


def _steps(role: Role, guards: list[Guard], scope: Scope, rule: Rule) -> Iterator[Step]:
    for choice, guard in enumerate(guards, 1):
        for one in guard.any if isinstance(guard, AnyOf) else [guard]:
            yield Step(role, one, test_of(one, rule)(scope), _met(one.path, scope), _operand(one, scope, rule),
                       choice if isinstance(guard, AnyOf) else 0)


def _met(path: RulePath, scope: Scope) -> Met:
    value, (side, where) = scope.value(path), scope.where(path)
    return Met(value, side, tuple(where))


def _operand(condition: Condition, scope: Scope, rule: Rule) -> Met | None:
    if condition.limit is not None:
        return Met(rule.limits[condition.limit], None, ())
    if condition.operand is not None:
        return _met(condition.operand, scope)
    return None if condition.value is None else Met(condition.value, None, ())
