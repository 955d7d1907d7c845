"""Two sections compared: verdicts, what they rest on, what cannot be compared, and how often alarms are false."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from snapshot.bench.comparing.compare import compare
from snapshot.bench.comparing.comparison import Benchmarks, Comparison
from snapshot.config.tables import Roofline
from snapshot.sections.bench import Measurement, Source

from .made import bench, measurement

TEN = [100, 101, 99, 100.5, 99.5, 100.2, 99.8, 100.1, 99.9, 100.3]
ROOF = Roofline(metric="output_throughput", value=309, unit="tok/s", source="weights over bandwidth")


def one(before: Measurement, after: Measurement, **more: Any) -> Comparison:
    """The only comparison of two sections."""
    [found] = compare(bench(before), bench(after), **more).comparisons
    return found


def verdict(before: Measurement, after: Measurement, **more: Any) -> tuple[str, str]:
    found = one(before, after, **more).effect
    return found.verdict, found.why


def test_one_run_each_within_the_band_shows_nothing() -> None:
    found = one(measurement(10.30), measurement(10.36), rooflines=[ROOF])
    assert (found.effect.verdict, found.effect.why) == ("same", "1 sample each, noise band 5 %")
    assert found.effect.basis == "noise band"
    assert found.effect.percent == pytest.approx(0.5825, abs=1e-3)
    assert found.limit is not None
    assert found.limit.after_percent == pytest.approx(3.353, abs=1e-3)


@pytest.mark.parametrize(("after", "noise", "said"), [
    (9.7, {}, "worse"), (9.7, {"output_throughput": 8}, "same"), (9.7, {"sglang/*": 8}, "same"),
    (9.7, {"*": 8, "output_*": 3}, "worse"), (9.7, {"ttft": 8}, "worse"), (10.9, {}, "better"),
    (10.25, {"*": 0.1}, "same"),  # less than the 2 % that matter
])
def test_of_one_run_each_the_declared_band_judges(after: float, noise: dict[str, float], said: str) -> None:
    assert verdict(measurement(10.3), measurement(after), noise=noise)[0] == said


def test_three_against_three_cannot_reach_the_level_so_that_the_band_judges() -> None:
    found = one(measurement(100, 101, 102), measurement(80, 81, 82)).effect
    assert (found.verdict, found.basis, found.p) == ("worse", "noise band", None)
    assert found.why == "3 samples each, noise band 5 %"


def test_samples_that_differ_among_themselves_widen_the_band() -> None:
    assert verdict(measurement(10, 12, 14), measurement(9, 11, 13)) == (
        "too-few", "3 samples each, noise band 52.3 % by their own spread")


def test_ten_runs_show_a_small_difference() -> None:
    found = one(measurement(*TEN), measurement(*(value - 4 for value in TEN))).effect
    assert (found.verdict, found.basis) == ("worse", "rank test")
    assert found.percent == pytest.approx(-4, abs=0.05)
    assert found.low_percent is not None
    assert found.high_percent is not None
    assert found.low_percent < -4 < found.high_percent < -3
    assert found.why.startswith("10 samples each, rank test p 1.1e-05")


def test_a_difference_that_is_sure_but_does_not_matter_is_none() -> None:
    said, why = verdict(measurement(*TEN), measurement(*(value - 1.5 for value in TEN)))
    assert said == "same"
    assert why.endswith("and less than the 2 % that matter")
    assert verdict(measurement(*TEN), measurement(*(value - 1.5 for value in TEN), minimum_percent=1))[0] == "worse"


def test_of_latency_less_is_better() -> None:
    before = measurement(95.6, metric="median_tpot_ms", unit="ms", better="lower")
    assert verdict(before, before.copy(samples=[120.0]))[0] == "worse"
    assert verdict(before, before.copy(samples=[80.0]))[0] == "better"


@pytest.mark.parametrize(("change", "said"), [
    ({"unit": "req/s"}, "unit tok/s before and req/s after"),
    ({"better": "lower"}, "better higher before and lower after"),
    ({"workload": {"concurrency": "2"}}, "concurrency 1 before and 2 after"),
    ({"workload": {"concurrency": "1", "model": "b"}}, "model not said before and b after"),
    ({"workload": {"a": "1", "b": "2", "c": "3", "concurrency": "4"}},
     "a not said before and 1 after, b not said before and 2 after, c not said before and 3 after, 1 more differ"),
])
def test_only_like_is_compared_with_like(change: dict[str, Any], said: str) -> None:
    assert verdict(measurement(10.3), measurement(10.3, **change)) == ("not-comparable", said)


def test_of_several_the_nearest_workload_is_named_and_each_once() -> None:
    def load(concurrency: int, model: str) -> Measurement:
        return measurement(1, workload={"concurrency": str(concurrency), "model": model})

    found = compare(bench(load(1, "a"), load(2, "a"), load(3, "a")), bench(load(2, "b"), load(1, "b"))).comparisons
    said = sorted((one.effect.verdict, one.effect.why) for one in found)
    assert said == [("not-comparable", "model a before and b after")] * 2 + [
        ("vanished", "measured before, and not after")]


def test_what_one_side_lacks_has_vanished_or_is_new() -> None:
    other = measurement(1, source=Source(tool="vllm", format="json"))
    found = compare(bench(measurement(10.3)), bench(other)).comparisons
    assert sorted(one.effect.verdict for one in found) == ["added", "vanished"]


@pytest.mark.parametrize(("before", "after", "said", "why"), [
    (measurement(1), measurement(status="failed", why="no request succeeded"), "failed",
     "no value after: failed, no request succeeded"),
    (measurement(1), measurement(status="waived"), "failed", "no value after: waived"),
    (measurement(1), measurement(math.nan, math.inf), "failed", "no value after: no number among the samples"),
    (measurement(status="failed"), measurement(1), "added", "no value before: failed"),
    (measurement(status="waived"), measurement(status="waived"), "not-comparable",
     "no value before or after: waived"),
])
def test_a_side_without_a_value(before: Measurement, after: Measurement, said: str, why: str) -> None:
    assert verdict(before, after) == (said, why)


def test_values_that_are_no_numbers_are_left_out_and_said() -> None:
    said, why = verdict(measurement(10, math.nan, 10.1), measurement(10, 10.05, failed=1, status="partial"))
    assert said == "same"
    assert why.endswith("; before 1 without a value, after 1 without a value")


@pytest.mark.parametrize(("before", "after", "said"), [
    ([0], [0], "same"), ([0], [1], "too-few"), ([0] * 6, [1] * 6, "worse"), ([0] * 6, [0] * 6, "same"),
    ([0, 0, 0, 1], [0, 0, 0, 1], "same"), ([5], [0], "better"), ([-4], [-2], "worse"), ([-4], [-4.1], "same"),
])
def test_zero_and_less_than_zero_are_defined(before: list[float], after: list[float], said: str) -> None:
    errors = measurement(*before, metric="errors", unit="1", better="lower")
    found = one(errors, errors.copy(samples=[*map(float, after)])).effect
    assert found.verdict == said
    assert found.percent is None or math.isfinite(found.percent)


def test_primary_metrics_of_a_workload_are_corrected_for_together_and_others_are_not() -> None:
    def side(shift: float) -> list[Measurement]:
        values = [value + shift for value in TEN[:6]]
        return [measurement(*values, metric=f"m{at}", primary=at < 3 or None) for at in range(5)]

    found = compare(bench(*side(0)), bench(*side(-30))).comparisons
    assert [one.effect.p for one in found] == pytest.approx([2 / 924] * 5)
    assert [one.effect.p_adjusted for one in found] == pytest.approx([6 / 924] * 3 + [2 / 924] * 2)


def test_where_the_correction_takes_the_level_out_of_reach_the_band_judges() -> None:
    """4 against 4: p is at least 2 / 70, and of two metrics 4 / 70."""
    def side(shift: float, metrics: int) -> list[Measurement]:
        return [measurement(*(value + shift for value in TEN[:4]), metric=f"m{at}") for at in range(metrics)]

    [alone] = compare(bench(*side(0, 1)), bench(*side(-30, 1))).comparisons
    assert alone.effect.basis == "rank test"
    both = compare(bench(*side(0, 2)), bench(*side(-30, 2))).comparisons
    assert [(one.effect.basis, one.effect.verdict) for one in both] == [("noise band", "worse")] * 2


def test_of_a_tool_that_names_no_primary_metric_all_are() -> None:
    values = [value - 30 for value in TEN]
    before, after = ([measurement(*some, metric=name, primary=None) for name in "ab"] for some in (TEN, values))
    found = compare(bench(*before), bench(*after)).comparisons
    assert all(one.effect.p_adjusted == pytest.approx(2 * (one.effect.p or 0)) for one in found)


@pytest.mark.parametrize(("n", "m"), [(2, 2), (2, 3), (3, 3), (3, 4), (4, 4), (1, 4), (6, 6), (10, 10)])
@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_where_nothing_differs_few_comparisons_say_that_something_does(n: int, m: int, noise: float) -> None:
    """Runs with the noise of 2 % and 10 %: the three metrics of a workload, any of which may be a false alarm."""
    draw, runs, alarms = random.Random(1), 400, 0
    for _ in range(runs):
        sides = [[measurement(*(draw.gauss(100, 100 * noise) for _ in range(size)), metric=name) for name in "abc"]
                 for size in (n, m)]
        found: Benchmarks = compare(*(bench(*side) for side in sides))
        alarms += any(one.effect.verdict in ("better", "worse") for one in found.comparisons)
    print(f"{n} and {m} runs, noise {100 * noise} %: {100 * alarms / runs} % of workloads with a false alarm")
    metrics = 1 if n * m > 16 else 3  # bands have no correction: each metric by itself
    assert alarms / runs <= metrics * 0.05 + 0.025


def test_a_limit_holds_for_the_workload_and_the_unit_that_it_names() -> None:
    narrow = ROOF.copy(workload={"concurrency": "1"}, value=300)
    found = one(measurement(10.3), measurement(10.3), rooflines=[ROOF, narrow]).limit
    assert found is not None
    assert found.value == 300
    other = ROOF.copy(workload={"concurrency": "64"})
    assert one(measurement(10.3), measurement(10.3), rooflines=[other, ROOF.copy(unit="req/s")]).limit is None


def test_of_latency_the_limit_is_what_it_cannot_fall_below() -> None:
    latency = measurement(50, metric="tpot", unit="ms", better="lower")
    found = one(latency, latency, rooflines=[Roofline(metric="tpot", value=5, unit="ms", source="s")]).limit
    assert found is not None
    assert found.after_percent == 10


def test_remarks_on_what_is_not_the_host() -> None:
    old = measurement(1, source=Source(tool="sglang", version="0.4", format="json"), devices=["GPU-a"])
    new = measurement(400, source=Source(tool="sglang", version="0.5", format="json"), devices=["GPU-b"])
    assert compare(bench(old), bench(new), rooflines=[ROOF]).remarks == [
        "sglang: version 0.4 before and 0.5 after, which may itself differ.",
        "sglang: it ran on other GPUs than before.",
        "sglang output_throughput passes its declared limit of 309 tok/s: that does not hold for this workload.",
    ]


def test_addresses_that_moved_are_no_other_gpus() -> None:
    old, new = measurement(1, devices=["0000:01:00.0"]), measurement(1, devices=["0000:02:00.0"])
    assert compare(bench(old), bench(new)).remarks == []


@pytest.mark.parametrize("absurd", [1e308, -1e308, 5e-324, 1e80])
def test_absurd_numbers_are_none_and_break_nothing(absurd: float) -> None:
    found = one(measurement(10, 10.2, absurd), measurement(10.1, absurd, absurd)).effect
    assert (found.verdict, found.why) == (
        "same", "2 and 1 samples, noise band 5 %; before 1 without a value, after 2 without a value")
    assert verdict(measurement(absurd), measurement(1))[0] == "added"


def test_where_there_is_no_size_an_outlier_does_not_turn_the_direction() -> None:
    before, after = measurement(*[0] * 9, 1000), measurement(*[1] * 10)
    assert one(before, after).effect.verdict == "better"
    assert one(after, before).effect.verdict == "worse"


def test_few_runs_that_all_gave_0_do_not_hide_the_noise_of_the_others() -> None:
    assert verdict(measurement(0, 1), measurement(0, 0))[0] == "too-few"


def test_nothing_is_nothing() -> None:
    found = compare(bench(), bench())
    assert not any((found.comparisons, found.grids, found.ladders, found.remarks))
