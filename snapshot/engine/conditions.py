"""Whether a rule's conditions hold: yes, no, or a gap that says what is missing to know."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..diff.change import MISSING
from .ops import OPERATORS, Sense
from .path import Gap, Scope, reader
from .rule import AnyOf, Guard, Note, Rule

Answer = bool | Gap
Test = Callable[[Scope], Answer]
YES: tuple[bool, tuple[Gap, ...]] = (True, ())
NO: tuple[bool, tuple[Gap, ...]] = (False, ())


def test_of(guard: Guard, rule: Rule) -> Test:
    """What says whether a condition of RULE holds, or what is missing to know: made once for all items of a rule."""
    if isinstance(guard, AnyOf):
        return _any([test_of(one, rule) for one in guard.any])
    path, name, sense = guard.path, guard.op, Sense(guard.better, guard.tolerance)
    left_of, operand, operator = reader(path), guard.operand if guard.limit is None else None, OPERATORS[name]
    right_of = reader(operand) if operand is not None else None
    literal = guard.value if guard.limit is None else rule.limits[guard.limit]

    def test(scope: Scope) -> Answer:
        left, right = left_of(scope), right_of(scope) if right_of else literal
        if type(left) is Gap:
            return left
        if type(right) is Gap:
            return right
        answer = operator(left, right, sense)
        if answer is None:
            side, where = scope.where(path)
            return Gap(tuple(where), "", f"cannot be judged by {name}: {_word(left)}, {_word(right)}", side)
        return answer

    return test


def tests_of(guards: Iterable[Guard], rule: Rule) -> list[Test]:
    """Those of several conditions."""
    return [test_of(guard, rule) for guard in guards]


def all_hold(tests: Iterable[Test], scope: Scope) -> tuple[bool | None, tuple[Gap, ...]]:
    """Whether all hold: False when one does not, None when that is not known, with what is missing."""
    gaps: tuple[Gap, ...] = ()
    for test in tests:
        answer = test(scope)
        if answer is True:
            continue
        if isinstance(answer, Gap):
            gaps = (*gaps, answer)
        elif not answer:
            return NO
    return (None, gaps) if gaps else YES


def true(guards: Iterable[Guard], scope: Scope, rule: Rule) -> bool:
    """Whether all are known to hold."""
    return all_hold(tests_of(guards, rule), scope)[0] is True


def _any(tests: list[Test]) -> Test:
    def test(scope: Scope) -> Answer:
        gap: Gap | None = None
        for one in tests:
            answer = one(scope)
            if answer is True:
                return True
            if isinstance(answer, Gap) and (gap is None or (answer.source and not gap.source)):
                gap = answer  # what was not read says more than what cannot be compared for want of it
        return gap or False

    return test


def _word(value: Any) -> str:
    from ..sections.faults import short

    return "it does not exist" if value is MISSING else short(repr(value), 60)


def told(note: Note, scope: Scope, rule: Rule) -> bool:
    """Whether a note is said."""
    return true(note.when, scope, rule) and not (note.unless and true(note.unless, scope, rule))
