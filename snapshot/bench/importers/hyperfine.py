"""hyperfine's --export-json.

``src/benchmark/benchmark_result.rs``. Each time is one process, and so one run; ``user`` and ``system`` are means of
all runs and give no samples. Exit codes other than 0 are in it after --ignore-failure: what such a run did is not
known. A killed process has null. Old versions have neither exit codes nor memory.
"""

from __future__ import annotations

import math
from collections import Counter

from ...sections.bench import Within
from ..report import Metric, Report, Value, Workload
from .commands import REDACTED, is_secret, shown
from .entries import Entry, entries, mentions, word, words

_ON_CPU = 0.9  # how much of its time a command computes for its speed to be the CPUs'


def recognises(text: str) -> bool:
    """Whether TEXT is a report of hyperfine."""
    return mentions(text, "results", "command", "mean", "stddev", "user", "system")


def read(text: str, file: str) -> Report:
    """The runs of each command. ReportError with the key that is not as it must be."""
    results = [result for report in entries(text, file) for result in report.entries("results")]
    commands = [result.text("command") or result.bad("command", "is missing") for result in results]
    names = _names(commands)
    return Report(tool="hyperfine", format="json", values=[
        value for result, command in zip(results, commands, strict=True)
        for value in _values(result, _workload(result, names[command]))])


def _names(commands: list[str]) -> dict[str, str]:
    """Commands as they may be shown; those that become alike are numbered."""
    names = {command: shown(command) for command in commands}
    alike = Counter(names.values())
    numbered = {name: iter(range(1, count + 1)) for name, count in alike.items() if count > 1}
    return {command: f"{name} ({next(numbered[name])})" if name in numbered else name
            for command, name in names.items()}


def _workload(result: Entry, command: str) -> Workload:
    parameters = words(result.entry("parameters").table)
    return {**{name: REDACTED if is_secret(name) else shown(value) for name, value in parameters.items()},
            "command": command}


def _values(result: Entry, workload: Workload) -> list[Value]:
    time = Metric(name="time", unit="s", better="lower", kind=_kind(result), primary=True)
    memory = Metric(name="memory_usage_byte", unit="B", better="lower")
    if "times" not in result.table:  # a mean is all that is left
        return [_whole(result, time, workload)]
    return [value for metric, key in ((time, "times"), (memory, "memory_usage_byte"))
            for value in _each(result, metric, key, workload)]


def _each(result: Entry, metric: Metric, key: str, workload: Workload) -> list[Value]:
    """The value of each run; of one that failed none."""
    found, codes = result.table.get(key), result.table.get("exit_codes")
    if found is None:
        return []
    numbers = result.numbers(key)
    if not isinstance(found, list) or not numbers:
        result.bad(key, "is no list of numbers")
    if codes is not None and (not isinstance(codes, list) or len(codes) != len(numbers)):
        result.bad("exit_codes", f"is no list of {len(numbers)}, as {key} is")
    return [_run(metric, workload, number, code)
            for number, code in zip(numbers, codes or [0] * len(numbers), strict=True)]


def _run(metric: Metric, workload: Workload, number: float, code: object) -> Value:
    if code != 0:
        why = "it was killed" if code is None else f"exit status {word(code)}"
        return Value(metric=metric, workload=workload, value=None, status="failed", why=why)
    if not 0 < number < math.inf:  # a start of the shell is taken off: nothing is left of the fastest commands
        why = f"{metric.name} is {word(number)}"
        return Value(metric=metric, workload=workload, value=None, status="partial", why=why)
    return Value(metric=metric, workload=workload, value=number)


def _whole(result: Entry, metric: Metric, workload: Workload) -> Value:
    """One value for all runs of a command."""
    median = result.finite("median")
    if median is None or median <= 0:
        result.bad("median", "is missing, and there are no times")
    return Value(metric=metric, workload=workload, value=median, status="partial",
                 why="the times of the runs are left out",
                 within=Within(min=result.finite("min"), median=median, max=result.finite("max"),
                               stddev=result.finite("stddev")))


def _kind(result: Entry) -> str | None:
    """cpu, when the command computed nearly all the time; else it is not known what it waited for."""
    user, system, mean = (result.number(key) for key in ("user", "system", "mean"))
    return "cpu" if user and mean and user + (system or 0) >= _ON_CPU * mean else None
