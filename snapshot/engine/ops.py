"""The closed table of operators: pure functions of two values that know no paths, messages or output.

An operator answers None when it cannot judge what it is given (a size compared with a word, NaN, a thing that does
not exist): that verdict is unknown, never a pass. MISSING is what a host does not have; evidence that is missing
never gets here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from ..diff.change import MISSING
from ..diff.walk import same

Operator = Callable[[Any, Any], bool | None]


def _ordered(compare: Callable[[Any, Any], bool]) -> Operator:
    """An operator on two numbers, or two words."""

    def operator(left: Any, right: Any) -> bool | None:
        numbers = all(type(v) in (int, float) and not math.isnan(v) for v in (left, right))
        words = isinstance(left, str) and isinstance(right, str)
        return compare(left, right) if numbers or words else None

    return operator


def _in(left: Any, right: Any) -> bool | None:
    return any(same(left, element) for element in right) if isinstance(right, list) else None


def _contains(left: Any, right: Any) -> bool | None:
    """Whether a list has the element, or a text the part; what does not exist contains nothing."""
    if isinstance(left, str):
        return right in left if isinstance(right, str) else None
    return False if left is MISSING else _in(right, left)


def _matches(left: Any, right: Any) -> bool | None:
    """Whether the regular expression is found in a text, or in an element of a list that is a text."""
    texts = left if isinstance(left, list) else [left]
    if not isinstance(right, str) or not (left is MISSING or isinstance(left, str | list)):
        return None
    return any(isinstance(text, str) and re.search(right, text) for text in texts)


def _equal(left: Any, right: Any) -> bool:
    return same(left, right)


OPERATORS: dict[str, Operator] = {
    "exists": lambda left, _: left is not MISSING,
    "absent": lambda left, _: left is MISSING,
    "equal": _equal,
    "not-equal": lambda left, right: not _equal(left, right),
    "in": _in,
    "not-in": lambda left, right: None if (found := _in(left, right)) is None else not found,
    "contains": _contains,
    "matches": _matches,
    "not-matches": lambda left, right: None if (found := _matches(left, right)) is None else not found,
    "gt": _ordered(lambda left, right: bool(left > right)),
    "ge": _ordered(lambda left, right: bool(left >= right)),
    "lt": _ordered(lambda left, right: bool(left < right)),
    "le": _ordered(lambda left, right: bool(left <= right)),
}
UNARY = ("exists", "absent")
