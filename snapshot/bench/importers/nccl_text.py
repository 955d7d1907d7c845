"""What nccl-tests prints: runs one after the other, each a head of # lines, rows, and a footer.

Columns differ by version and options, and are told by the header. A field that a collective does not have (redop and
root in older versions) is left blank. Lines of NCCL itself and of the tests' errors stand in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ...records import field, record
from ...regexes import regex
from ...sections.bench import Within
from ..merging import address
from ..report import bad
from .nccl_run import Row, Run
from .printed import finite, last_line, one_line

OPTIONS = regex(r"# nThread (\d{1,9}) nGpus (\d{1,9}) minBytes (\d+) maxBytes (\d+) step: (\d+)\((\w+)\).*")
_RANK = regex(r"# +Rank +\d+ +(?:Group +\d+ +)?Pid +\d+ on +(\S+) +device +\d+ \[(.*?)\] *(.*)")
_COLUMNS = regex(r"# +size +count +type .*")
_ROW = regex(r" *\d{1,19} +\d+ +[a-z]\w* ")
_FAILURE = regex(r"(?:\S+: )?(Test \w+ failure .*)")
_FLAGS = {"agg iters": ("agg_iters", "1"), "graph": ("graph", "0"), "unalign": ("unalign", "0")}


@record()
class _Section:
    """The lines of one run, as far as they are read."""

    options: re.Match[str] | None = None
    collective: str | None = None
    blocking: bool = False
    most_bytes: str | None = None
    hosts: list[str] = field(default_factory=list)
    gpus: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    columns: Sequence[str] = ()
    rows: list[Row] = field(default_factory=list)
    average: str | None = None
    failed: str | None = None
    why: str | None = None


def runs(text: str, file: str) -> list[Run]:
    """The runs of TEXT. ReportError for a row that does not fit the header and is not the last line."""
    named = {*re.findall(r"\b(\w+)_perf\b", text)}
    only, lines = min(named) if len(named) == 1 else None, text.splitlines()
    end = last_line(lines)
    found: list[_Section] = []
    for at, line in enumerate(lines):
        if line.startswith("# nccl-tests version") or (
                OPTIONS.match(line) and not (found and found[-1].options is None)):
            found.append(_Section())
        if found and line.startswith("#"):
            _head(found[-1], line)
        elif found and found[-1].columns and _ROW.match(line):
            found[-1].rows += _rows(found[-1].columns, line, file, at + 1, at == end)
        elif found and found[-1].why is None and (failure := _FAILURE.fullmatch(line.strip())):
            found[-1].why = one_line(failure[1])
    return [_run(section, only) for section in found if section.options]


def _head(section: _Section, line: str) -> None:
    """What a line of the head or footer says."""
    if found := OPTIONS.match(line):
        section.options = found
    elif found := re.match(r"# Collective test starting: (\w+?)(?:_perf)?\s*$", line):
        section.collective = found[1]
    elif line.startswith("# Blocking Enabled"):
        section.blocking = True
    elif found := re.match(r"# Reducing maxBytes to (\d+)", line):
        section.most_bytes = found[1]
    elif found := _RANK.match(line):
        section.hosts.append(found[1])
        section.gpus.append(found[3].strip())
        if (one := address(found[2])) != found[2]:
            section.addresses.append(one)
    elif _COLUMNS.match(line) and not {"time", "cputime"}.isdisjoint(line.split()):
        section.columns = line[1:].split()
    elif (found := re.match(r"# Out of bounds values : (\d+) (\w+)", line)) and found[2] != "OK":
        section.failed = f"{found[1]} values out of bounds"
    elif found := re.match(r"# Avg bus bandwidth +: (\S+)", line):
        section.average = found[1]


def _rows(columns: Sequence[str], line: str, file: str, number: int, last: bool) -> Iterator[Row]:
    """The two rows of a LINE: out of place, in place; none of one that is cut off at the end of the report."""
    timed = columns[-1] == "timestamp"  # a date and a time
    words, columns = line.split()[:-2] if timed else line.split(), columns[:-1] if timed else columns
    start = next(at for at, name in enumerate(columns) if name in ("time", "cputime"))
    half, odd = divmod(len(columns) - start, 2)
    if odd or columns[start:start + half] != columns[start + half:]:
        bad(file, f"the columns above are of no known form: {' '.join(columns)!r:.80}", number)
    left = words[:-2 * half]
    if not (3 if "error" in columns else start) <= len(left) <= start:  # later versions leave no field blank
        if last:
            return
        bad(file, f"{len(words)} fields below {len(columns)} columns", number)
    kind = _kind(left[3:], columns[3:start])
    for in_place, cells in enumerate((words[-2 * half:-half], words[-half:])):
        told = dict(zip(columns[start:], cells, strict=False))
        time = told.get("time", told.get("cputime", ""))
        if time == "N/A":
            continue
        if finite(time) is None or finite(told.get("busbw")) is None:
            bad(file, f"no number: {time!r:.20} or {told.get('busbw')!r:.20}", number)
        yield Row(size=int(left[0]), type=left[2], redop=kind.get("redop"), root=kind.get("root"),
                  in_place=bool(in_place), time=time, busbw=told["busbw"], wrong=finite(told.get("#wrong")),
                  times=_within(told))


def _kind(words: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """The fields between type and time: when there are fewer than columns, a number is the root, and a word redop."""
    if len(words) == len(columns):
        return dict(zip(columns, words, strict=True))
    return {"root" if finite(word) is not None else "redop": word for word in words}


def _within(told: Mapping[str, str]) -> Within | None:
    """The spread of single iterations, where it is reported."""
    low, high = finite(told.get("i_min")), finite(told.get("i_max"))
    return Within(min=low, max=high) if low is not None and high is not None else None


def _run(section: _Section, only: str | None) -> Run:
    """A run; ONLY is the collective that the whole text names, for versions that do not name it in the head."""
    threads, gpus, least, most, step, form = section.options.groups() if section.options else [""] * 6
    flags = {name: found[1] for said, (name, default) in _FLAGS.items() if section.options
             and (found := re.search(rf"\b{said}: (\d+)", section.options[0])) and found[1] != default}
    ranks = len(section.gpus) or int(threads) * int(gpus) or 1
    collective = section.collective or only
    options = {**flags, "threads": threads, "gpus_per_thread": gpus, "blocking": "yes" if section.blocking else "",
               "bus_factor": "" if collective else _factor(section.rows, ranks)}
    return Run(
        collective=collective or "not named", cpu_time="cputime" in section.columns, options=options,
        sizes=f"{least} to {section.most_bytes or most}, {'times' if form == 'factor' else 'plus'} {step}", ranks=ranks,
        hosts=len({*section.hosts}) or 1, gpus=section.gpus,
        addresses=[] if len({*section.hosts}) > 1 else section.addresses, rows=section.rows, average=section.average,
        failed=section.failed, why=section.why)


def _factor(rows: Sequence[Row], ranks: int) -> str:
    """What tells apart collectives that are not named: bus bandwidth by algorithm bandwidth (doc/PERFORMANCE.md)."""
    row = max(rows, key=lambda row: row.size, default=None)
    time, bus = finite(row.time) if row else None, finite(row.busbw) if row else None
    if not (row and row.size and time and bus):
        return ""
    known = {"1": 1.0, "(n-1)/n": (ranks - 1) / ranks, "2(n-1)/n": 2 * (ranks - 1) / ranks}
    return min(known, key=lambda name: abs(known[name] - bus / (row.size / time / 1000)))
