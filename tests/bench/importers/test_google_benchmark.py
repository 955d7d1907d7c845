"""Reports of Google Benchmark: repetitions as spread, aggregates left out, one unit for all times."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapshot.bench.importers import google_benchmark, read
from snapshot.bench.report import ReportError, Value

CONTEXT = {"date": "2026-01-01", "host_name": "gpu01", "executable": "/home/bob/build/bench", "load_avg": [1],
           "library_version": "v1.9.0", "library_build_type": "release"}

TIMES = {"real_time": 1, "cpu_time": 1, "time_unit": "ns"}


def row(name: str, real: float, cpu: float = 1.0, unit: str = "ns", **more: object) -> dict[str, Any]:
    return {"name": name, "run_name": name, "run_type": "iteration", "real_time": real, "cpu_time": cpu,
            "time_unit": unit, **more}


def aggregate(name: str, of: str, real: float) -> dict[str, Any]:
    return row(f"{name}_{of}", real, run_name=name, run_type="aggregate", aggregate_name=of)


def dumped(*rows: dict[str, Any], context: object = CONTEXT) -> str:
    return json.dumps({"context": context, "benchmarks": rows})


def times(text: str) -> list[Value]:
    return [value for value in google_benchmark.read(text, "r").values if value.metric.name == "real_time"]


def test_repetitions_are_spread_and_aggregates_no_samples() -> None:
    text = dumped(row("BM_a", 10), row("BM_a", 30), row("BM_a", 20), aggregate("BM_a", "mean", 20),
                  aggregate("BM_a", "median", 20), aggregate("BM_a", "cv", 0.1), row("BM_b/8", 5, 2))
    report = read(text, "r.json")
    assert (report.tool, report.format, report.version) == ("google-benchmark", "json", "v1.9.0")
    assert [(v.metric.name, v.workload["name"], v.value) for v in report.values] == [
        ("real_time", "BM_a", 20), ("cpu_time", "BM_a", 1), ("real_time", "BM_b/8", 5), ("cpu_time", "BM_b/8", 2)]
    assert report.values[0].within and report.values[0].within.values == [10, 30, 20]
    assert report.values[2].within is None
    assert report.values[0].workload == {"name": "BM_a", "executable": "bench", "build_type": "release"}
    assert [(v.metric.primary, v.metric.kind) for v in report.values[:2]] == [(True, None), (False, "cpu")]


def test_times_become_ns() -> None:
    found = times(dumped(*(row(f"BM_{unit}", 2.0, unit=unit) for unit in ("ns", "us", "ms", "s"))))
    assert [(value.value, value.metric.unit) for value in found] == [(2, "ns"), (2e3, "ns"), (2e6, "ns"), (2e9, "ns")]


def test_rates_are_the_better_the_higher() -> None:
    found = google_benchmark.read(dumped(row("BM_a", 1, bytes_per_second=5e9, items_per_second=7, Foo=3)), "r").values
    assert [(v.metric.name, v.metric.unit, v.metric.better, v.value) for v in found[2:]] == [
        ("bytes_per_second", "B/s", "higher", 5e9), ("items_per_second", "1/s", "higher", 7)]


def test_where_only_aggregates_are_left_the_median_counts() -> None:
    (found,) = times(dumped(*(aggregate("BM_a", of, real) for of, real in (("mean", 9), ("median", 8), ("cv", 0.1)))))
    assert (found.value, found.workload["name"], found.within) == (8, "BM_a", None)


def test_old_versions_tell_aggregates_by_their_names() -> None:
    old = [{"name": name, "real_time": real, "cpu_time": 1, "time_unit": "ns"} for name, real in (
        ("BM_a", 10), ("BM_a", 30), ("BM_a_mean", 20), ("BM_a_stddev", 9), ("BM_own_mean", 7))]
    assert [(v.workload["name"], v.value) for v in times(dumped(*old))] == [("BM_a", 20), ("BM_own_mean", 7)]
    complexity = {"name": "BM_c_BigO", "cpu_coefficient": 1, "big_o": "N"}
    assert [v.workload["name"] for v in times(dumped({"name": "BM_c/8", **TIMES}, complexity))] == ["BM_c/8"]


def test_what_was_not_run_is_kept_without_its_message() -> None:
    found = google_benchmark.read(dumped(
        row("BM_a", 0, error_occurred=True, error_message="hunter2"),
        row("BM_b", 0, skipped=True, skip_message="no GPU"),
        row("BM_c", 0)), "r").values
    assert [(v.workload["name"], v.metric.name, v.value, v.status, v.why) for v in found[:3]] == [
        ("BM_a", "real_time", None, "failed", "the benchmark reported an error"),
        ("BM_b", "real_time", None, "waived", "the benchmark was skipped"),
        ("BM_c", "real_time", None, "partial", "real_time is 0")]


@pytest.mark.parametrize(("text", "why"), [
    (dumped({"name": "BM_a", "run_type": "iteration"}), r"benchmarks\[0\]\.real_time is missing"),
    (dumped(aggregate("BM_a", "zz", 1)), "benchmarks has no measured benchmark in it"),
    (dumped(row("BM_a", 1, unit="h")), r"benchmarks\[0\]\.time_unit is none of ns, us, ms, s"),
    (dumped({"name": None}), r"benchmarks\[0\]\.name is missing"),
    (dumped(row("BM_a", 1))[:-4], "the report ends in the middle of an object"),
    ('{"context": {}}', "benchmarks is missing"),
])
def test_what_is_not_as_it_must_be_has_its_key(text: str, why: str) -> None:
    with pytest.raises(ReportError, match=f"^r:1: {why}"):
        google_benchmark.read(text, "r")


def test_nothing_private_enters() -> None:
    for context in (CONTEXT, None, "x"):
        shown = repr(google_benchmark.read(dumped(row("BM_a", 1), context=context), "r"))
        assert not [word for word in ("gpu01", "bob", "2026") if word in shown]
