"""The conditions of a rule in words: "max_read_request_bytes is at least max_read_request_bytes before"."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..diff.change import MISSING
from ..engine.path import Gap
from ..engine.rule import AnyOf, Condition, Guard, Rule, RulePath
from ..engine.text import LONG, cut
from .paper import plural

PHRASES = {
    "exists": "exists", "absent": "does not exist", "equal": "is", "not-equal": "is not", "unchanged": "is still",
    "changed": "is no longer", "in": "is one of", "not-in": "is none of", "contains": "contains",
    "not-contains": "does not contain", "matches": "matches", "not-matches": "does not match",
    "subset": "has nothing but", "superset": "has all of", "gt": "is above", "ge": "is at least", "lt": "is below",
    "le": "is at most", "within": "is within", "count": "has this many elements:", "all-same": "are all the same",
    "unique": "has nothing twice", "monotone": "goes one way only", "not-worse": "is no worse than",
    "not-removed": "has lost nothing of", "not-added": "has nothing new besides",
    "version-at-least": "is a version of at least",
    "version-below": "is a version below",
}
"""Operator -> what stands between its operands."""


def conditions(guards: Iterable[Guard], rule: Rule) -> Iterator[str]:
    """A line for each: all of them have to hold."""
    for guard in guards:
        alternatives = guard.any if isinstance(guard, AnyOf) else [guard]
        yield ", or ".join(condition(one, rule) for one in alternatives)


def condition(one: Condition, rule: Rule) -> str:
    """A condition of RULE in words."""
    words = [path(one.path, rule), PHRASES[one.op], operand(one, rule)]
    words.append(f"(give or take {one.tolerance})" if one.tolerance is not None else "")
    return " ".join(filter(None, [*words, f"({one.better} is better)" if one.better else ""]))


def operand(one: Condition, rule: Rule) -> str:
    """What a condition compares with, in words; empty when it compares with nothing."""
    if one.limit is not None:
        return f"{said(rule.limits[one.limit])} (limit {one.limit})"
    if one.operand is not None:
        return path(one.operand, rule)
    return "" if one.value is None else said(one.value)


def path(keys: RulePath, rule: Rule) -> str:
    """A path as one says it: of the item its keys alone."""
    root, below = keys[0], ".".join(map(str, keys[1:]))
    words = {
        "item": below or "the value" if rule.each else below, "was": f"{below or 'the value'} before",
        "fact": f"{below} of {rule.fact}", "parent": f"{below} of all", "before": f"{below} before", "after": below,
    }
    return words[str(root)]


def said(value: Any) -> str:
    """A value, MISSING or a Gap in few words."""
    if value is MISSING:
        return "nothing"
    if isinstance(value, Gap):
        return f"unknown: {value.why}" + (f" ({value.source})" if value.source else "")
    if isinstance(value, Mapping):
        return f"a table of {plural(len(value), 'key')}"
    if isinstance(value, list):
        tables = any(isinstance(part, Mapping) for part in value)
        return plural(len(value), "entry", "entries") if tables else ", ".join(map(said, value)) or "an empty list"
    return (cut(value, LONG) or '""') if isinstance(value, str) else json.dumps(value)
