"""Google Benchmark's --benchmark_format=json and --benchmark_out.

``src/json_reporter.cc``, and ``docs/user_guide.md``. Repetitions are within one process: their median is the sample.
Aggregates are computed from them and no samples; where --benchmark_report_aggregates_only left nothing else, the
median is taken from them. Before 1.5 an aggregate is told by its name only. Times are in ``time_unit`` of each
benchmark and become ns. ``host_name`` and the path of the program are in the context; only its name is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

from ...regexes import regex
from ...sections.bench import Status
from ..report import Metric, Report, Value, Workload, within
from .commands import shown
from .entries import Entry, base_name, entries, mentions, word, words

_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_AGGREGATE = regex(r"(.+)_(mean|median|stddev|cv|BigO|RMS)")
_METRICS = (
    Metric(name="real_time", unit="ns", better="lower", primary=True),
    Metric(name="cpu_time", unit="ns", better="lower", kind="cpu"),
    Metric(name="bytes_per_second", unit="B/s", better="higher"),
    Metric(name="items_per_second", unit="1/s", better="higher"),
)


def recognises(text: str) -> bool:
    """Whether TEXT is a report of Google Benchmark."""
    return mentions(text, "benchmarks", "name") and any(f'"{key}"' in text for key in ("cpu_time", "run_type"))


def read(text: str, file: str) -> Report:
    """The benchmarks of TEXT. ReportError with the key that is not as it must be; for no measured one."""
    reports = entries(text, file)
    versions = {report.entry("context").text("library_version") for report in reports}
    return Report(tool="google-benchmark", format="json", version=versions.pop() if len(versions) == 1 else None,
                  values=[value for report in reports for value in _values(report)])


def _values(report: Entry) -> list[Value]:
    context = report.entry("context")
    told = {"executable": base_name(context.text("executable") or ""), "build_type": context.text("library_build_type")}
    found = [value for name, rows in _measured(report.entries("benchmarks")).items()
             for value in _of(rows, words({"name": shown(name), **told}))]
    return found or report.bad("benchmarks", "has no measured benchmark in it")


def _measured(rows: Sequence[Entry]) -> dict[str, list[Entry]]:
    """By name the repetitions of each benchmark, or its median where there are none."""
    names = {row.text("name") for row in rows}
    single: dict[str, list[Entry]] = {}
    medians: dict[str, list[Entry]] = {}
    for row in rows:
        name, aggregate = _named(row, names)
        if aggregate in (None, "median"):
            (medians if aggregate else single).setdefault(name, []).append(row)
    return medians | single


def _named(row: Entry, names: set[str | None]) -> tuple[str, str | None]:
    """The name of the benchmark that ROW is about, and which aggregate it is."""
    name = row.text("name") or row.bad("name", "is missing")
    old = _AGGREGATE.fullmatch(name)
    if "run_type" not in row.table and old and (old[1] in names or "real_time" not in row.table):
        return old[1], old[2]
    if row.text("run_type") == "aggregate" or "aggregate_name" in row.table:
        return row.text("run_name") or (old[1] if old else name), row.text("aggregate_name") or "?"
    return row.text("run_name") or name, None


def _of(rows: Sequence[Entry], workload: Workload) -> Iterator[Value]:
    """The metrics of a benchmark, from its repetitions."""
    if status := _not_run(rows):
        yield Value(metric=_METRICS[0], workload=workload, value=None, status=status[0], why=status[1])
        return
    for metric in _METRICS:
        values = [_number(row, metric) for row in rows if metric.unit == "ns" or metric.name in row.table]
        if values:
            yield _value(metric, workload, values)


def _value(metric: Metric, workload: Workload, values: list[float]) -> Value:
    middle = median(values)
    if not 0 < middle < math.inf:
        return Value(metric=metric, workload=workload, value=None, status="partial",
                     why=f"{metric.name} is {word(middle)}")
    return Value(metric=metric, workload=workload, value=middle, within=within(values) if len(values) > 1 else None)


def _not_run(rows: Sequence[Entry]) -> tuple[Status, str] | None:
    """What a benchmark has instead of times; its message may say anything."""
    if any(row.table.get("error_occurred") is True for row in rows):
        return "failed", "the benchmark reported an error"
    return ("waived", "the benchmark was skipped") if any(row.table.get("skipped") is True for row in rows) else None


def _number(row: Entry, metric: Metric) -> float:
    found = row.number(metric.name)
    if found is None:
        row.bad(metric.name, "is missing")
    unit = row.text("time_unit") or "ns"
    if metric.unit != "ns":
        return found
    return found * _NS[unit] if unit in _NS else row.bad("time_unit", f"is none of {', '.join(_NS)}")
