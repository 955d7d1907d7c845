"""What two snapshots teach of noise between which nothing was changed."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from snapshot.bench.noise import Noise, learned
from snapshot.sections.bench import Bench, Grid, Measurement, Source

SOURCE = Source(tool="t", format="x")
NAN, INF = math.nan, math.inf


def bench(samples: Sequence[float], unit: str = "s") -> Bench:
    return Bench(measurements={"a": Measurement(
        metric="m", unit=unit, better="lower", workload={}, samples=[*samples], status="ok", source=SOURCE)})


def tables(*samples: float) -> Bench:
    cells = [[[NAN, one], [2 * one, NAN]] for one in samples]
    return Bench(measurements={}, grids={"g": Grid(
        metric="m", unit="s", better="lower", workload={}, samples=cells, status="ok", source=SOURCE, rows=["x", "y"],
        columns=["x", "y"])})


def test_a_band_is_of_all_runs_of_both() -> None:
    assert learned(bench([10.0]), bench([10.1])) == {"a": Noise(12.7, 2)}  # 12.71 * 0.0707 / 10.05 * sqrt(2)
    assert learned(bench([10.0, 10.2, 10.1]), bench([10.0, 10.2, 10.1]))["a"] == Noise(3.3, 6)  # 3.22
    assert learned(bench([5.0]), bench([5.0, 5.0])) == {"a": Noise(0.0, 3)}


@pytest.mark.parametrize(("before", "after"), [
    ([], [1.0]), ([1.0], []), ([0.0], [1.0]), ([1.0], [-1.0]), ([NAN], [1.0]), ([1.0], [INF]),
])
def test_of_what_is_not_above_zero_no_band_is_learned(before: list[float], after: list[float]) -> None:
    assert learned(bench(before), bench(after)) == {}


def test_units_and_metrics_that_differ_teach_nothing() -> None:
    assert learned(bench([1.0], "s"), bench([1.0], "ms")) == {}
    assert learned(Bench(measurements={}), bench([1.0])) == learned(bench([1.0]), Bench(measurements={})) == {}
    assert learned(bench([1.0]), tables(1.0)) == {}


def test_cells_of_a_table_tell_its_noise_together() -> None:
    assert learned(tables(10.0), tables(10.1)) == {"g": Noise(12.7, 2)}
    assert learned(tables(NAN), tables(10.1)) == {}


@pytest.mark.parametrize("runs", [1, 3, 5])
def test_of_a_hundred_later_pairs_five_are_beyond_the_band(runs: int) -> None:
    chance = random.Random(20)
    beyond = 0
    for _ in range(4000):
        one, other = (bench([chance.gauss(100, 1.5) for _ in range(runs)]) for _ in range(2))
        new, again = chance.gauss(100, 1.5), chance.gauss(100, 1.5)
        beyond += abs(new - again) / again * 100 > learned(one, other)["a"].percent
    assert 0.02 < beyond / 4000 < 0.06
