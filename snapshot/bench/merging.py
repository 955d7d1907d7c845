"""A report's values put together with those of other runs: one measurement a metric and workload.

A measurement's id is ``tool/metric/HASH``, where HASH is the first eight hex digits of the SHA-256 of its workload,
written as JSON with sorted keys and without blanks. So it is the same on every host and in every version; two
workloads whose hashes meet are refused. Samples stand in the order in which runs were added.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from ..errors import SnapError
from ..records import field, record
from ..regexes import regex
from ..sections.bench import Bench, Grid, Measured, Measurement, Source, Status, Within
from .report import Report, Table, Value

M = TypeVar("M", Measurement, Grid)
R = TypeVar("R", Value, Table)
TELLING = 8  # values of a run, above 1 and with digits after the point, that no other run has all alike
_ADDRESS = regex(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.([0-7]))?", re.IGNORECASE)


def identifier(tool: str, metric: str, workload: Mapping[str, str]) -> str:
    """The id of a measurement."""
    return f"{tool}/{metric}/{_hash(tuple(workload.items()))}"


@lru_cache(maxsize=1000)  # a workload has many values
def _hash(workload: tuple[tuple[str, str], ...]) -> str:
    text = json.dumps(dict(workload), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def address(text: str) -> str:
    """A PCI address as section pci has it: 00000000:C1:00 -> 0000:c1:00.0; anything else stays as it is."""
    found = _ADDRESS.fullmatch(text)
    if not found:
        return text
    domain, bus, device, function = found.groups()
    return f"{int(domain or '0', 16):04x}:{bus}:{device}.{function or 0}".lower()


@record(frozen=True, kw_only=True)
class Addition:
    """A report, and what is known of it besides."""

    report: Report
    file: str | None = None  # the name of its file
    label: str | None = None
    gpus: Mapping[str, str] = field(default_factory=dict)  # PCI address -> GPU UUID

    def merged(self, bench: Bench) -> Bench:
        """BENCH with the runs of the report.

        SnapError when it has no measurement, or one that is not of the same kind as that which it would join.
        """
        if not (self.report.values or self.report.tables):
            raise SnapError("there is no measurement in it")
        if self.file is not None:
            self._check_new(bench.measurements)
        measurements = self._joined(bench.measurements, self.report.values, self._measurement)
        grids = self._joined(bench.grids or {}, self.report.tables, self._grid)
        if both := measurements.keys() & grids.keys():
            raise SnapError(f"{min(both)} would be a number and a table between devices at once")
        return bench.copy(measurements=measurements, grids=grids or None)

    def _check_new(self, there: Mapping[str, Measurement]) -> None:
        """SnapError when a run is there already, by its numbers as a log prints them.

        A summary repeats the runs of the files it sums up, and a log those of the file that the benchmark wrote.
        """
        runs: dict[tuple[object, ...], list[tuple[str, float]]] = {}
        times = Counter[str]()
        for one in self.report.values:
            name = identifier(self.report.tool, one.metric.name, one.workload)
            if one.value is not None and one.value % 1 and one.value > 1:
                runs.setdefault((*sorted(one.workload.items()), times[name]), []).append((name, round(one.value, 2)))
            times[name] += 1
        printed = {name: {round(value, 2) for value in one.samples} for name, one in there.items()} if runs else {}
        for run in runs.values():
            if len(run) >= TELLING and all(value in printed.get(name, ()) for name, value in run):
                raise SnapError(f"a run in it is there already: its {len(run)} values are those of an earlier report")

    def _joined(
        self, there: Mapping[str, M], runs: Iterable[R], join: Callable[[str, Sequence[R], M | None], M]
    ) -> dict[str, M]:
        """What is THERE, by id, with the RUNS that belong to each."""
        by_id: dict[str, list[R]] = {}
        for run in runs:
            by_id.setdefault(identifier(self.report.tool, run.metric.name, run.workload), []).append(run)
        return {**there, **{name: join(name, found, there.get(name)) for name, found in by_id.items()}}

    def _measurement(self, name: str, runs: Sequence[Value], there: Measurement | None) -> Measurement:
        samples, spreads = (list(there.samples), list(there.within or ())) if there else ([], [])
        spreads += [Within()] * (len(samples) - len(spreads))
        for run in runs:
            if run.value is not None and run.status not in ("failed", "waived"):
                samples.append(float(run.value))
                spreads.append(run.within or Within())
        some = any(spread != Within() for spread in spreads)
        return Measurement(**self._common(name, runs, there, len(samples)), samples=samples,
                           within=spreads if some else None)

    def _grid(self, name: str, runs: Sequence[Table], there: Grid | None) -> Grid:
        """The tables over every row and column that one of them has; nan where it has no such cell."""
        tables = [dict(_cells(there.rows, there.columns, table)) for table in there.samples] if there else []
        rows, columns = dict.fromkeys(there.rows if there else ()), dict.fromkeys(there.columns if there else ())
        for run in runs:
            names = [*map(address, run.rows)], [*map(address, run.columns)]
            rows |= dict.fromkeys(names[0])
            columns |= dict.fromkeys(names[1])
            if run.status not in ("failed", "waived"):
                tables.append(dict(_cells(*names, run.cells)))
        samples = [[[table.get((row, column), math.nan) for column in columns] for row in rows] for table in tables]
        return Grid(**self._common(name, runs, there, len(samples)), samples=samples, rows=[*rows], columns=[*columns])

    def _common(
        self, name: str, runs: Sequence[Value] | Sequence[Table], there: Measured | None, samples: int
    ) -> dict[str, Any]:
        """The fields that numbers and tables share, of RUNS and what is THERE, of which SAMPLES are left."""
        metric, workload = runs[0].metric, dict(runs[0].workload)
        kinds = [(run.metric.unit, run.metric.better, run.workload) for run in runs]
        for other in [*kinds, *([(there.unit, there.better, there.workload)] if there else [])]:
            _alike(name, (metric.unit, metric.better, workload), other)
        old = there.table() if there else {}
        lost = sum(map(_lost, runs)) + old.get("failed", 0)
        statuses = {run.status for run in runs} | ({there.status} if there else set())
        whys = [*old.get("why", "").split("; "), *(run.why for run in runs)]
        devices = (self.gpus.get(address(device), address(device)) for run in runs for device in run.devices)
        return {
            "metric": metric.name, "unit": metric.unit, "better": metric.better, "kind": metric.kind,
            "primary": metric.primary or None, "minimum_percent": metric.minimum_percent, "workload": workload,
            "status": _status(statuses, lost, samples), "failed": lost or None,
            "why": "; ".join(dict.fromkeys(filter(None, whys))) or None,
            "source": self._source(name, there.source if there else None),
            "label": ", ".join(_both(old.get("label", "").split(", "), [self.label]) or ()) or None,
            "devices": _both(old.get("devices"), devices), "files": _both(old.get("files"), [self.file]),
        }

    def _source(self, name: str, old: Source | None) -> Source:
        """Who measured; two versions of a tool do not run one benchmark."""
        new = Source(tool=self.report.tool, version=self.report.version, format=self.report.format)
        if old is None:
            return new
        if old.version and new.version and old.version != new.version:
            raise SnapError(f"{name} was measured with version {old.version} and now with {new.version}: to keep both, "
                            "tell them apart, as with --workload version=NEW")
        forms = sorted({*old.format.split(", "), new.format})
        return new.copy(version=old.version or new.version, format=", ".join(forms))


Kind = tuple[str, str, Mapping[str, str]]  # unit, better, workload


def _alike(name: str, one: Kind, other: Kind) -> None:
    if one[2] != other[2]:
        raise SnapError(f"{name} is the id of two workloads: {_words(one[2])}; {_words(other[2])}")
    if one != other:
        raise SnapError(f"{name} is in {one[0]} ({one[1]} is better) and in {other[0]} ({other[1]} is better)")


def _words(workload: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in sorted(workload.items())) or "none"


def _lost(run: Value | Table) -> bool:
    """Whether a run gave no value, and not because somebody waived it."""
    return run.status == "failed" or (run.status != "waived" and isinstance(run, Value) and run.value is None)


def _status(statuses: set[Status], lost: int, samples: int) -> Status:
    """What all runs come to."""
    if lost and not samples:
        return "failed"
    if statuses == {"waived"}:
        return "waived"
    return "partial" if lost or statuses != {"ok"} else "ok"


def _cells(
    rows: Sequence[str], columns: Sequence[str], table: Sequence[Sequence[float]]
) -> Iterable[tuple[tuple[str, str], float]]:
    for row, line in zip(rows, table, strict=True):
        yield from (((row, column), float(cell)) for column, cell in zip(columns, line, strict=True))


def _both(old: Iterable[str] | None, new: Iterable[str | None]) -> list[str] | None:
    return sorted(filter(None, {*(old or ()), *new})) or None
