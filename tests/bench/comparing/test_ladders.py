"""Curves over concurrency and size, and what they point to."""

from __future__ import annotations

import pytest

from snapshot.bench.comparing.compare import compare
from snapshot.bench.comparing.comparison import Ladder
from snapshot.bench.comparing.ladders import POINTS_TO
from snapshot.sections.bench import Measurement

from .made import bench, measurement

LOADS = (1, 2, 10, 64, 256, 1024)


def side(values: dict[int, float], parameter: str = "concurrency", **more: str) -> list[Measurement]:
    return [measurement(value, workload={parameter: str(load), **more}) for load, value in values.items()]


def ladders(factors: dict[int, float], parameter: str = "concurrency") -> list[Ladder]:
    before = dict.fromkeys(LOADS, 100.0)
    after = {load: 100 * factors.get(load, 1) for load in LOADS}
    return list(compare(bench(*side(before, parameter)), bench(*side(after, parameter))).ladders)


@pytest.mark.parametrize(("factors", "words"), [
    ({}, ""),
    ({1: 0.8, 2: 0.85}, f"worse at concurrency 1, 2 of 1 to 1024, which points to {POINTS_TO['concurrency'][0]}"),
    ({256: 0.8, 1024: 0.7}, "worse at concurrency 256, 1024 of 1 to 1024, which points to bandwidth, power or memory"),
    ({2: 0.8, 64: 0.8}, "worse at concurrency 2, 64 of 1 to 1024"),
    ({1: 0.8, 2: 0.8, 10: 0.8, 64: 0.8}, "worse at concurrency 1 to 64 of 1 to 1024"),
    (dict.fromkeys(LOADS, 0.8), "worse at every concurrency, 1 to 1024"),
    (dict.fromkeys(LOADS, 1.2), "better at every concurrency, 1 to 1024"),
    (dict.fromkeys(LOADS, 0.985), ""),
    (dict.fromkeys(LOADS, 0.97), "lower at every concurrency, by 3 to 3 %, none of which is shown alone"),
])
def test_where_it_got_worse_is_said(factors: dict[int, float], words: str) -> None:
    [ladder] = ladders(factors)
    assert [value for value, _ in ladder.steps] == [*map(float, LOADS)]
    assert ladder.words == words


def test_five_steps_of_one_sign_are_no_trend() -> None:
    [ladder] = ladders(dict.fromkeys(LOADS[:5], 0.97))
    assert ladder.words == ""


def test_small_sizes_point_to_latency() -> None:
    [ladder] = ladders({1: 0.5}, "size")
    assert ladder.words == "worse at size 1 of 1 to 1024, which points to latency"


def test_other_parameters_point_nowhere() -> None:
    [ladder] = ladders({1: 0.5}, "threads")
    assert ladder.words == "worse at threads 1 of 1 to 1024"


def test_prompts_that_grow_with_concurrency_leave_it_one_ladder() -> None:
    some = [measurement(1.0, workload={"concurrency": str(load), "num_prompts": str(4 * load)}) for load in LOADS]
    [ladder] = compare(bench(*some), bench(*some)).ladders
    assert ladder.parameter == "concurrency"
    assert ladder.workload == {}


def test_two_models_are_two_ladders() -> None:
    some = [*side({1: 1, 2: 1}, model="a"), *side({1: 1, 2: 1}, model="b")]
    found = compare(bench(*some), bench(*some)).ladders
    assert [ladder.workload for ladder in found] == [{"model": "a"}, {"model": "b"}]


def test_two_numbers_of_prompts_at_one_concurrency_are_no_steps_of_one_ladder() -> None:
    some = [measurement(1, workload={"concurrency": "1", "num_prompts": prompts}) for prompts in ("8", "16")]
    some += [measurement(1, workload={"concurrency": "2", "num_prompts": "8"})]
    [ladder] = compare(bench(*some), bench(*some)).ladders
    assert [one.measured.workload["num_prompts"] for _, one in ladder.steps] == ["8", "8"]


def test_what_cannot_be_compared_is_no_step() -> None:
    found = compare(bench(*side({1: 1.0, 2: 1.0})), bench(*side({1: 1.0, 4: 1.0})))
    assert found.ladders == []
