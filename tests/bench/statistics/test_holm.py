"""Holm's correction: by hand, and against scipy's for two."""

from __future__ import annotations

import random

import pytest

from snapshot.bench.statistics.holm import holm


def test_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_of_none_and_one_there_is_nothing_to_correct() -> None:
    assert holm([]) == []
    assert holm([0.2]) == [0.2]


def test_it_stays_within_one_in_order_and_above_the_raw_value() -> None:
    draw = random.Random(1)
    for _ in range(300):
        raw = [draw.random() ** 2 for _ in range(draw.randint(1, 9))]
        found = holm(raw)
        assert all(p <= corrected <= 1 for p, corrected in zip(raw, found, strict=True))
        assert [raw.index(p) for p in sorted(raw)] == sorted(range(len(raw)), key=lambda at: (found[at], raw[at]))


def test_the_chance_of_any_false_answer_stays_at_the_level() -> None:
    draw, runs = random.Random(2), 4000
    alarms = sum(min(holm([draw.random() for _ in range(5)])) <= 0.05 for _ in range(runs))
    assert 0 < alarms / runs <= 0.05 + 0.007
