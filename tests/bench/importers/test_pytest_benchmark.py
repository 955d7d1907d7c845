"""Reports of pytest-benchmark: a file a sample, rounds as spread."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapshot.bench.importers import pytest_benchmark, read
from snapshot.bench.report import ReportError

STATS: dict[str, Any] = {"min": 1.0, "max": 4.0, "mean": 2.5, "stddev": 1.29, "rounds": 4, "median": 2.5,
                         "data": [1.0, 2.0, 3.0, 4.0], "iterations": 1}
TEST: dict[str, Any] = {"group": None, "name": "test_a[1]", "fullname": "tests/test_x.py::test_a[1]",
                        "params": {"n": 1}, "extra_info": {"user": "bob"},
                        "options": {"timer": "perf_counter", "disable_gc": False},
                        "stats": STATS}


def dumped(*changes: dict[str, Any]) -> str:
    return json.dumps({"machine_info": {"node": "gpu01"}, "commit_info": {"branch": "mine"}, "version": "4.0.0",
                       "benchmarks": [TEST | change for change in changes]})


def test_a_test_is_a_sample_and_rounds_are_spread() -> None:
    report = read(dumped({}, {"fullname": "tests/test_x.py::test_b"}), "r.json")
    assert (report.tool, report.format, report.version) == ("pytest-benchmark", "json", "4.0.0")
    first, second = report.values
    assert (first.value, first.metric.name, first.metric.unit, first.metric.better, first.metric.primary) == (
        2.5, "time", "s", "lower", True)
    assert first.workload == {"fullname": "tests/test_x.py::test_a[1]", "timer": "perf_counter", "disable_gc": "false"}
    assert second.workload["fullname"] == "tests/test_x.py::test_b"
    assert first.within and (first.within.count, first.within.values) == (4, [1, 2, 3, 4])


@pytest.mark.parametrize("data", [[1.0, 2.0, "... omitted"], [1.0], [], None, "x", [1, 2, 3, float("nan")]])
def test_rounds_that_are_not_all_there_are_left_out(data: object) -> None:
    (found,) = pytest_benchmark.read(dumped({"stats": STATS | {"data": data}}), "r").values
    assert found.within and found.within.values is None
    assert (found.within.count, found.within.min, found.within.median, found.within.max) == (4, 1, 2.5, 4)


@pytest.mark.parametrize(("timer", "kind"), [("time.process_time", "cpu"), ("perf_counter", None), (None, None)])
def test_a_clock_of_the_cpu_tells_what_decides(timer: str | None, kind: str | None) -> None:
    (found,) = pytest_benchmark.read(dumped({"options": {"timer": timer}}), "r").values
    assert found.metric.kind == kind


@pytest.mark.parametrize(("change", "why"), [
    ({"stats": None}, r"^r:1: benchmarks\[0\]\.stats\.median is missing$"),
    ({"fullname": None, "name": None}, r"^r:1: benchmarks\[0\]\.fullname is missing$"),
    ({"stats": STATS | {"median": "fast"}}, "median is no number: 'fast'"),
])
def test_what_is_not_as_it_must_be_has_its_key(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ReportError, match=why):
        pytest_benchmark.read(dumped(change), "r")


def test_a_report_without_tests_is_refused() -> None:
    with pytest.raises(ReportError, match=r"^r:1: benchmarks has no test in it$"):
        pytest_benchmark.read(dumped(), "r")


def test_no_time_is_no_sample() -> None:
    (found,) = pytest_benchmark.read(dumped({"stats": STATS | {"median": 0.0}}), "r").values
    assert (found.value, found.status, found.why) == (None, "partial", "median is 0")


def test_nothing_private_enters() -> None:
    assert not [word for word in ("gpu01", "bob", "mine") if word in repr(pytest_benchmark.read(dumped({}), "r"))]
