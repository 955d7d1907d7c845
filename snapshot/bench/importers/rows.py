"""Rows that name a metric, its value and its unit: what the forms of no particular tool have in common.

Which direction is better is told by the row, else by the unit, when that is a time, or something a second; what
neither tells is not guessed.
"""

from __future__ import annotations

import re

from ...regexes import regex
from ...sections.bench import Better
from ..report import Metric, Value, Workload, bad
from .printed import coarse_percent, finite

NO_VALUE = ("", "-", "n/a", "na", "nan", "null", "none", "inf", "+inf", "-inf", "failed", "error", "timeout")
_TIME = r"(?:[numµμ]?s|nsec|usec|msec|secs?|seconds?|milliseconds?|microseconds?|nanoseconds?|mins?|minutes?|hours?)"
_LOWER = regex(rf"{_TIME}(?:/(?!s$|sec$|second$)\w+)?", re.IGNORECASE)
_HIGHER = regex(r".+/(?:s|sec|second|min|minute|h|hour)|.*(?:IOPS|FLOPS)|[KMGT]?i?(?:bit|b)ps|(?:f|q|r|t)ps",
                     re.IGNORECASE)


def value(
    name: str, printed: str, unit: str, better: str | None, workload: Workload, file: str, line: int
) -> Value:
    """The value of a row. ReportError when it is no number, or nothing says which direction is better."""
    found = finite(printed)
    if found is None and printed.strip().lower() not in NO_VALUE:
        bad(file, f"the value of {name} is no number: {printed!r:.40}", line)
    metric = Metric(name=name, unit=unit, better=_direction(name, unit, better, file, line),
                    minimum_percent=coarse_percent(printed))
    return Value(metric=metric, workload=workload, value=found, status="ok" if found is not None else "failed",
                 why=None if found is not None else f"no value: {printed.strip() or 'empty'}")


def _direction(name: str, unit: str, better: str | None, file: str, line: int) -> Better:
    said = (better or "").strip().lower()
    if said in ("higher", "lower"):
        return "higher" if said == "higher" else "lower"
    if said:
        bad(file, f"better is higher or lower, not {said!r:.20}", line)
    if by_unit := direction(unit):
        return by_unit
    return bad(file, f"whether higher or lower is better is not told by the unit {unit!r:.20} of {name}: say it", line)


def direction(unit: str) -> Better | None:
    """Which is better by the UNIT; None when it does not tell."""
    if _HIGHER.fullmatch(unit.strip()):
        return "higher"
    return "lower" if _LOWER.fullmatch(unit.strip()) else None
