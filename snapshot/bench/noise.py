"""How far apart two runs of the same can be, learnt from two snapshots between which nothing was changed.

The runs of both are taken together, so that what differs from session to session is in it. Two single runs differ by
less than ``t s sqrt(2)`` in 95 of 100 cases, where s is the standard deviation and t Student's quantile for so many
runs: of two runs that is 12.7 times their difference, since two runs hardly tell it; of ten, 3.3 times s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median, stdev

from ..records import record
from ..sections.bench import Bench, Grid, Measurement
from .comparing.bands import STUDENT
from .comparing.status import finite

ENOUGH = 6  # runs; with fewer a band is wide because little is known


@record(frozen=True)
class Noise:
    """The band of one measurement in percent, rounded up to a tenth, and how many runs it rests on."""

    percent: float
    runs: int


def learned(before: Bench, after: Bench) -> dict[str, Noise]:
    """By id, of what both sides measured in one unit; the cells of a table tell theirs together.

    A metric that is not above zero in every run has no band: a percentage of it means nothing.
    """
    found: dict[str, Noise] = {}
    for one, other in ((before.measurements, after.measurements), (before.grids or {}, after.grids or {})):
        for name in sorted(one.keys() & other.keys()):
            cells = _together(one[name], other[name])
            if cells and one[name].unit == other[name].unit:
                found[name] = _noise(cells)
    return found


def _together(before: Measurement | Grid, after: Measurement | Grid) -> list[list[float]]:
    """The runs of both sides, of each cell, that a band can be told of."""
    olds, news = (_cells(side) for side in (before, after))
    cells = [(olds[cell], news[cell]) for cell in olds.keys() & news.keys()]
    return [[*old, *new] for old, new in cells if old and new and min(*old, *new) > 0]


def _cells(side: Measurement | Grid) -> dict[tuple[str, str], list[float]]:
    every = {("", ""): side.samples} if isinstance(side, Measurement) else side.cells()
    return {cell: values for cell, values in every.items() if finite(values) == values}


def _noise(cells: Sequence[Sequence[float]]) -> Noise:
    """Cells of a run are no runs of their own: they tell the deviation better, but not as if there were more runs."""
    runs = min(map(len, cells))
    deviation = math.sqrt(fmean((stdev(samples) / median(samples)) ** 2 for samples in cells))
    percent = 100 * STUDENT[min(runs - 1, len(STUDENT)) - 1] * deviation * math.sqrt(2)
    return Noise(math.ceil(percent * 10 - 1e-9) / 10, runs)
