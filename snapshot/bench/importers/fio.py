"""Reports of fio in JSON (``--output-format=json``, json+, or normal,json with text around it), versions 2 and 3.

fio(1) and stat.c. A job gives what it read, wrote and trimmed, each with a rate of operations and of bytes and with
latencies: nanoseconds from version 3 on (``clat_ns``), microseconds before (``clat``); version 2 has no ``bw_bytes``
but ``bw`` in KiB/s. Percentiles are of the completion (clat) or the total latency (lat), as fio was told. Jobs of one
name and one set of options are threads of one load, when they are not reported as a group: their rates are added.
Logs and files are named by paths: of these only devices are kept.
"""

from __future__ import annotations

import errno
import math
import re
from collections.abc import Iterable, Iterator, Sequence

from ...regexes import regex
from ...sections.bench import Within
from ..report import Metric, Report, Value, Workload, bad
from .entries import Entry
from .printed import known, objects, one_line

KEPT = {  # options that make a load what it is; the second name of an option is its older one
    "rw": "rw", "readwrite": "rw", "rwmixread": "rwmixread", "rwmixwrite": "rwmixwrite", "bs": "bs", "blocksize": "bs",
    "bsrange": "bsrange", "bssplit": "bssplit", "iodepth": "iodepth", "numjobs": "numjobs", "ioengine": "ioengine",
    "direct": "direct", "buffered": "buffered", "size": "size", "sync": "sync", "fsync": "fsync",
    "fdatasync": "fdatasync", "rate": "rate", "rate_iops": "rate_iops", "random_distribution": "random_distribution",
    "io_size": "io_size", "nrfiles": "nrfiles", "hipri": "hipri", "zonemode": "zonemode", "filename": "device",
}
WAYS = ("read", "write", "trim", "mixed")
PERCENTILES = {"50.000000": "p50", "99.000000": "p99", "99.900000": "p99.9"}
_BYTES = regex(r"([0-9]{1,15})([kmg]?)(?:i?b)?", re.IGNORECASE)


def recognises(text: str) -> bool:
    """Whether the key of the version is there."""
    return '"fio version"' in text


def read(text: str, file: str) -> Report:
    """What each load did, of all runs in TEXT. ReportError when there is no job, or a value is none."""
    runs = [run for run in objects(text, file) if "fio version" in run.table]
    values = [value for run in runs for jobs in _loads(run) for value in _values(jobs, run.entry("global options"))]
    if not values:
        bad(file, "no job of fio in it")
    return Report(tool="fio", format="json", version=runs[0].text("fio version"), values=values)


def _loads(run: Entry) -> list[list[Entry]]:
    """The jobs that are one load each, together. With clients, what they did all together stands in one."""
    jobs = run.entries("jobs") if "jobs" in run.table else run.entries("client_stats")
    jobs = [job for job in jobs if job.text("jobname") == "All clients"] or jobs
    loads: dict[tuple[object, ...], list[Entry]] = {}
    for job in jobs:
        key = (job.text("jobname"), job.text("groupid"), *sorted(_options(job.entry("job options")).items()))
        loads.setdefault(key, []).append(job)
    return [*loads.values()]


def _values(jobs: Sequence[Entry], common: Entry) -> Iterator[Value]:
    """The values of one load."""
    workload = {**_options(common), **_options(jobs[0].entry("job options"))}
    name = jobs[0].text("jobname") or ""
    if name.startswith("/dev/"):  # what a job without a filename works on
        workload.setdefault("device", name)
    elif name and not name.startswith("/"):
        workload["job"] = one_line(name)
    why = next((_error(job) for job in jobs if known(job, "error")), None)
    ways = [way for way in WAYS if any(_count(job.entry(way)) for job in jobs)]
    for way in ways:
        yield from _way([job.entry(way) for job in jobs], {**workload, "way": way}, why)
    if not ways:
        yield _value(_metric("iops", primary=True), {**workload}, None, why or "nothing was read or written")
    yield from _sync(jobs, workload, why)


def _error(job: Entry) -> str:
    code = int(known(job, "error") or 0)
    return f"error {errno.errorcode.get(code, code)}"


def _count(way: Entry) -> float:
    """How much was done: operations, or KiB of versions that do not count these."""
    return known(way, "total_ios") or known(way, "io_bytes") or 0


def _way(ways: Sequence[Entry], workload: Workload, why: str | None) -> Iterator[Value]:
    """What all threads of a load did one way."""
    counts = [known(way, "total_ios") or 0 for way in ways]
    yield _value(_metric("iops", primary=True), workload, _sum(known(way, "iops") for way in ways), why)
    yield _value(_metric("bandwidth"), workload, _sum(map(_megabytes, ways)), why)
    for name in ("clat", "lat"):
        found = [_latency(way, name) for way in ways]
        means = [(known(one, "mean") or 0) / scale for one, scale in found]
        if any(means):
            weights = counts if any(counts) else [1.0] * len(means)
            mean = sum(one * weight for one, weight in zip(means, weights, strict=True)) / sum(weights)
            within = _within(*found[0]) if len(ways) == 1 else None
            yield _value(_metric(f"{name}_mean"), workload, means[0] if within else mean, why, within)
        yield from _percentiles(name, found, workload, why)


def _percentiles(name: str, found: Sequence[tuple[Entry, float]], workload: Workload, why: str | None
                 ) -> Iterator[Value]:
    """Those of a load of one thread: of several they cannot be put together."""
    for one, scale in found if len(found) == 1 else ():
        for key, short in PERCENTILES.items():
            if value := known(one.entry("percentile"), key):
                yield _value(_metric(f"{name}_{short}", primary=short == "p99"), workload, value / scale, why)


def _sync(jobs: Sequence[Entry], workload: Workload, why: str | None) -> Iterator[Value]:
    """How long fsync and the like took, of one thread."""
    for job in jobs if len(jobs) == 1 else ():
        one, scale = _latency(job.entry("sync"), "lat")
        if mean := known(one, "mean"):
            yield _value(_metric("sync_lat_mean"), {**workload, "way": "sync"}, mean / scale, why)
            yield from _percentiles("sync_lat", [(one, scale)], {**workload, "way": "sync"}, why)


def _latency(way: Entry, name: str) -> tuple[Entry, float]:
    """A latency, and how many of its units are a microsecond."""
    return (way.entry(f"{name}_ns"), 1000.0) if f"{name}_ns" in way.table else (way.entry(name), 1.0)


def _within(one: Entry, scale: float) -> Within:
    """The spread of single operations."""
    told = {key: None if (value := known(one, key)) is None else value / scale for key in ("min", "max", "stddev")}
    count = known(one, "N")
    return Within(count=int(count) if count else None, min=told["min"], max=told["max"], stddev=told["stddev"])


def _megabytes(way: Entry) -> float | None:
    """MB/s, of 10^6 bytes."""
    exact, rounded = known(way, "bw_bytes"), known(way, "bw")
    return exact / 1e6 if exact is not None else None if rounded is None else rounded * 1024 / 1e6


def _sum(found: Iterable[float | None]) -> float | None:
    """All together; None when one is not known."""
    all_ = [*found]
    return math.fsum(one for one in all_ if one is not None) if None not in all_ else None


def _metric(name: str, primary: bool = False) -> Metric:
    unit = {"iops": "IOPS", "bandwidth": "MB/s"}.get(name, "us")
    return Metric(name=name, unit=unit, better="lower" if unit == "us" else "higher", kind="storage", primary=primary)


def _value(metric: Metric, workload: Workload, value: float | None, why: str | None, within: Within | None = None
           ) -> Value:
    lost = why or (None if value is not None and math.isfinite(value) else "no number")
    return Value(metric=metric, workload=workload, value=None if lost else value, status="failed" if lost else "ok",
                 why=lost, within=within)


def _options(found: Entry) -> Workload:
    """The options that make a load what it is, sizes of blocks in bytes."""
    told = {KEPT[key]: value for key in found.table if key in KEPT and (value := found.text(key))}
    if not told.get("device", "").startswith("/dev/"):
        told.pop("device", None)
    if block := _BYTES.fullmatch(told.get("bs", "")):
        told["bs"] = str(int(block[1]) * {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}[block[2].lower()])
    return told
