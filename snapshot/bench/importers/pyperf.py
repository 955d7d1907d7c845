"""pyperf's JSON, of one benchmark or a suite.

``pyperf/_bench.py``, ``_metadata.py``. A run is a worker process, and the mean of its values a sample; runs without
values calibrate. Metadata common to all benchmarks stand at the root, those common to all runs in the benchmark.
Before 0.9.6 values were ``samples`` and the metadata of a benchmark ``common_metadata``. All units are the better the
smaller, as ``pyperf compare_to`` has it. Names of hosts, paths and loads are in the metadata and are not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean

from ..report import Metric, Report, Value, Workload, within
from .commands import shown
from .entries import Entry, entries, mentions, words

_UNITS = {"second": ("time", "s"), "byte": ("memory", "B"), "integer": ("value", "1")}
_WORK = ("timeit_stmt", "timeit_setup", "timeit_teardown", "command")


def recognises(text: str) -> bool:
    """Whether TEXT is a report of pyperf."""
    return mentions(text, "benchmarks", "runs", "metadata") and any(
        f'"{key}"' in text for key in ("warmups", "values", "samples"))


def read(text: str, file: str) -> Report:
    """The runs of each benchmark. ReportError with the key that is not as it must be; for no benchmark at all."""
    suites = entries(text, file)
    benchmarks = [(suite, one) for suite in suites for one in suite.entries("benchmarks")]
    if not benchmarks:
        suites[0].bad("benchmarks", "has no benchmark in it")
    versions = {_told(suite, one).get("perf_version") for suite, one in benchmarks}
    return Report(tool="pyperf", format="json", version=versions.pop() if len(versions) == 1 else None,
                  values=[value for suite, one in benchmarks for value in _values(one, _told(suite, one))])


def _told(suite: Entry, benchmark: Entry) -> dict[str, str]:
    """The metadata that are common to the runs of a benchmark; the first run's where nothing is common."""
    runs = benchmark.entries("runs")
    tables = (suite, benchmark)
    places = [*(runs[0].entry("metadata") for _ in runs[:1]),
              *(table.entry(key) for table in tables for key in ("metadata", "common_metadata"))]
    return {key: value for place in places for key, value in words(place.table).items()}


def _values(benchmark: Entry, told: dict[str, str]) -> Iterator[Value]:
    unit = told.get("unit", "second")
    if unit not in _UNITS:
        benchmark.bad("unit", f"is none of {', '.join(_UNITS)}")
    name, short = _UNITS[unit]
    metric = Metric(name=name, unit=short, better="lower", primary=True)
    workload = _workload(benchmark, told)
    samples = [sample for run in benchmark.entries("runs") if (sample := _sample(run))]
    for sample in samples:
        yield Value(metric=metric, workload=workload, value=fmean(sample), within=within(sample))
    if not samples:
        yield Value(metric=metric, workload=workload, value=None, status="failed", why="no run was measured")


def _sample(run: Entry) -> list[float]:
    """The values of a run; none when it calibrated."""
    key = "values" if "values" in run.table else "samples"
    if not run.table.get(key):
        return []
    values = run.numbers(key)
    if not values or not all(0 < value < math.inf for value in values):
        run.bad(key, "is no list of numbers above 0")
    return values


def _workload(benchmark: Entry, told: dict[str, str]) -> Workload:
    name = told.get("name") or benchmark.text("name") or benchmark.bad("metadata.name", "is missing")
    return words({"name": shown(name), **{key: shown(told[key]) for key in _WORK if key in told}})
