"""How far one sample is from another, with a confidence interval: Hodges and Lehmann (1963).

The estimate is the median of all differences (or ratios) between a value of one and a value of the other. The interval
lies between two of them, which the distribution of the rank test picks (Lehmann, Nonparametrics, 1975, section 2.6):
whatever the distribution of the values, it holds the true shift (or factor) at least as often as stated; with ties
more often. Samples too few for that have none.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from statistics import NormalDist, median

from .ranks import UNTIED, lower_tails

Interval = tuple[float, float]
THIN = 500  # of larger samples so many values stand for all, evenly spaced in their order


def shift(one: Sequence[float], other: Sequence[float], level: float = 0.95) -> tuple[float, Interval | None]:
    """By how much OTHER is larger, and the interval."""
    a, b = _thinned(one), _thinned(other)
    return _between(sorted(y - x for x in a for y in b), len(one), len(other), level)


def factor(one: Sequence[float], other: Sequence[float], level: float = 0.95) -> tuple[float, Interval | None]:
    """How many times OTHER is as large, and the interval; of values above 0."""
    a, b = _thinned(one), _thinned(other)
    return _between(sorted(y / x for x in a for y in b), len(one), len(other), level)


def _thinned(values: Sequence[float]) -> Sequence[float]:
    if len(values) <= THIN:
        return values
    ordered = sorted(values)
    return [ordered[(2 * at + 1) * len(values) // (2 * THIN)] for at in range(THIN)]


def _between(pairs: Sequence[float], n: int, m: int, level: float) -> tuple[float, Interval | None]:
    out = _left_out(n, m, 1 - level) * len(pairs) // (n * m)
    return median(pairs), (pairs[out - 1], pairs[-out]) if out else None


def _left_out(n: int, m: int, outside: float) -> int:
    """From which pair, counted from either end, the interval begins; 0 when there are too few.

    It is the largest k for which U is below k no more often than in half of OUTSIDE.
    """
    if n * m <= UNTIED:
        return bisect_right(lower_tails(n, m), outside / 2 * math.comb(n + m, n))
    deviation = math.sqrt(n * m * (n + m + 1) / 12)
    return max(0, math.floor(n * m / 2 - NormalDist().inv_cdf(1 - outside / 2) * deviation - 0.5))
