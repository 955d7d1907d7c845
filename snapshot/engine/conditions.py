"""Whether a rule's conditions hold: yes, no, or a gap that says what is missing to know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..diff.change import MISSING
from ..sections.faults import short
from .ops import OPERATORS, Sense
from .path import Gap, Scope
from .rule import AnyOf, Condition, Guard, Note, Rule


def holds(guard: Guard, scope: Scope, rule: Rule) -> bool | Gap:
    """Whether a condition of RULE holds, or what is missing to know."""
    if isinstance(guard, AnyOf):
        return _any(guard, scope, rule)
    left, right = scope.value(guard.path), _operand(guard, scope, rule)
    for value in (left, right):
        if isinstance(value, Gap):
            return value
    answer = OPERATORS[guard.op](left, right, Sense(guard.better, guard.tolerance))
    if answer is None:
        side, path = scope.where(guard.path)
        return Gap(tuple(path), "", f"cannot be judged by {guard.op}: {_word(left)}, {_word(right)}", side)
    return answer


def all_hold(guards: Iterable[Guard], scope: Scope, rule: Rule) -> tuple[bool | None, list[Gap]]:
    """Whether all hold: False when one does not, None when that is not known, with what is missing."""
    gaps: list[Gap] = []
    for guard in guards:
        answer = holds(guard, scope, rule)
        if isinstance(answer, Gap):
            gaps.append(answer)
        elif not answer:
            return False, []
    return (None if gaps else True), gaps


def true(guards: Iterable[Guard], scope: Scope, rule: Rule) -> bool:
    """Whether all are known to hold."""
    return all_hold(guards, scope, rule)[0] is True


def _any(guard: AnyOf, scope: Scope, rule: Rule) -> bool | Gap:
    gap: Gap | None = None
    for one in guard.any:
        answer = holds(one, scope, rule)
        if answer is True:
            return True
        gap = answer if isinstance(answer, Gap) else gap
    return gap or False


def _word(value: Any) -> str:
    return "it does not exist" if value is MISSING else short(repr(value), 60)


def _operand(condition: Condition, scope: Scope, rule: Rule) -> Any:
    if condition.limit is not None:
        return rule.limits[condition.limit]
    path = condition.operand
    return condition.value if path is None else scope.value(path)


def told(note: Note, scope: Scope, rule: Rule) -> bool:
    """Whether a note is said."""
    return true(note.when, scope, rule) and not (note.unless and true(note.unless, scope, rule))
