"""Tables between devices: cell by cell, and by how far apart the devices are.

A group of cells is one question: of each run the middle one of its cells. A cell alone is asked besides, because one
slow link is lost in the middle of many; where samples are few, its band is at least as wide as the cells of its group
differ in how much they moved. Cells are asked about together, and so are groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from typing import Any

from ...records import record, replace
from ...sections.bench import Grid
from ..statistics.spread import deviation, middle
from .bands import MEDIAN, Band, band
from .comparison import Effect, GridComparison, Group, Verdict
from .effects import LEVEL, MINIMUM_PERCENT, Question, effects
from .matching import Match, matches
from .status import finite, unjudged

Cell = tuple[str, str]
Apart = Callable[[str, str], str | None]  # names of two devices after -> how far apart they are; None: not known
ALL, SAME = "all", "same device"
ORDER: tuple[Verdict, ...] = ("worse", "failed", "better", "too-few", "same")  # what of a table is said first
TOLD = 0.37  # of how many values a deviation from medians tells as much as the usual one: its efficiency
WIDEST = 100.0  # logarithm of a factor that no cell moves by
TOGETHER = 4  # cells of a group that tell how much cells differ


def compared_grids(
    before: Mapping[str, Grid], after: Mapping[str, Grid], noise: Mapping[str, float], apart: Apart,
    moved: Mapping[str, str],
) -> list[GridComparison]:
    """Every table of both sides, with the names of after. MOVED: name after -> name before, where that is another."""
    news = {old: new for new, old in moved.items()}
    gone = {name: f"{name} (before)" for name in moved if name not in news}  # another device has the name now
    names = {**gone, **news}
    olds = {id_: grid.copy(rows=[names.get(name, name) for name in grid.rows],
                           columns=[names.get(name, name) for name in grid.columns]) for id_, grid in before.items()}
    return [_compared(match, noise, apart) for match in matches(olds, after)]


def _compared(match: Match[Grid], noise: Mapping[str, float], apart: Apart) -> GridComparison:
    sides: dict[str, Any] = {"id": match.id, "measured": match.measured, "before": match.before, "after": match.after}
    if effect := unjudged(match):
        return GridComparison(**sides, effect=effect)
    table = _Tables(*match.sides, band(noise, match.id, match.measured), apart)
    return GridComparison(**sides, effect=table.effect, cells=table.cells, groups=table.groups, lost=table.lost)


@record()
class _Tables:
    """Two tables that can be compared."""

    before: Grid
    after: Grid
    band: Band
    apart: Apart

    def __post_init__(self) -> None:
        olds, news = _values(self.before), _values(self.after)
        self.lost = [cell for cell in olds if cell not in news]
        self.pairs = {cell: (olds[cell], now) for cell, now in news.items() if cell in olds}
        kinds: dict[str, list[Cell]] = {}
        for cell in self.pairs:
            kinds.setdefault(SAME if cell[0] == cell[1] else self.apart(*cell) or ALL, []).append(cell)
        self.cells = self._cells(kinds)
        self.groups = self._groups(kinds)
        self.effect = self._whole()

    def _question(self, before: Sequence[float], after: Sequence[float], band: Band) -> Question:
        minimum = self.after.minimum_percent
        return Question(before, after, self.after.better, MINIMUM_PERCENT if minimum is None else minimum, band)

    def _cells(self, kinds: Mapping[str, Sequence[Cell]]) -> dict[Cell, Effect]:
        every = [(cell, band) for cells in kinds.values() for band in [self._band(cells, 1)] for cell in cells]
        asked = [self._question(*self.pairs[cell], band) for cell, band in every]
        return dict(zip((cell for cell, _ in every), effects(asked), strict=True))

    def _band(self, cells: Sequence[Cell], middle_of: int) -> Band:
        """The band of a cell of a group, or of the middle one of so many: as wide at least as they moved apart.

        It lies so many deviations away that among all cells none is expected beyond it in 19 of 20 tables (Bonferroni),
        and more where few cells tell the deviation.
        """
        sides = [(middle(old), middle(now)) for old, now in map(self.pairs.__getitem__, cells)]
        moves = [math.log(now / old) for old, now in sides if min(old, now) > 0]
        if len(moves) < TOGETHER:
            return self.band
        far = max(self.band.factor, _student(len(self.pairs), TOLD * (len(moves) - 1)))
        error = deviation(moves) * (1 if middle_of == 1 else MEDIAN / math.sqrt(middle_of))
        return replace(self.band, percent=max(self.band.percent, 100 * math.expm1(min(far * error, WIDEST))))

    def _groups(self, kinds: Mapping[str, Sequence[Cell]]) -> list[Group]:
        asked = [self._question(_runs(self.before, cells), _runs(self.after, cells), self._band(cells, len(cells)))
                 for cells in kinds.values()]
        return [Group(name=name, cells=cells, effect=effect, worse=self._which(cells, "worse"),
                      better=self._which(cells, "better"))
                for (name, cells), effect in zip(kinds.items(), effects(asked), strict=True)]

    def _which(self, cells: Sequence[Cell], verdict: str) -> list[Cell]:
        return [cell for cell in cells if self.cells[cell].verdict == verdict]

    def _whole(self) -> Effect:
        """The worst that is to be said: of a group, else of single cells, else that some are lost."""
        if not self.pairs:
            return Effect(verdict="not-comparable", why="there is no cell that has a value on both sides")
        group = min(self.groups, key=lambda one: ORDER.index(one.effect.verdict))
        counts = {word: sum(len(getattr(one, word)) for one in self.groups) for word in ("worse", "better")}
        said = [f"{count} of {len(self.pairs)} cells {word}" for word, count in counts.items() if count]
        said += [f"{len(self.lost)} cells without a value now"] if self.lost else []
        there: dict[Verdict, bool] = {"worse": counts["worse"] > 0, "failed": bool(self.lost),
                                      "better": counts["better"] > 0, group.effect.verdict: True}
        verdict = min((one for one, is_so in there.items() if is_so), key=ORDER.index)
        return replace(group.effect, verdict=verdict, why="; ".join([f"{group.name}: {group.effect.why}", *said]))


def _student(asked: int, degrees: float) -> float:
    """Student's t of so many degrees of freedom, where ASKED questions share the level.

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5, the first two terms.
    """
    z = -NormalDist().inv_cdf(LEVEL / (2 * asked))
    return z + (z**3 + z) / (4 * degrees)


def _values(grid: Grid) -> dict[Cell, list[float]]:
    """The cells that have a number."""
    return {cell: found for cell, values in grid.cells().items() if (found := finite(values))}


def _runs(grid: Grid, cells: Sequence[Cell]) -> list[float]:
    """Of each run the middle one of CELLS."""
    rows, columns = ({name: at for at, name in enumerate(names)} for names in (grid.rows, grid.columns))
    runs = [finite(table[rows[row]][columns[column]] for row, column in cells) for table in grid.samples]
    return [middle(found) for found in runs if found]

