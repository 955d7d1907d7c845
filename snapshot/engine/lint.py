"""Whether what a rule names exists: sections, keyed tables, derived tables, and every path in the models.

A path that leads nowhere would be a thing that no host has, and the rule would never fail.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..derive import FACTS
from ..document import Meta
from ..sections import NAMES
from ..sections.shape import Shape, of_model, of_section
from .rule import Condition, Note, Rule, RulePath

DERIVED = tuple(name for name, _ in FACTS)


def faults(rule: Rule) -> Iterator[str]:
    """What the rule names and does not exist, in words."""
    if rule.each[0] == "derived":
        yield from _unknown("derived table", rule.each[1:2], DERIVED)
    elif rule.each[0] in NAMES:
        table = of_section(rule.each[0]).at(rule.each[1:])
        if table is None or table.kind != "table":
            yield f"each: {'.'.join(rule.each)} is no keyed table"
    yield from _unknown("section", [*rule.needs, *([] if rule.each[0] == "derived" else rule.each[:1])], NAMES)
    yield from _unknown("derived table", [rule.fact] if rule.fact else [], DERIVED)
    yield from (f"there is no path {path}" for path in paths(rule) if not _exists(rule, path))


def paths(rule: Rule) -> Iterator[RulePath]:
    """Every path that the rule reads."""
    for condition in _conditions(rule):
        yield condition.path
        if condition.to:
            yield condition.to
    yield from rule.names.values()
    yield from rule.evidence
    yield from (path for path in (rule.before, rule.after) if path)


def _conditions(rule: Rule) -> Iterator[Condition]:
    yield from (*rule.where, *rule.check, *rule.mended, *(rule.expected.when if rule.expected else ()))
    yield from (condition for line in rule.why if isinstance(line, Note) for condition in line.when)


def _unknown(kind: str, names: list[str], known: tuple[str, ...]) -> Iterator[str]:
    yield from (f"there is no {kind} {name!r}: {', '.join(known)}" for name in names if name not in known)


def _exists(rule: Rule, path: RulePath) -> bool:
    """Whether the models know the path; of derived rows only their table knows the keys."""
    root, keys = path[0], [str(key) for key in path[1:]]
    if root in ("before", "after"):
        return bool(keys) and _shape(keys[0], keys[1:]) is not None
    if root == "fact":
        return rule.fact is not None
    if rule.each[0] == "derived":
        return root == "item"
    return _shape(rule.each[0], [*rule.each[1:], "KEY", *keys]) is not None


def _shape(section: str, keys: list[str]) -> Shape | None:
    if section == "meta":
        return of_model(Meta).at(keys)
    return of_section(section).at(keys) if section in NAMES else None
