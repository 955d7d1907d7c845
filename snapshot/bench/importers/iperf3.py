"""Reports of iperf3: JSON (``-J``, and ``--json-stream``), and text.

iperf3(1), src/iperf_api.c. What counts is what arrived: the sender's figure holds what its buffers took, which in a
short test is all there is. So a test below a second says nothing. With UDP the rate is what was asked for, and the
question is how much was lost. Addresses and names of both ends are dropped: tests to several peers have to be told
apart by the user; only one that goes to this host itself is known as that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..report import Metric, Report, Value, Workload, bad, within
from .entries import Entry, mentions, words
from .iperf3_text import JITTER, LOST, SHORTEST_S, THROUGHPUT, read_text, recognises_text, too_short
from .printed import known, objects, one_line

LOOPBACK = ("127.", "::1", "localhost")
RTT = Metric(name="rtt_mean", unit="us", better="lower", kind="network")


def recognises(text: str) -> bool:
    """Whether its keys are there, or the first event of a stream, or a line of a text with the rate of an end."""
    return _is_json(text) or recognises_text(text)


def _is_json(text: str) -> bool:
    return mentions(text, "start", "intervals", "end") or mentions(text, "event", "data", "test_start")


def read(text: str, file: str) -> Report:
    """The values of all runs in TEXT. ReportError when there is none, or a value is none."""
    if not _is_json(text):
        return read_text(text, file)
    runs = [*_runs([*objects(text, file)])]
    values = [value for run in runs for value in _values(run)]
    if not values:
        bad(file, "no result of iperf3 in it")
    version = (runs[0].entry("start").text("version") or "").removeprefix("iperf ") or None
    return Report(tool="iperf3", format="json", version=version, values=values)


def _runs(found: Sequence[Entry]) -> Iterator[Entry]:
    """The runs, those of a stream of events put together."""
    parts: dict[str, object] = {}
    for one in found:
        event = one.text("event")
        if "event" not in one.table:
            yield one
        elif event == "start":
            parts = {"start": one.table.get("data")}
        elif event == "interval":
            parts.setdefault("intervals", [])
            intervals = parts["intervals"]
            if isinstance(intervals, list):
                intervals.append(one.table.get("data"))
        elif event == "error":
            yield Entry({**parts, "error": one.table.get("data")}, one.file, one.line)
        elif event == "end":
            yield Entry({**parts, "end": one.table.get("data")}, one.file, one.line)


def _values(run: Entry) -> Iterator[Value]:
    """What arrived, each way; of a run that failed or was too short, that."""
    end, workload = run.entry("end"), _workload(run.entry("start"))
    if why := run.text("error") or _too_short(end):
        yield Value(metric=THROUGHPUT, workload=workload, value=None, status="failed", why=one_line(why))
        return
    for suffix in ("", "_bidir_reverse"):
        told, arrived = {**workload, "way": "back"} if suffix else workload, end.entry(f"sum_received{suffix}")
        if arrived.table:
            yield _throughput(arrived, _rates(run, suffix), told)
        if workload.get("protocol") == "UDP":
            yield from _losses(end.entry(f"sum{suffix}"), told)
            yield from _losses(arrived, told) if f"sum{suffix}" not in end.table else ()
    if workload.get("protocol") != "UDP":
        yield from _rtt(end, workload)


def _too_short(end: Entry) -> str | None:
    """Why a test says nothing, by the longest of its times."""
    times = [known(end.entry(key), "seconds") for key in end.table if key.startswith("sum")]
    longest = max((time for time in times if time is not None), default=None)
    if longest is None:
        return "the report has no sum"
    return too_short(longest) if longest < SHORTEST_S else None


def _rates(run: Entry, suffix: str) -> list[float]:
    """Gbit/s of the intervals that count."""
    sums = [one.entry(f"sum{suffix}") for one in run.entries("intervals")] if "intervals" in run.table else []
    return [rate / 1e9 for one in sums if one.table.get("omitted") is not True
            and (rate := known(one, "bits_per_second")) is not None]


def _throughput(arrived: Entry, rates: Sequence[float], workload: Workload) -> Value:
    rate = known(arrived, "bits_per_second")
    return Value(metric=THROUGHPUT, workload=workload, value=rate / 1e9 if rate else None, within=within(rates),
                 status="ok" if rate else "failed", why=None if rate else "nothing arrived")


def _losses(total: Entry, workload: Workload) -> Iterator[Value]:
    for metric, key in ((JITTER, "jitter_ms"), (LOST, "lost_percent")):
        if (value := known(total, key)) is not None:
            yield Value(metric=metric, workload=workload, value=value)


def _rtt(end: Entry, workload: Workload) -> Iterator[Value]:
    """The mean round trip under this load, over all streams; 0 where the kernel does not tell it."""
    streams = end.entries("streams") if "streams" in end.table else []
    found = [mean for stream in streams if (mean := known(stream.entry("sender"), "mean_rtt"))]
    if found:
        yield Value(metric=RTT, workload=workload, value=sum(found) / len(found), within=within(found))


def _workload(start: Entry) -> Workload:
    """What was asked for. The congestion control and the segment size are the host's state, and not told."""
    asked, peers = start.entry("test_start"), start.entries("connected") if "connected" in start.table else []
    names = {"protocol": "protocol", "num_streams": "streams", "blksize": "block", "duration": "duration_s",
             "bytes": "bytes", "reverse": "reverse", "bidir": "bidirectional", "target_bitrate": "target_bitrate",
             "tos": "tos"}
    told = {name: asked.text(key) for key, name in names.items()}
    here = any((peer.text("remote_host") or "").startswith(LOOPBACK) for peer in peers)
    told["peer"] = "this host" if here else None
    return words({key: value for key, value in told.items() if value != "0"})
