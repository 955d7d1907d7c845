"""Reports of pyperf: a worker process a sample, calibration left out, metadata at three levels, old files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapshot.bench.importers import pyperf, read
from snapshot.bench.report import ReportError

CALIBRATION: dict[str, Any] = {"metadata": {"calibrate_loops": 4}, "warmups": [[1, 0.5], [4, 0.4]]}
ROOT = {"hostname": "gpu01", "perf_version": "2.6.0", "python_executable": "/home/bob/py", "unit": "second"}


def run(*values: float, **metadata: object) -> dict[str, Any]:
    return {"metadata": {"date": "2026-01-01", "cpu_temp": "core=48 C", **metadata}, "values": [*values],
            "warmups": [[4, 0.4]]}


def dumped(*benchmarks: dict[str, Any], root: dict[str, Any] = ROOT) -> str:
    return json.dumps({"benchmarks": benchmarks, "metadata": root, "version": "1.0"})


def bench(*runs: dict[str, Any], **metadata: object) -> dict[str, Any]:
    return {"metadata": {"name": "sort", **metadata}, "runs": [CALIBRATION, *runs]}


def test_a_worker_is_a_sample_and_its_values_are_spread() -> None:
    report = read(dumped(bench(run(1.0, 3.0), run(2.0, 4.0)), bench(run(7.0), name="hash")), "r.json")
    assert (report.tool, report.format, report.version) == ("pyperf", "json", "2.6.0")
    assert [(value.workload["name"], value.value) for value in report.values] == [("sort", 2), ("sort", 3), ("hash", 7)]
    first = report.values[0]
    assert (first.metric.name, first.metric.unit, first.metric.better, first.metric.primary) == (
        "time", "s", "lower", True)
    assert first.within and first.within.values == [1, 3]


def test_what_a_benchmark_runs_is_its_workload() -> None:
    text = dumped(bench(run(1.0), timeit_stmt="'x'", command="python /home/bob/x.py --token hunter2", loops=4))
    (found,) = pyperf.read(text, "r").values
    assert found.workload == {"name": "sort", "timeit_stmt": "'x'", "command": "python ~/x.py --token <redacted>"}


def test_old_files() -> None:
    old = {"common_metadata": {"name": "sort", "perf_version": "0.7"}, "runs": [
        {"warmups": [[1, 1.0]]}, {"samples": [1.0, 2.0]}]}
    report = pyperf.read(json.dumps({"benchmarks": [old], "version": 5}), "r")
    assert ([value.value for value in report.values], report.version) == ([1.5], "0.7")
    single = {"runs": [run(1.0, name="alone")]}
    assert pyperf.read(dumped(single, root={}), "r").values[0].workload == {"name": "alone"}


def test_memory_has_another_unit() -> None:
    (found,) = pyperf.read(dumped(bench(run(4096.0), unit="byte")), "r").values
    assert (found.metric.name, found.metric.unit, found.metric.better) == ("memory", "B", "lower")


def test_a_benchmark_that_only_calibrated_failed() -> None:
    (found,) = pyperf.read(dumped(bench()), "r").values
    assert (found.value, found.status, found.why) == (None, "failed", "no run was measured")


@pytest.mark.parametrize(("text", "why"), [
    (dumped(), "benchmarks has no benchmark in it"),
    (dumped({"runs": [run(1.0)]}), r"benchmarks\[0\]\.metadata\.name is missing"),
    (dumped({"metadata": {"name": "x"}}), r"benchmarks\[0\]\.runs is missing"),
    (dumped(bench(run(0.0))), r"runs\[1\]\.values is no list of numbers above 0"),
    (dumped(bench({"values": "x"})), r"runs\[1\]\.values is no list of numbers above 0"),
    (dumped(bench(run(1.0), unit="furlong")), r"benchmarks\[0\]\.unit is none of second, byte, integer"),
    (dumped(bench(run(1.0)))[:-5], "the report ends in the middle of an object"),
])
def test_what_is_not_as_it_must_be_has_its_key(text: str, why: str) -> None:
    with pytest.raises(ReportError, match=f"^r:1: .*{why}"):
        pyperf.read(text, "r")


def test_nothing_private_enters() -> None:
    shown = repr(pyperf.read(dumped(bench(run(1.0))), "r"))
    assert not [word for word in ("gpu01", "bob", "2026", "48 C") if word in shown]
