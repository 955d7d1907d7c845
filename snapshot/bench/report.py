"""What an importer makes of a report: the values of its runs, not yet put together with those of other runs.

An importer drops what has no place in a snapshot: names of hosts and users, paths of home directories, environments,
prompts and generated text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NoReturn, TypeVar

from ..errors import FormatError
from ..records import field, record
from ..sections.bench import Better, Status, Within

T = TypeVar("T")
Workload = dict[str, str]
MOST_VALUES = 100_000  # a table of 8 GPUs has 64, a sweep of sizes a few hundred; a log of requests is no report


@record(frozen=True, kw_only=True)
class Metric:
    """What is measured, and how it is to be judged."""

    name: str
    unit: str
    better: Better
    kind: str | None = None  # one of sections.bench.KINDS
    primary: bool = False
    minimum_percent: float | None = None


@record(frozen=True, kw_only=True)
class Value:
    """One metric in one run. None is a run that gave no value, and WHY says why; so is a value of a failed run."""

    metric: Metric
    workload: Workload
    value: float | None
    status: Status = "ok"
    why: str | None = None
    within: Within | None = None
    devices: tuple[str, ...] = ()  # GPU UUIDs or PCI addresses


@record(frozen=True, kw_only=True)
class Table:
    """One metric between devices in one run; nan is a cell without a value."""

    metric: Metric
    workload: Workload
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[float]]
    status: Status = "ok"
    why: str | None = None
    devices: tuple[str, ...] = ()


@record(frozen=True, kw_only=True)
class Report:
    """One file: several runs when the tool appends to it."""

    tool: str
    format: str  # json, jsonl, text, csv, markdown
    version: str | None = None
    values: Sequence[Value] = field(default=())
    tables: Sequence[Table] = field(default=())


class ReportError(FormatError):
    """A report that cannot be read: the file, the line where it goes wrong (if there is one), and why."""


def bad(file: str, why: str, line: int | None = None) -> NoReturn:
    """ReportError for WHY."""
    raise ReportError(f"{file}:{line}: {why}" if line else f"{file}: {why}")


def few(values: Iterable[T], file: str) -> list[T]:
    """The VALUES of a report. ReportError, without asking for the rest, when there are more than a benchmark has."""
    found = [*islice(values, MOST_VALUES + 1)]
    if len(found) > MOST_VALUES:
        bad(file, f"more than {MOST_VALUES:,} values: no benchmark has so many")
    return found


def within(values: Sequence[float]) -> Within | None:
    """What values inside one run were like; None when there are none."""
    if not values:
        return None
    from statistics import median, stdev

    return Within(
        count=len(values), min=min(values), median=median(values), max=max(values),
        stddev=stdev(values) if len(values) > 1 else None, values=[*values] if len(values) <= 200 else None)
