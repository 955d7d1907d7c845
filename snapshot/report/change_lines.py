"""A change as one line, and many of them as counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from ..diff.change import MISSING, Change
from ..engine.text import cut
from .paper import plural

SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": ">"}
SPECIAL = {"added": "new", "removed": "gone", "moved": "moved", "computed": "computed", "volatile": "volatile"}


def line(change: Change, limit: int | None = None) -> str:
    """The change in one line: a sign, the path as `snap show` takes it, and the values; cut after LIMIT characters."""
    whole = _line(change)
    return whole if limit is None else cut(whole, limit)


def _line(change: Change) -> str:
    where = ".".join((change.section, *change.path)) if change.section != "files" else change.path[0]
    marks = [f"cpus {change.cpus}"] if change.cpus else []
    marks += ["volatile"] if change.volatile else [f"computed from {change.computed}"] if change.computed else []
    marks += ["an older version"] if change.direction == "down" and isinstance(change.after, str) else []
    marked = f" ({', '.join(marks)})" if marks else ""
    return f"{SIGNS[change.state]} {where}{marked}  {_values(change)}".rstrip()


def _values(change: Change) -> str:
    if change.section == "files":
        return "content changed" if change.state == "changed" else change.state
    if change.why:
        side = "; before" if change.state == "added" else ""
        return f"{change.state}, {plural(change.facts, 'fact')}{side}: {change.why}"
    if change.state == "moved":
        return f"was {change.before}"
    if isinstance(change.before, list) and isinstance(change.after, list):
        return _elements(change)
    return " -> ".join(value(side, change.facts) for side in (change.before, change.after) if side is not MISSING)


def _elements(change: Change) -> str:
    """What is gone and what is new, where the lists have enough in common; else both."""
    gone, new = change.elements()
    if gone + new and len(gone) < len(change.before):
        return " ".join([*(f"-{element}" for element in gone), *(f"+{element}" for element in new)])
    order = "" if gone + new else " (another order)"
    return f"{value(change.before, change.facts)} -> {value(change.after, change.facts)}{order}"


def value(value: Any, facts: int = 0) -> str:
    """A TOML value in few words; a table by how many facts are compared of it."""
    if isinstance(value, str):
        return value if value else '""'
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(element, dict) for element in value)):
        return f"({plural(facts, 'fact')})"
    if isinstance(value, list):
        return f"[{' '.join(map(str, value))}]"
    return json.dumps(value)


def summary(changes: Iterable[Change]) -> list[str]:
    """For each section its count of changes, and what is not a plain change: "sysctl 23 (19 new, 4 gone)"."""
    by_section: dict[str, Counter[str]] = {}
    for change in changes:
        plain = change.state == "changed"
        word = "volatile" if plain and change.volatile else "computed" if plain and change.computed else change.state
        by_section.setdefault(change.section, Counter())[word] += 1
    return [f"{section} {words.total():,}{_special(words)}" for section, words in by_section.items()]


def _special(words: Counter[str]) -> str:
    special = [f"{words[word]:,} {said}" for word, said in SPECIAL.items() if words[word]]
    return f" ({', '.join(special)})" if special else ""
