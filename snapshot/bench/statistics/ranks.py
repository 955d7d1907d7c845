"""Whether two samples differ: the rank-sum test of Mann and Whitney (1947), two-sided, exact.

The p value is that of the permutation distribution: of all ways to divide the values into two samples of these sizes,
the share in which the ranks of one lie at least so far to one side, doubled. Equal values share the mean of their
ranks, and the distribution is then that of these midranks (Lehmann, Nonparametrics, 1975, section 1.4), so that the
test keeps its level with ties too.

Without ties the distribution depends on the two sizes alone. With ties it is counted for each pair of samples; where
that would take milliseconds (TIED) or the sizes are large (UNTIED) the normal approximation with its correction for
ties and for continuity stands in.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import accumulate

UNTIED = 10_000  # product of the sizes: 100 and 100 samples
TIED = 200_000_000  # square of the smaller size times cube of both: 30 and 30 samples, a few milliseconds


def rank_test(one: Sequence[float], other: Sequence[float]) -> float:
    """The two-sided p value of no difference. ValueError when a sample is empty."""
    if not one or not other:
        raise ValueError("a sample is empty")
    doubled = _doubled_midranks([*one, *other])
    if doubled is None:
        return _untied(one, other)
    few = min((doubled[: len(one)], doubled[len(one):]), key=len)
    n, total = len(few), len(doubled)
    return _tied(doubled, few) if n**2 * total**3 <= TIED else _normal(doubled, sum(few), n)


@cache
def smallest_p(n: int, m: int) -> float:
    """The smallest p value that samples of these sizes can have: all of one are above all of the other."""
    return min(1.0, 2 / math.comb(n + m, n))


def _doubled_midranks(values: Sequence[float]) -> list[int] | None:
    """Twice the rank of each value, which is whole; None when no two values are equal."""
    counts = Counter(values)
    if len(counts) == len(values):
        return None
    ranks, below = {}, 0
    for value in sorted(counts):
        ranks[value] = 2 * below + counts[value] + 1
        below += counts[value]
    return [ranks[value] for value in values]


def _untied(one: Sequence[float], other: Sequence[float]) -> float:
    n, m = len(one), len(other)
    order = {value: rank for rank, value in enumerate(sorted([*one, *other]), 1)}
    ranks = [order[value] for value in one]
    if n * m > UNTIED:
        return _normal([2 * rank for rank in order.values()], 2 * sum(ranks), n)
    u = sum(ranks) - n * (n + 1) // 2
    return min(1.0, 2 * lower_tails(n, m)[min(u, n * m - u)] / math.comb(n + m, n))


@cache
def lower_tails(n: int, m: int) -> list[int]:
    """For u up to n * m / 2: in how many divisions without ties the statistic U is at most u.

    The numbers are the sums of the coefficients of the Gaussian binomial, the product of (1 - q^(m+i)) / (1 - q^i).
    """
    counts = [1] + [0] * (n * m // 2)
    for i in range(1, min(n, m) + 1):
        step = max(n, m) + i
        counts[step:] = [high - low for high, low in zip(counts[step:], counts, strict=False)]
        for start in range(min(i, len(counts))):
            counts[start::i] = accumulate(counts[start::i])
    return [*accumulate(counts)]


def _tied(doubled: Sequence[int], few: Sequence[int]) -> float:
    """By counting: how many ways there are to draw as many ranks with each sum, as the digits of one large number."""
    n, total = len(few), len(doubled)
    width, least = total + 1, min(doubled)  # bits of a digit: no sum of counts exceeds 2**total
    ways = [1] + [0] * n  # by how many ranks are drawn; ranks count from the least one
    for at, rank in enumerate(doubled, 1):
        move = (rank - least) * width
        for drawn in range(min(n, at), 0, -1):
            ways[drawn] += ways[drawn - 1] << move
    here = sum(few) - n * least
    below, above = ways[n] & ((1 << (here + 1) * width) - 1), ways[n] >> here * width
    base = 1 << width
    return min(1.0, 2 * min(below % (base - 1), above % (base - 1)) / math.comb(total, n))  # the sums of their digits


def _normal(doubled: Sequence[int], drawn: int, n: int) -> float:
    """By the normal approximation, of DRAWN, the sum of N of the doubled ranks."""
    total = len(doubled)
    m, middle = total - n, n * (total + 1)
    ties = sum(count**3 - count for count in Counter(doubled).values())
    variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
    if not variance:
        return 1.0
    away = max(0.0, abs(drawn - middle) / 2 - 0.5)
    return min(1.0, math.erfc(away / math.sqrt(2 * variance)))
