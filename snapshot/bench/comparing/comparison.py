"""What comparing two ``bench`` sections says: of each metric, of tables between devices, of ladders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ...records import field, record
from ...sections.bench import Grid, Measured, Measurement

Verdict = Literal[
    "better",  # the difference is shown, and at least as large as the smallest one that matters
    "worse",
    "same",  # no difference is shown
    "too-few",  # a difference beyond the noise band, by samples that are too few and too far from each other to tell
    "not-comparable",
    "failed",  # a run after gave no value, though one before did
    "vanished",  # measured before and not after
    "added",
]
Basis = Literal["rank test", "noise band"]


@record(frozen=True)
class Spread:
    """The samples of one side in short: how many, the middle one, quartiles, ends."""

    count: int
    median: float
    low: float  # first quartile
    high: float  # third quartile
    min: float
    max: float


@record(frozen=True, kw_only=True)
class Effect:
    """How far one side is from the other, and what that is judged by. Percent of before; None where before is 0."""

    verdict: Verdict
    why: str  # one line: on what the verdict rests
    before: Spread | None = None
    after: Spread | None = None
    percent: float | None = None  # after against before, + is larger
    low_percent: float | None = None  # confidence interval of PERCENT
    high_percent: float | None = None
    basis: Basis | None = None
    p: float | None = None  # of the rank test; P_ADJUSTED is Holm's over the primary metrics of the workload
    p_adjusted: float | None = None
    band_percent: float | None = None  # the noise band, where it judged


@record(frozen=True, kw_only=True)
class Comparison:
    """One measurement on both sides."""

    id: str
    measured: Measured  # after, or before where there is none after
    before: Measurement | None
    after: Measurement | None
    effect: Effect
    limit: Limit | None = None


@record(frozen=True, kw_only=True)
class Limit:
    """The declared limit of a metric, and how near to it each side is."""

    value: float
    unit: str
    source: str
    before_percent: float | None
    after_percent: float | None


@record(frozen=True, kw_only=True)
class Group:
    """Cells of a table that lie equally far apart: same switch, same NUMA node, across NUMA nodes, all."""

    name: str
    cells: Sequence[tuple[str, str]]
    effect: Effect
    worse: Sequence[tuple[str, str]] = ()
    better: Sequence[tuple[str, str]] = ()


@record(frozen=True, kw_only=True)
class GridComparison:
    """One table between devices on both sides."""

    id: str
    measured: Measured
    before: Grid | None
    after: Grid | None
    effect: Effect
    cells: dict[tuple[str, str], Effect] = field(default_factory=dict)
    groups: Sequence[Group] = ()
    lost: Sequence[tuple[str, str]] = ()  # cells that had a value before, and have none after


@record(frozen=True, kw_only=True)
class Ladder:
    """One metric over a parameter that rises, such as concurrency or size, all else equal."""

    metric: str
    unit: str
    better: Literal["higher", "lower"]
    parameter: str
    workload: dict[str, str]  # without PARAMETER
    steps: Sequence[tuple[float, Comparison]]  # by PARAMETER, rising
    words: str  # where it got worse or better, and what that points to; "" when nowhere


@record(frozen=True, kw_only=True)
class Benchmarks:
    """Everything that is to be said of two ``bench`` sections."""

    comparisons: Sequence[Comparison] = ()
    grids: Sequence[GridComparison] = ()
    ladders: Sequence[Ladder] = ()
    remarks: Sequence[str] = ()  # one line each: P2P is not in effect, ...
