"""pytest-benchmark's --benchmark-json and its storage.

``src/pytest_benchmark/session.py`` and ``stats.py``. Seconds a call. Rounds are within one process, so that a file has
one sample of a test, its median. ``data`` has the rounds when --benchmark-save-data asked for them. ``machine_info``
has the name of the host and is not looked at; ``version`` is that of the plugin.
"""

from __future__ import annotations

import math

from ...sections.bench import Within
from ..report import Metric, Report, Value, within
from .commands import shown
from .entries import Entry, entries, mentions, word, words

_CPU_TIMERS = ("process_time", "thread_time", "clock", "getrusage")


def recognises(text: str) -> bool:
    """Whether TEXT is a report of pytest-benchmark."""
    return mentions(text, "benchmarks", "machine_info", "commit_info")


def read(text: str, file: str) -> Report:
    """The tests of TEXT. ReportError with the key that is not as it must be; for a report without tests."""
    reports = entries(text, file)
    tests = [test for report in reports for test in report.entries("benchmarks")]
    if not tests:
        reports[0].bad("benchmarks", "has no test in it")
    versions = {report.text("version") for report in reports}
    return Report(tool="pytest-benchmark", format="json", version=versions.pop() if len(versions) == 1 else None,
                  values=[_value(test) for test in tests])


def _value(test: Entry) -> Value:
    options, stats = test.entry("options"), test.entry("stats")
    name = test.text("fullname") or test.text("name") or test.bad("fullname", "is missing")
    timer = (options.text("timer") or "").rpartition(".")[2]
    workload = words({"fullname": shown(name), "timer": timer, "disable_gc": options.text("disable_gc")})
    metric = Metric(name="time", unit="s", better="lower", kind="cpu" if timer in _CPU_TIMERS else None, primary=True)
    median = stats.number("median")
    if median is None:
        stats.bad("median", "is missing")
    if not 0 < median < math.inf:
        return Value(metric=metric, workload=workload, value=None, status="partial", why=f"median is {word(median)}")
    return Value(metric=metric, workload=workload, value=median, within=_within(stats, median))


def _within(stats: Entry, median: float) -> Within:
    """What the rounds were like: from each of them where all are there."""
    rounds, data = stats.finite("rounds"), stats.numbers("data")
    if data and len(data) == rounds and all(map(math.isfinite, data)) and (found := within(data)):
        return found
    return Within(count=int(rounds) if rounds is not None else None, min=stats.finite("min"), median=median,
                  max=stats.finite("max"), stddev=stats.finite("stddev"))
