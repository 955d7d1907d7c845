"""What a snapshot's ``bench`` section holds: by workload, of each metric the middle run, the spread and the runs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..bench.comparing.naming import by_workload
from ..bench.drawing.heatmap import heats
from ..bench.drawing.labels import shortened
from ..bench.drawing.matrix import lines
from ..bench.drawing.numbers import short, spread
from ..bench.drawing.sparkline import sparkline
from ..derive.bench.benchmarks import section
from ..document import Snapshot
from ..sections.bench import Measured, Measurement
from .paper import Paper, plural

Row = tuple[str, str, str, str, str]
LONG = 200  # characters of a value of a workload, such as a command line


def render_table(snapshot: Snapshot, width: int = 80) -> str:
    """The page for a terminal, ending in a newline."""
    paper, bench = Paper(width), section(snapshot)
    meta, grids = snapshot.meta, bench.grids or {}
    count = f"{plural(len(bench.measurements), 'measurement')}, {plural(len(grids), 'table')} between devices"
    paper.prose(" ".join(filter(None, (meta.host, meta.label, f"({meta.taken})" if meta.taken else ""))) + f": {count}")
    for head, found in _by_workload(bench.measurements.values()):
        paper.blank()
        paper.prose(head, hang="  ")
        for line in _lines(found):
            paper.exact(line)
    for name, grid in sorted(grids.items(), key=lambda item: (_head(item[1]), item[0])):
        (heat,) = heats([("", {name: grid})])
        paper.blank()
        paper.prose(_head(grid), hang="  ")
        runs = plural(len(grid.samples), "run")
        paper.prose(f"{grid.metric}, {grid.unit}, {grid.better} is better, {runs}{_trouble(grid)}", "  ", "    ")
        for line in lines(heat, width=paper.width - 2):
            paper.exact(line, "  ")
    return paper.text()


def render_json(snapshot: Snapshot) -> str:
    """The section as JSON, with median, low and high of each measurement; numbers that JSON lacks are words."""
    bench = section(snapshot)
    table = bench.table()
    for name, one in bench.measurements.items():
        if found := spread(one.samples):
            table["measurements"][name] |= dict(zip(("low", "median", "high"), found, strict=True))
    meta = {"host": snapshot.meta.host, "label": snapshot.meta.label, "taken": snapshot.meta.taken}
    return json.dumps(_plain({**meta, **table}), indent=2, sort_keys=True, allow_nan=False) + "\n"


def _by_workload(measured: Iterable[Measurement]) -> list[tuple[str, list[Measurement]]]:
    """Measurements under the head that they share: a tool and a workload; sizes in their order, not as words."""
    groups: dict[str, list[Measurement]] = {}
    for one in sorted(measured, key=_order):
        groups.setdefault(_head(one), []).append(one)
    return [*groups.items()]


def _order(one: Measurement) -> tuple[object, ...]:
    return one.source.tool, by_workload(one.workload), not one.primary, one.metric


def _head(one: Measured) -> str:
    workload = ", ".join(f"{key} {shortened(value, LONG)}" for key, value in sorted(one.workload.items()))
    tool = f"{one.source.tool} {one.source.version or ''}".rstrip()
    devices = f", on {plural(len(one.devices), 'device')}" if one.devices else ""
    return f"{tool}: {workload or 'no workload'}{devices}{f' [{one.label}]' if one.label else ''}"


def _lines(found: Sequence[Measurement]) -> Iterator[str]:
    rows = [_row(one) for one in found]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for one, row in zip(found, rows, strict=True):
        left = "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True))
        yield f"  {left}".rstrip()
        if trouble := _trouble(one):
            yield f"    {trouble.removeprefix('; ')}"


def _row(one: Measurement) -> Row:
    """Metric (* is a primary one), median, spread, number of runs, their picture."""
    name, runs = f"{one.metric}{' *' if one.primary else ''}", f"n {len(one.samples)}"
    found = spread(one.samples)
    if not found:
        return name, "no value", "", runs, ""
    low, middle, high = found
    between = f"{short(low)} to {short(high)}" if len(one.samples) > 1 else ""
    return name, f"{short(middle)} {one.unit}", between, runs, sparkline(one.samples) if len(one.samples) > 2 else ""


def _trouble(one: Measured) -> str:
    """What is wrong with the runs; empty where all is well."""
    if one.status == "ok":
        return ""
    failed = f", {plural(one.failed, 'run')} without a value" if one.failed else ""
    return f"; {one.status}{failed}{f': {one.why}' if one.why else ''}"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
