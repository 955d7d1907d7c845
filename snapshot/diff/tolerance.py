"""How far numbers may move and still count as the same: "1%", "64 MiB", "5 W", or a number in the fact's own unit.

A fact's unit stands in its name (_khz, _bytes): of a table value -> CPUs or address -> value, in the table's name. A
percentage is of the larger of the two values, as math.isclose has it, so that it does not matter which one was
before; from 0 to anything is no matter of percent, and NaN and infinity are within nothing. Vectors (tcp_mem, lists)
are within a tolerance if each of their numbers is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final, Self

from ..records import record
from ..regexes import regex
from ..sections.shape import Path
from .pattern import Pattern

_AMOUNT = regex(r"([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*(%|[A-Za-zµ][A-Za-z/]*)?")
_VECTOR = regex(r"-?[0-9]{1,40}(?: -?[0-9]{1,40})*")

UNITS: Final[dict[str, tuple[str, Fraction]]] = {
    **{unit: ("size", Fraction(1024**at)) for at, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB"))},
    **{unit: ("clock", Fraction(1000**at)) for at, unit in enumerate(("Hz", "kHz", "MHz", "GHz"))},
    **{unit: ("power", Fraction(1000) ** at) for at, unit in enumerate(("uW", "mW", "W", "kW"), -2)},
    **{unit: ("time", Fraction(1000) ** at) for at, unit in enumerate(("ns", "us", "ms", "s"), -3)},
    "Mbit/s": ("rate", Fraction(1000)), "Gbit/s": ("rate", Fraction(1000**2)), "GB/s": ("bandwidth", Fraction(1)),
    "MT/s": ("transfers", Fraction(1)), "GT/s": ("transfers", Fraction(1000)),
}
"""Unit -> what it measures, and its size among the units of that."""

SUFFIXES: Final = {
    "bytes": "B", "kb": "KiB", "mib": "MiB", "khz": "kHz", "mhz": "MHz", "uw": "uW", "mw": "mW", "ns": "ns", "us": "us",
    "ms": "ms", "mbps": "Mbit/s", "gbps": "Gbit/s", "gbs": "GB/s", "mts": "MT/s", "gts": "GT/s",
}
"""End of a fact's name -> its unit."""


@record(frozen=True)
class Tolerance:
    """Of which facts, and how far; made by ``parse``."""

    pattern: Pattern
    amount: str
    number: Fraction
    unit: str  # empty: the fact's own

    @classmethod
    def parse(cls, pattern: str, amount: str | int | float) -> Self:
        """The tolerance AMOUNT of the facts PATTERN. ValueError when either is none, or they do not go together."""
        found, where = _AMOUNT.fullmatch(str(amount).strip()), Pattern.parse(pattern)
        if not found:
            raise ValueError(f"{amount!r} is no tolerance: write 1%, 64 MiB, 5 W, or a number in the fact's own unit")
        unit = (found[2] or "").replace("µ", "u")
        if unit and unit != "%" and unit not in UNITS:
            raise ValueError(f"{amount!r}: there is no unit {unit!r}: %, {', '.join(UNITS)}")
        if where.direction:
            raise ValueError(f"{pattern}: only what both sides have can be within a tolerance: leave the sign out")
        made = cls(where, str(amount).strip(), Fraction(found[1]), unit)
        last = where.pieces[-1].text
        if own_unit((last,)) and made.scaled((last,)) is None:
            raise ValueError(f"{pattern} is in {own_unit((last,))}, which {made.amount!r} is not")
        return made

    def scaled(self, path: Path) -> Fraction | None:
        """The amount in the unit of the fact at PATH, a percentage as it is; None when its unit is of another kind."""
        if self.unit in ("", "%"):
            return self.number
        own = own_unit(path)
        kind, size = UNITS[own] if own else ("", Fraction(1))
        return self.number * UNITS[self.unit][1] / size if kind == UNITS[self.unit][0] else None

    def within(self, path: Path, before: Any, after: Any) -> bool:
        """Whether the values of the fact at PATH are numbers that are as near as that."""
        amount, pairs = self.scaled(path), paired(before, after)
        return bool(pairs) and amount is not None and all(self._near(amount, *pair) for pair in pairs)

    def _near(self, amount: Fraction, before: Fraction, after: Fraction) -> bool:
        distance = abs(after - before)
        if self.unit != "%" or not distance:
            return distance <= amount
        return before != 0 != after and distance * 100 <= amount * max(abs(before), abs(after))


def own_unit(path: Path) -> str:
    """The unit of a fact, from the last name on its path that says one; empty when none does."""
    ends = (key.rpartition("_")[2] for key in reversed(path) if "_" in key)
    return next((SUFFIXES[end] for end in ends if end in SUFFIXES), "")


def paired(before: Any, after: Any) -> list[tuple[Fraction, Fraction]]:
    """The numbers of both sides, in pairs; empty when they are no numbers of the same types, or not as many."""
    one, other = _numbers(before), _numbers(after)
    alike = _types(before) == _types(after) and len(one) == len(other)
    return list(zip(one, other, strict=True)) if alike else []


def _types(value: Any) -> list[type]:
    return [type(value), *(map(type, value) if isinstance(value, list) else ())]


def _numbers(value: Any) -> Sequence[Fraction]:
    if isinstance(value, str):
        return [Fraction(word) for word in value.split(" ")] if _VECTOR.fullmatch(value) else ()
    numbers = value if isinstance(value, list) else [value]
    # By way of text, as they are written: 0.1 is a tenth.
    return [Fraction(str(number)) for number in numbers] if all(map(_finite, numbers)) else ()


def _finite(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))
