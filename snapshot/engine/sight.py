"""An item as a rule sees it on each side: what its paths can see there, what hides it, and what the rule says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..records import record
from .conditions import all_hold
from .finding import Verdict
from .items import Case, Item, Seen
from .path import Found, Gap, Row, Scope
from .rule import Rule

if TYPE_CHECKING:
    from ..document import Snapshot


@record(frozen=True)
class View:
    """What a rule can see of an item on a side; of GAPS, which hide it, there is at most one for each snapshot."""

    scope: Scope
    gaps: tuple[Gap, ...]


def watched(rule: Rule, item: Item) -> bool:
    """Whether a rule is about such an item: kept, removed or added; a state rule is about all."""
    word = "added" if item.before is None else "removed" if item.after is None else "kept"
    return rule.scope != "change" or not rule.each or word in rule.items


def after(rule: Rule, case: Case, item: Item) -> View | None:
    """The after side; for a rule on pairs, both. None: the item is gone, which is no matter to a state rule."""
    pair = rule.scope == "change"
    if item.after is None and not pair:
        return None
    row = _row(rule, case, item.key, case.after, case.before)
    scope = Scope(case.after, case.before, item.key, _found(item.after), _found(item.before), row)
    return View(scope, _gaps(item.after, item.before if pair else None))


def before(rule: Rule, case: Case, item: Item) -> View | None:
    """The side before, as a state rule sees it. None: the item was not there, or there is no such side."""
    if item.before is None or case.before is None:
        return None
    row = _row(rule, case, item.was_key, case.before, None)
    return View(Scope(case.before, None, item.key, _found(item.before), None, row), _gaps(item.before))


def verdict(rule: Rule, view: View) -> tuple[Verdict, tuple[Gap, ...]]:
    """What the rule says of what it sees, and what is missing for it where that is not known."""
    if view.gaps:
        return "unknown", view.gaps
    applies, gaps = all_hold(rule.where, view.scope, rule)
    if applies is False:
        return "not-applicable", ()
    passes, missing = all_hold(rule.check, view.scope, rule)
    if passes:  # where it is not known whether the rule applies, it cannot fail either
        return "pass", ()
    return ("fail", ()) if applies and passes is False else ("unknown", (*gaps, *missing))


def _found(side: Seen) -> Found | None:
    return None if isinstance(side, Gap) else side


def _gaps(*sides: Seen) -> tuple[Gap, ...]:
    return tuple(side for side in sides if isinstance(side, Gap))


def _row(rule: Rule, case: Case, key: str, of: Snapshot, before: Snapshot | None) -> Row | None:
    return Row(rule.fact, key, case.derive(rule.fact, of, before).rows.get(key, {})) if rule.fact else None
