"""A row of bars, a character each: U+2581 to U+2588."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

BARS = "▁▂▃▄▅▆▇█"
NONE = "·"  # of what is no number


def sparkline(values: Sequence[float], width: int = 16) -> str:
    """VALUES from their lowest to their highest; more than WIDTH are drawn in groups, by the middle of each."""
    shown = [*_grouped(values, width)]
    finite = [value for value in shown if math.isfinite(value)]
    if not finite:
        return NONE * len(shown)
    low, high = min(finite), max(finite)
    return "".join(_bar(value, low, high) for value in shown)


def _grouped(values: Sequence[float], width: int) -> Sequence[float]:
    if len(values) <= width:
        return values
    edges = [at * len(values) // width for at in range(width + 1)]
    return [_middle(values[start:end]) for start, end in pairwise(edges)]


def _middle(values: Sequence[float]) -> float:
    finite = [value for value in values if math.isfinite(value)]
    return median(finite) if finite else math.nan


def _bar(value: float, low: float, high: float) -> str:
    if not math.isfinite(value):
        return NONE
    share = (value / 2 - low / 2) / (high / 2 - low / 2) if high > low else 0.5  # halves: no overflow
    return BARS[min(int(share * len(BARS)), len(BARS) - 1)]
