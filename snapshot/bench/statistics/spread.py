"""The middle, the quartiles and the ends of one sample, and how far single runs of a pair are apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which SHARE of the ORDERED values lie, between two of them by proportion (R's type 7)."""
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def middle(values: Sequence[float]) -> float:
    """The median."""
    return quantile(sorted(values), 0.5)


def noise_percent(*samples: Sequence[float]) -> float | None:
    """Standard deviation of single runs in percent of their sample's mean, pooled; None when no two runs tell it.

    Runs that all gave 0 tell none; of others with the mean 0 it is infinite.
    """
    told = [values for values in samples if len(values) > 1 and any(values)]
    means = [math.fsum(values) / len(values) for values in told]
    if not told:
        return None
    if not all(means):
        return math.inf
    squares = chain.from_iterable(((value / mean - 1) ** 2 for value in values)
                                  for values, mean in zip(told, means, strict=True))
    return 100 * math.sqrt(math.fsum(squares) / sum(len(values) - 1 for values in told))


def deviation(values: Sequence[float]) -> float:
    """The standard deviation, told by the median of the distances from the median: a few outliers do not move it.

    Rousseeuw and Croux (1993), Alternatives to the Median Absolute Deviation.
    """
    centre = middle(values)
    return 1.4826 * middle([abs(value - centre) for value in values])
