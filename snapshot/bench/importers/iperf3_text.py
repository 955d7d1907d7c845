"""What iperf3 prints for people: a line a second and stream, and at the end what each end counted.

iperf3(1), src/iperf_locale.c: ``[SUM]   0.00-10.00  sec  10.9 GBytes  9.40 Gbits/sec  123  sender``. The lines that
end in ``sender`` and ``receiver`` are of the whole test; SUM stands only where there are several streams.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...records import replace
from ...regexes import regex
from ..report import Metric, Report, Value, Workload, bad
from .entries import words
from .printed import coarse_percent, finite

SHORTEST_S = 1.0
THROUGHPUT = Metric(name="throughput", unit="Gbit/s", better="higher", kind="network", primary=True)
JITTER = Metric(name="jitter", unit="ms", better="lower", kind="network", primary=True)
LOST = Metric(name="lost", unit="%", better="lower", kind="network", primary=True)
GBIT = {"": 1e-9, "K": 1e-6, "M": 1e-3, "G": 1.0, "T": 1e3}
_END = regex(r"\[ *(?P<id>\d+|SUM)\](?:\[(?P<way>[RT]X)-[CS]\])? +[\d.]+- *(?P<end>[\d.]+) +sec +\S+ +\w*Bytes +"
             r"(?P<rate>\S+) +"
             r"(?P<unit>[KMGT]?)(?P<what>bits|Bytes)/sec"
             r"(?: +(?P<jitter>[\d.]+) ms +\d+/\d+ +\((?P<lost>[\d.e+-]+)%\)|(?: +\d+)?)"
             r" +(?P<side>sender|receiver)\s*")
_STREAM = regex(r"\[ *(\d+)\](?:\[[RT]X-[CS]\])? local (\S+) port \d+ connected to (\S+) port \d+\s*")


def recognises_text(text: str) -> bool:
    """Whether a line of the whole test is there."""
    return any(line.rstrip().endswith(("sender", "receiver")) and _END.fullmatch(line) for line in text.splitlines())


def read_text(text: str, file: str) -> Report:
    """What arrived in each test of TEXT. ReportError when there is none, or a rate is none."""
    starts = [found.start() for found in re.finditer("^(?:Connecting to host|Accepted conn)", text, re.MULTILINE)]
    values = [value for one, other in pairwise([0, *starts[1:], len(text)])
              for value in _values(text[one:other].splitlines(), file, text.count("\n", 0, one))]
    return Report(tool="iperf3", format="text", values=values) if values else bad(file, "no result of iperf3 in it")


def _values(lines: Sequence[str], file: str, before: int) -> Iterator[Value]:
    """The values of one test, whose first line has BEFORE lines before it."""
    found = [(at, match) for at, line in enumerate(lines, before + 1) if (match := _END.fullmatch(line))]
    several = any(match["id"] == "SUM" for _, match in found)
    for at, match in found:
        if match["side"] == "receiver" and (match["id"] == "SUM" or not several):
            yield from _of_end(match, _workload(lines, match), file, at)


def _of_end(match: re.Match[str], workload: Workload, file: str, line: int) -> Iterator[Value]:
    rate, seconds = finite(match["rate"]), finite(match["end"]) or 0
    if rate is None:
        bad(file, f"no rate: {match['rate']!r:.20}", line)
    short = too_short(seconds) if seconds < SHORTEST_S else None if rate else "nothing arrived"
    value = rate * GBIT[match["unit"]] * (8 if match["what"] == "Bytes" else 1)
    yield Value(metric=replace(THROUGHPUT, minimum_percent=coarse_percent(match["rate"])), workload=workload,
                value=None if short else value, status="failed" if short else "ok", why=short)
    for metric, key in ((JITTER, "jitter"), (LOST, "lost")):
        if not short and (one := finite(match[key])) is not None:
            yield Value(metric=metric, workload=workload, value=one)


def too_short(seconds: float) -> str:
    """Why a test of so many SECONDS says nothing."""
    return f"{seconds:.3g} s are too short: in that time buffers take what is sent"


def _workload(lines: Sequence[str], match: re.Match[str]) -> Workload:
    """What a text tells of what was asked for."""
    streams = [found for line in lines if (found := _STREAM.fullmatch(line))]
    told = {"protocol": "UDP" if match["jitter"] else "TCP", "streams": str(len(streams)) if streams else "",
            "duration_s": f"{finite(match['end']) or 0:.0f}",
            "reverse": "1" if any(line.startswith("Reverse mode") for line in lines) else "",
            "way": "back" if match["way"] == "RX" else "",
            "peer": "this host" if any(found[2] == found[3] for found in streams) else ""}
    return words(told)
