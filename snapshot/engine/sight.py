"""An item as a rule sees it on each side: what its paths can see there, what hides it, and what the rule says."""

from __future__ import annotations

from functools import cached_property

from .conditions import Test, all_hold, tests_of
from .finding import Verdict
from .items import Case, Item
from .path import Facts, Gap, Scope
from .rule import Rule

Answer = tuple[Verdict, tuple[Gap, ...]]  # and what is missing for it, if it is unknown
NOT_APPLICABLE: Answer = ("not-applicable", ())
PASS: Answer = ("pass", ())
FAIL: Answer = ("fail", ())


class Sight:
    """How RULE sees the items of CASE."""

    def __init__(self, rule: Rule, case: Case) -> None:
        self._rule, self._case = rule, case
        self._pair = rule.scope == "change"
        self._facts, self._facts_before = self._tables()

    @cached_property
    def _where(self) -> list[Test]:
        return tests_of(self._rule.where, self._rule)

    @cached_property
    def _check(self) -> list[Test]:
        return tests_of(self._rule.check, self._rule)

    def watched(self, item: Item) -> bool:
        """Whether the rule is about such an item: kept, removed or added; a state rule is about all."""
        if not self._pair or not self._rule.each:
            return True
        return ("added" if item.before is None else "removed" if item.after is None else "kept") in self._rule.items

    def after(self, item: Item) -> Scope | None:
        """The after side; for a rule on pairs, both. None: the item is gone, which is no matter to a state rule."""
        now, then, case = item.after, item.before, self._case
        gaps: tuple[Gap, ...] = ()
        if now is None and not self._pair:
            return None
        if isinstance(now, Gap):
            gaps, now = (now,), None
        if isinstance(then, Gap):
            gaps, then = (*gaps, then) if self._pair else gaps, None
        return Scope(case.after, case.before, item.key, now, then, self._facts, item.key, gaps)

    def before(self, item: Item) -> Scope | None:
        """The side before, as a state rule sees it. None: the item was not there, or there is no such side."""
        then, case = item.before, self._case
        if then is None or case.before is None:
            return None
        found, gaps = (None, (then,)) if isinstance(then, Gap) else (then, ())
        return Scope(case.before, None, item.key, found, None, self._facts_before, item.was_key, gaps)

    def verdict(self, scope: Scope) -> Answer:
        """What the rule says of what it sees."""
        if scope.hidden:
            return "unknown", scope.hidden
        applies, gaps = all_hold(self._where, scope)
        if applies is False:
            return NOT_APPLICABLE
        passes, missing = all_hold(self._check, scope)
        if passes:  # where it is not known whether the rule applies, it cannot fail either
            return PASS
        return FAIL if applies and passes is False else ("unknown", gaps + missing)

    def _tables(self) -> tuple[Facts | None, Facts | None]:
        """The rule's table of facts, after and before."""
        name, case = self._rule.fact, self._case
        if name is None:
            return None, None
        before = case.before or case.after
        return (Facts(name, lambda: case.derive(name, case.after, case.before).rows),
                Facts(name, lambda: case.derive(name, before, None).rows))
