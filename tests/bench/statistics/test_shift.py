"""Shift and factor against the definition, and how often the interval holds the truth."""

from __future__ import annotations

import random
from statistics import median

import pytest

from snapshot.bench.statistics import shift as module
from snapshot.bench.statistics.ranks import rank_test
from snapshot.bench.statistics.shift import THIN, factor, shift


def test_the_shift_is_the_median_of_all_differences() -> None:
    draw = random.Random(1)
    for _ in range(300):
        one, other = ([draw.gauss(0, 1) for _ in range(draw.randint(1, 9))] for _ in range(2))
        assert shift(one, other)[0] == pytest.approx(median(y - x for x in one for y in other))


def test_the_factor_is_the_median_of_all_ratios() -> None:
    assert factor([1.0, 2.0, 4.0], [3.0, 6.0, 12.0])[0] == 3


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 3), (2, 7), (3, 4)])
def test_samples_too_few_have_no_interval(n: int, m: int) -> None:
    assert shift([*map(float, range(n))], [*map(float, range(m))])[1] is None


def test_the_interval_leaves_zero_out_when_the_test_shows_a_difference() -> None:
    draw = random.Random(2)
    for _ in range(500):
        one = [draw.gauss(0, 1) for _ in range(draw.randint(4, 12))]
        other = [draw.gauss(0.8, 1) for _ in range(draw.randint(4, 12))]
        interval = shift(one, other)[1]
        assert interval is not None
        assert (rank_test(one, other) <= 0.05) == (interval[0] > 0 or interval[1] < 0)


@pytest.mark.parametrize(("n", "m"), [(4, 4), (5, 9), (12, 12)])
def test_the_interval_holds_the_truth_as_often_as_stated(n: int, m: int) -> None:
    draw, runs, held = random.Random(3), 2000, [0, 0]
    for _ in range(runs):
        one, other = [draw.expovariate(1) for _ in range(n)], [0.7 + draw.expovariate(1) for _ in range(m)]
        low, high = shift(one, other)[1] or (0, 0)
        held[0] += low <= 0.7 <= high
        one, other = ([draw.lognormvariate(0, 0.5) for _ in range(size)] for size in (n, m))
        low, high = factor(one, [1.3 * value for value in other])[1] or (0, 0)
        held[1] += low <= 1.3 <= high
    print(f"{n} and {m} values: held in {[100 * count / runs for count in held]} % of {runs} at 95 %")
    assert min(held) / runs >= 0.95 - 0.01


def test_with_ties_it_is_held_more_often() -> None:
    draw, runs, held = random.Random(4), 1000, 0
    for _ in range(runs):
        one, other = ([float(draw.randint(1, 4)) for _ in range(6)] for _ in range(2))
        low, high = shift(one, [value + 2 for value in other])[1] or (0, 0)
        held += low <= 2 <= high
    assert held / runs >= 0.95


def test_of_large_samples_some_values_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(5)
    one, other = ([draw.gauss(middle, 1) for _ in range(2000)] for middle in (0, 0.5))
    found, interval = shift(one, other)
    assert interval is not None
    assert interval[0] < 0.5 < interval[1]
    monkeypatch.setattr(module, "THIN", 4 * THIN)
    assert found == pytest.approx(shift(one, other)[0], abs=0.005)
