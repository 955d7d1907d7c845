"""The rank test against scipy, against every division counted one by one, and its level where nothing differs."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from scipy.stats import mannwhitneyu, rankdata

from snapshot.bench.statistics import ranks
from snapshot.bench.statistics.ranks import lower_tails, rank_test, smallest_p

Samples = tuple[list[float], list[float]]


def drawn(draw: random.Random, ties: bool, most: int = 12) -> Samples:
    """Two samples of 1 to MOST values, of which many are equal with TIES."""
    def one() -> list[float]:
        size = draw.randint(1, most)
        return [float(draw.randint(1, 5)) for _ in range(size)] if ties else [draw.gauss(0, 1) for _ in range(size)]

    return one(), one()


def by_counting(one: list[float], other: list[float]) -> float:
    """The p value from all divisions, one by one."""
    doubled = [round(2 * rank) for rank in rankdata([*one, *other])]
    here, sums = sum(doubled[: len(one)]), [sum(some) for some in combinations(doubled, len(one))]
    tails = (sum(found <= here for found in sums), sum(found >= here for found in sums))
    return min(1.0, 2 * min(tails) / len(sums))


def test_without_ties_it_is_scipys_exact_test() -> None:
    draw = random.Random(1)
    for _ in range(2000):
        one, other = drawn(draw, ties=False)
        assert rank_test(one, other) == pytest.approx(mannwhitneyu(one, other, method="exact").pvalue, rel=1e-9)


def test_with_ties_every_division_counts_once() -> None:
    draw = random.Random(2)
    for _ in range(600):
        one, other = drawn(draw, ties=True, most=6)
        assert rank_test(one, other) == pytest.approx(by_counting(one, other), rel=1e-12)


@pytest.mark.parametrize("size", [30, 31, 60])
def test_of_large_samples_with_ties_scipys_approximation_is_near_or_the_same(size: int) -> None:
    draw = random.Random(size)
    for _ in range(20):
        one, other = ([float(draw.randint(low, low + 40)) for _ in range(size)] for low in (1, 6))
        near = mannwhitneyu(one, other, method="asymptotic", use_continuity=True).pvalue
        assert rank_test(one, other) == pytest.approx(near, abs=0.01 if size == 30 else 1e-12)


def test_beyond_the_largest_sizes_it_is_scipys_approximation() -> None:
    draw = random.Random(4)
    one, other = ([draw.gauss(middle, 1) for _ in range(101)] for middle in (0, 0.2))
    assert len(one) * len(other) > ranks.UNTIED
    assert rank_test(one, other) == pytest.approx(mannwhitneyu(one, other, method="asymptotic").pvalue, rel=1e-9)


@pytest.mark.parametrize(("n", "m", "least"), [(1, 1, 1.0), (3, 3, 0.1), (4, 4, 2 / 70), (3, 5, 2 / 56), (1, 39, 0.05)])
def test_the_smallest_p_is_that_of_samples_apart(n: int, m: int, least: float) -> None:
    assert smallest_p(n, m) == pytest.approx(least)
    assert rank_test([*map(float, range(n))], [100.0 + at for at in range(m)]) == pytest.approx(least)


def test_all_equal_is_no_difference() -> None:
    assert rank_test([5.0] * 4, [5.0] * 4) == rank_test([5.0] * 200, [5.0] * 200) == 1


@pytest.mark.parametrize("empty", [([], [1.0]), ([1.0], [])])
def test_an_empty_sample_is_an_error(empty: Samples) -> None:
    with pytest.raises(ValueError, match="empty"):
        rank_test(*empty)


def test_sides_can_be_exchanged() -> None:
    draw = random.Random(5)
    for ties in (True, False):
        for _ in range(100):
            one, other = drawn(draw, ties)
            assert rank_test(one, other) == pytest.approx(rank_test(other, one), rel=1e-12)


def test_the_distribution_sums_up_to_all_divisions() -> None:
    tails = lower_tails(5, 4)
    assert tails[0] == 1
    assert 2 * tails[9] + (tails[10] - tails[9]) == 126  # it is symmetric around 10


@pytest.mark.parametrize(("n", "m"), [(4, 4), (5, 8), (10, 10)])
@pytest.mark.parametrize("ties", [False, True])
def test_on_data_without_a_difference_it_keeps_its_level(n: int, m: int, ties: bool) -> None:
    draw, runs = random.Random(6), 4000
    alarms = 0
    for _ in range(runs):
        both = [float(draw.randint(1, 6)) if ties else draw.lognormvariate(0, 0.3) for _ in range(n + m)]
        alarms += rank_test(both[:n], both[n:]) <= 0.05
    print(f"{n} and {m} values, ties {ties}: {100 * alarms / runs:.2f} % false alarms at 5 %")
    assert alarms / runs <= 0.05 + 0.007  # two standard errors
    assert alarms
