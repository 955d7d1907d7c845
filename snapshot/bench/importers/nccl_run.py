"""One run of a collective test of nccl-tests, whichever form it was read from, as values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from ...records import record
from ...sections.bench import Within
from ..report import Metric, Value, Workload, within
from .entries import words
from .printed import coarse_percent, finite

BANDWIDTH_FROM = 1 << 20  # bytes; below, starting takes most of the time, and the bandwidth is rounded to nothing


@record(frozen=True, kw_only=True)
class Row:
    """A message size, out of place or in place. WRONG is how many elements were; None where it was not checked."""

    size: int
    type: str
    redop: str | None
    root: str | None
    in_place: bool
    time: str  # numbers as they are printed, which says how fine they are
    busbw: str
    wrong: float | None
    times: Within | None = None

    @property
    def key(self) -> tuple[int, str, str | None, str | None, bool]:
        """What it measured; a test of several cycles does that as many times."""
        return self.size, self.type, self.redop, self.root, self.in_place


@record(frozen=True, kw_only=True)
class Run:
    """The head of a run and its rows; AVERAGE is None when it did not come so far, and WHY says why."""

    collective: str
    cpu_time: bool
    options: Workload
    sizes: str  # from, to and step as they were asked for, which decide what the average is of
    ranks: int
    hosts: int
    gpus: Sequence[str]
    addresses: Sequence[str]
    rows: Sequence[Row]
    average: str | None
    failed: str | None = None  # why no value counts whose row does not say that its elements are right
    why: str | None = None

    def values(self) -> Iterator[Value]:
        """The time of small messages, the bus bandwidth of large ones, the average. Sizes of 0 carry nothing.

        The largest message shows bandwidth, and the smallest latency: these two are what is judged first.
        """
        groups: dict[tuple[object, ...], list[Row]] = {}
        for row in self.rows:
            if row.size:
                groups.setdefault(row.key, []).append(row)
        sizes = [rows[0].size for rows in groups.values()]
        for rows in groups.values():
            size, first = rows[0].size, not rows[0].in_place
            if size >= BANDWIDTH_FROM:
                yield self._value("busbw", rows, first and size == max(sizes))
            else:
                yield self._value("cpu_time" if self.cpu_time else "time", rows, first and size == min(sizes))
        yield self._average()

    def _value(self, name: str, rows: Sequence[Row], primary: bool) -> Value:
        """One metric of the ROWS of one key: the middle one of several cycles, which are spread within the run."""
        row, bandwidth = rows[0], name == "busbw"
        printed = [one.busbw if bandwidth else one.time for one in rows]
        found = [value for text in printed if (value := finite(text)) is not None]
        metric = Metric(name=name, unit="GB/s" if bandwidth else "us", better="higher" if bandwidth else "lower",
                        kind=self._kind(), primary=primary, minimum_percent=coarse_percent(printed[0]))
        why = self._wrong(rows) or (None if len(found) == len(rows) and all(found) else "no time was taken")
        return Value(metric=metric, workload=self._workload([row], size=str(row.size), place=_place(row)),
                     value=None if why else median(found), status="failed" if why else "ok", why=why,
                     within=within(found) if len(rows) > 1 else None if bandwidth else row.times,
                     devices=tuple(self.addresses))

    def _wrong(self, rows: Sequence[Row]) -> str | None:
        """Why the ROWS count for nothing."""
        wrong = sum(row.wrong or 0 for row in rows)
        return f"{wrong:g} wrong elements" if wrong else self.failed if any(row.wrong is None for row in rows) else None

    def _average(self) -> Value:
        value = finite(self.average)
        metric = Metric(name="avg_busbw", unit="GB/s", better="higher", kind=self._kind())
        why = self.failed or (None if value is not None else self.why or "the report ends before the average")
        return Value(metric=metric, workload=self._workload(self.rows, sizes=self.sizes), value=None if why else value,
                     status="failed" if why else "ok", why=why, devices=tuple(self.addresses))

    def _kind(self) -> str:
        return "collectives-nodes" if self.hosts > 1 else "collectives"

    def _workload(self, rows: Sequence[Row], **more: str) -> Workload:
        told = {"collective": self.collective, "ranks": str(self.ranks), "hosts": str(self.hosts),
                "gpu": ", ".join(sorted({*self.gpus})), **self.options}
        for key in ("type", "redop", "root"):
            told[key] = ", ".join(sorted({getattr(row, key) or "" for row in rows}))
        return words(told | more)


def _place(row: Row) -> str:
    return "in" if row.in_place else "out"
