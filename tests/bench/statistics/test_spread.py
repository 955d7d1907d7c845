"""Quartiles against numpy, and the noise of single runs."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from snapshot.bench.statistics.spread import deviation, middle, noise_percent, quantile


def test_quantiles_are_numpys() -> None:
    draw = random.Random(1)
    for _ in range(200):
        values = sorted(draw.gauss(0, 1) for _ in range(draw.randint(1, 12)))
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            assert quantile(values, share) == pytest.approx(float(np.quantile(values, share)))


def test_noise_is_pooled_over_both_sides() -> None:
    assert noise_percent([99.0, 101.0], [198.0, 202.0]) == pytest.approx(2**0.5)
    assert noise_percent([100.0], [99.0, 101.0]) == pytest.approx(2**0.5)


@pytest.mark.parametrize("samples", [([1.0], [2.0]), ([0.0, 0.0], [1.0])])
def test_noise_that_no_two_runs_tell_is_none(samples: tuple[list[float], list[float]]) -> None:
    assert noise_percent(*samples) is None


def test_noise_of_what_lies_around_zero() -> None:
    assert noise_percent([0.0, 0.0], [99.0, 101.0]) == pytest.approx(2**0.5)
    assert noise_percent([-1.0, 1.0], [5.0, 6.0]) == math.inf


def test_an_outlier_does_not_move_the_deviation() -> None:
    values = [100.0, 100.5, 99.5, 100.2, 99.8]
    assert deviation([*values, 10.0]) < 1
    assert middle([3.0, 1.0, 2.0]) == 2
