"""Reports of perftest, which measures RDMA: ib_write_bw, ib_read_lat, ib_send_bw and the rest.

github.com/linux-rdma/perftest, src/perftest_parameters.{c,h}. A title, options in two columns, and a table with a row
a message size. Oddities: MB/sec is MiB/s (print_report_bw divides by 0x100000), and is named MiB/sec only in newer
versions; Gb/sec is 10^9 bits. A peak of 0.00 was not taken. Client and server report the same run, often into one
file: the second report of the same numbers is not another run. Addresses of both ends are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...records import field, record
from ...regexes import regex
from ...sections.bench import Within
from ..report import Metric, Report, Value, Workload, bad
from .entries import words
from .printed import coarse_percent, finite, last_line

MIB_PER_S = {"MB/sec": 1.0, "MiB/sec": 1.0, "Gb/sec": 1e9 / 8 / (1 << 20)}
METRICS = {  # column -> metric and unit
    "BW average": ("bandwidth", "MiB/s"), "BW peak": ("bandwidth_peak", "MiB/s"), "MsgRate": ("message_rate", "Mmsg/s"),
    "t_typical": ("latency", "us"), "t_avg": ("latency_mean", "us"), "99% percentile": ("latency_p99", "us"),
    "99.9% percentile": ("latency_p99.9", "us"),
}
OPTIONS = {"Device": "device", "Number of qps": "qps", "Connection type": "connection", "Mtu": "mtu",
           "Link type": "link", "Dual-port": "dual_port"}
_TITLE = regex(r"\s*(\S.*?) (?:BW|Latency) Test\s*")
_OPTION = regex(r"([A-Z][\w .-]*?)\s*:\s(\w+)")
_HEAD = regex(r"\s*#bytes\s.*\[(?:MB/sec|MiB/sec|Gb/sec|usec)\].*")
_COLUMN = regex(r"#\w+|(?:[\w.%]+ )?\w+\[[^\]]*\]|tps average")
_ROW = regex(r"\s*[0-9]{1,19}\s")
_UNIT = regex(r"\[(M(?:i)?B/sec|Gb/sec)\]")


@record()
class _Test:
    """One report of one end, as far as it is read."""

    title: str
    options: Workload = field(default_factory=dict)
    unit: str = ""
    columns: Sequence[str] = ()
    rows: list[dict[str, str]] = field(default_factory=list)


def recognises(text: str) -> bool:
    """Whether the head of a table is there."""
    return any(_HEAD.fullmatch(line) for line in text.splitlines() if "#bytes" in line)


def read(text: str, file: str) -> Report:
    """The rate or the latency of each size. ReportError when there is none, or a row has another form."""
    found = [test for test in _tests(text.splitlines(), file) if test.rows]
    runs = [test for at, test in enumerate(found) if not at or _numbers(test) != _numbers(found[at - 1])]
    if not runs:
        bad(file, "the report ends before the first result")
    gpu = {"memory": "GPU"} if "GPU buffer" in text else {}
    return Report(tool="perftest", format="text",
                  values=[value for test in runs for best in [_first(test)]
                          for row in test.rows for value in _values(test, row, gpu, best)])


def _numbers(test: _Test) -> tuple[object, ...]:
    return test.title, test.options.get("device"), test.rows


def _tests(lines: Sequence[str], file: str) -> list[_Test]:
    tests: list[_Test] = []
    end = last_line(lines)
    for at, line in enumerate(lines):
        if _TITLE.fullmatch(line):
            tests.append(_Test(line.strip().removesuffix(" Test")))
        elif _HEAD.fullmatch(line):
            tests = tests or [_Test("RDMA")]
            unit = _UNIT.search(line)
            tests[-1].unit, tests[-1].columns = unit[1] if unit else "", _COLUMN.findall(line)
        elif tests and tests[-1].columns and _ROW.match(line):
            tests[-1].rows += _row(tests[-1].columns, line.split(), file, at + 1, at == end)
        elif tests and not tests[-1].columns:
            tests[-1].options |= {OPTIONS[key]: one for key, one in _OPTION.findall(line) if key in OPTIONS}
    return tests


def _row(columns: Sequence[str], cells: Sequence[str], file: str, line: int, last: bool) -> Iterator[dict[str, str]]:
    """A row by its columns; none of one that is cut off at the end of the report."""
    if len(cells) < len(columns):
        if not last:
            bad(file, f"{len(cells)} fields below {len(columns)} columns", line)
        return
    row = dict(zip(columns, cells, strict=False))
    if wrong := [word for word in row.values() if finite(word) is None]:
        bad(file, f"no number: {wrong[0]!r:.20}", line)
    yield row


def _first(test: _Test) -> int:
    """The size that is judged first: the largest of rates, the smallest of latencies."""
    sizes = [int(row["#bytes"]) for row in test.rows]
    return max(sizes) if test.unit else min(sizes)


def _values(test: _Test, row: dict[str, str], gpu: Workload, best: int) -> Iterator[Value]:
    options = {key: one for key, one in test.options.items() if one != "OFF"}
    workload = words({"test": test.title, **options, **gpu, "size": row["#bytes"]})
    told = {re.sub(r"\[.*", "", column): printed for column, printed in row.items()}
    for column, (name, unit) in METRICS.items():
        if not (number := finite(told.get(column))):
            continue
        metric = Metric(name=name, unit=unit, better="lower" if unit == "us" else "higher", kind="collectives-nodes",
                        primary=name in ("bandwidth", "latency") and int(row["#bytes"]) == best,
                        minimum_percent=coarse_percent(told[column]))
        scale = MIB_PER_S.get(test.unit, 1.0) if unit == "MiB/s" else 1.0
        yield Value(metric=metric, workload=workload, value=number * scale,
                    within=_within(told) if name == "latency" else None)


def _within(told: dict[str, str]) -> Within:
    """The spread of single messages."""
    low, middle, high, deviation = (finite(told.get(key)) for key in ("t_min", "t_typical", "t_max", "t_stdev"))
    return Within(min=low, median=middle, max=high, stddev=deviation)
