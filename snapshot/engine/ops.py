"""The closed table of operators: pure functions of two values that know no paths, messages or output.

An operator answers None when it cannot judge what it is given (a size compared with a word, NaN, a thing that does
not exist): that verdict is unknown, never a pass. MISSING is what a host does not have; evidence that is missing
never gets here. ``better`` and ``tolerance`` of a condition are its third operand.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from ..diff.change import MISSING
from ..diff.walk import same
from ..records import record
from ..regexes import regex
from ..sections.debversion import order


@record(frozen=True)
class Sense:
    """Which way is better, and how far is still the same (a number, or "5%" of the operand)."""

    better: str | None = None
    tolerance: int | float | str | None = None


Operator = Callable[[Any, Any, Sense], bool | None]
HEX = regex("0x[0-9a-fA-F]+")


def _number(value: Any) -> bool:
    return type(value) in (int, float) and not math.isnan(value)


def slack(base: float, tolerance: int | float | str | None) -> float:
    """How far from BASE is still the same; of a base of 0 no share of it. ValueError when it is no tolerance."""
    if isinstance(tolerance, str):
        share = re.fullmatch(r"([0-9.]+) ?%", tolerance)
        if not share:
            raise ValueError(f'no tolerance: {tolerance!r}; it is a number, or "5%"')
        return abs(base) * float(share[1]) / 100
    return tolerance or 0


def _ordered(judge: Callable[[Any, Any], bool]) -> Operator:
    """An operator on two numbers, or two words."""

    def operator(left: Any, right: Any, _: Sense) -> bool | None:
        words = isinstance(left, str) and isinstance(right, str)
        return judge(left, right) if words or (_number(left) and _number(right)) else None

    return operator


def _not(operator: Operator) -> Operator:
    def negated(left: Any, right: Any, sense: Sense) -> bool | None:
        found = operator(left, right, sense)
        return None if found is None else not found

    return negated


def _equal(left: Any, right: Any, sense: Sense) -> bool:
    if sense.tolerance is None or not (_number(left) and _number(right)):
        return same(left, right)
    return same(left, right) or abs(left - right) <= slack(right, sense.tolerance)


def _in(left: Any, right: Any, _: Sense) -> bool | None:
    if not isinstance(right, list):
        return None
    return left in right if type(left) is str else any(same(left, element) for element in right)


def _contains(left: Any, right: Any, sense: Sense) -> bool | None:
    """Whether a list has the element, a table the key, or a text the part; what does not exist contains nothing."""
    if isinstance(left, str):
        return right in left if isinstance(right, str) else None
    if isinstance(left, dict):
        return right in left if isinstance(right, str) else None
    return False if left is MISSING else _in(right, left, sense)


def _matches(left: Any, right: Any, _: Sense) -> bool | None:
    """Whether the regular expression is found in a text, in an element of a list, or in a key of a table."""
    texts = left if isinstance(left, list | dict) else [left]
    if not isinstance(right, str) or not (left is MISSING or isinstance(left, str | list | dict)):
        return None
    try:
        return any(isinstance(text, str) and re.search(right, text) for text in texts)
    except re.error:  # of an operand that is a value of the host
        return None


def _elements(value: Any) -> list[Any] | None:
    """The elements of a list, or the keys of a table; nothing of what does not exist."""
    return [] if value is MISSING else list(value) if isinstance(value, list | dict) else None


def _all_in(left: Any, right: Any) -> bool | None:
    one, other = _elements(left), _elements(right)
    return None if one is None or other is None else all(any(same(a, b) for b in other) for a in one)


def _within(left: Any, right: Any, sense: Sense) -> bool | None:
    """Between the two numbers of a list, or no further from a number than the tolerance."""
    if isinstance(right, list):
        low, high = right if len(right) == 2 else (None, None)
        return low <= left <= high if _number(left) and _number(low) and _number(high) else None
    return _equal(left, right, sense) if _number(left) and _number(right) else None


def _count(left: Any, right: Any, _: Sense) -> bool | None:
    """Whether a list or table has so many elements: a number, or the least and the most."""
    found = _elements(left)
    low, high = right if isinstance(right, list) and len(right) == 2 else (right, right)
    return low <= len(found) <= high if found is not None and _number(low) and _number(high) else None


def _alike(values: Iterable[Any]) -> bool:
    first, *others = [*values] or [None]
    return all(same(first, other) for other in others)


def _all_same(left: Any, _: Any, __: Sense) -> bool | None:
    return _alike(left) if isinstance(left, list) else None


def _unique(left: Any, _: Any, __: Sense) -> bool | None:
    if not isinstance(left, list):
        return None
    return not any(same(a, b) for at, a in enumerate(left) for b in left[:at])


def _monotone(left: Any, _: Any, sense: Sense) -> bool | None:
    """Whether numbers go one way only: up, or down when lower is better; equal neighbours count as the same."""
    if not isinstance(left, list) or not all(map(_number, left)):
        return None
    return all(a >= b if sense.better == "lower" else a <= b for a, b in pairwise(left))


def _not_worse(left: Any, right: Any, sense: Sense) -> bool | None:
    """Whether a number is no worse than the operand, or within the tolerance of it. Infinity is a number here."""
    if not _number(left) or not _number(right) or sense.better is None:
        return None
    loss = right - left if sense.better == "higher" else left - right
    return bool(left == right or loss <= slack(right, sense.tolerance))


def _not_removed(left: Any, right: Any, _: Sense) -> bool | None:
    """Whether all that was is still there: the thing itself, or each element or key of it."""
    if isinstance(right, list | dict):
        return _all_in(right, left)
    return right is MISSING or left is not MISSING


def _version_at_least(left: Any, right: Any, _: Sense) -> bool | None:
    """Debian's order of versions; two hexadecimal revisions (0xa0011d5) as the numbers that they are."""
    if not isinstance(left, str) or not isinstance(right, str):
        return None
    if HEX.fullmatch(left) and HEX.fullmatch(right):
        return int(left, 16) >= int(right, 16)
    return order(left) >= order(right)


OPERATORS: dict[str, Operator] = {
    "exists": lambda left, _, __: left is not MISSING,
    "absent": lambda left, _, __: left is MISSING,
    "equal": _equal,
    "not-equal": _not(_equal),
    "unchanged": _equal,
    "changed": _not(_equal),
    "in": _in,
    "not-in": _not(_in),
    "contains": _contains,
    "not-contains": _not(_contains),
    "matches": _matches,
    "not-matches": _not(_matches),
    "subset": lambda left, right, _: _all_in(left, right),
    "superset": lambda left, right, _: _all_in(right, left),
    "gt": _ordered(lambda left, right: bool(left > right)),
    "ge": _ordered(lambda left, right: bool(left >= right)),
    "lt": _ordered(lambda left, right: bool(left < right)),
    "le": _ordered(lambda left, right: bool(left <= right)),
    "within": _within,
    "count": _count,
    "all-same": _all_same,
    "unique": _unique,
    "monotone": _monotone,
    "not-worse": _not_worse,
    "not-removed": _not_removed,
    "not-added": lambda left, right, sense: _not_removed(right, left, sense),
    "version-at-least": _version_at_least,
    "version-below": _not(_version_at_least),
}
UNARY = ("exists", "absent", "all-same", "unique", "monotone")
TWIN = ("unchanged", "changed", "not-worse", "not-removed", "not-added")  # compare with before unless told otherwise
