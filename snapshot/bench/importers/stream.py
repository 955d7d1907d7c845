"""Reports of STREAM, which measures the bandwidth of host memory, and of its relative for GPUs in SuperBench.

cs.virginia.edu/stream, stream.c: the best of all rounds but the first, in MB/s of 10^6 bytes, with the average, the
shortest and the longest time. The result counts when it validates, which stands at the end. Older versions write
``Rate (MB/s)``. github.com/microsoft/superbenchmark, gpu_stream: a line a kernel, GPU and block size, in GB/s, with
the share of the theoretical bandwidth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...records import field, record
from ...regexes import regex
from ...sections.bench import Within
from ..report import Metric, Report, Value, Workload, bad
from .entries import words
from .printed import finite

_HEAD = regex(r"\s*Function\s+(?:Best )?Rate \(?MB/s\)?\s.*")
_ROW = regex(r"\s*(Copy|Scale|Add|Triad):\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s*")
_GPU_ROW = regex(r"STREAM_(COPY|SCALE|ADD|TRIAD)_(\w+?)_gpu_(\d+)_buffer_(\d+)_block_(\d+)\s+(\S+)\s+(\S+)\s*")
_GPU = regex(r'Device (\d+): "(.*?)".*')
_TOLD = {
    "array_elements": regex(r"Array size = (\d+)"), "element_bytes": regex(r"uses (\d+) bytes per"),
    "rounds": regex(r"executed (\d+) times"), "threads": regex(r"Number of Threads counted = (\d+)"),
}


@record()
class _Run:
    """One process, as far as it is read."""

    workload: Workload = field(default_factory=dict)
    rows: dict[str, tuple[float, float | None]] = field(default_factory=dict)  # best and worst rate by kernel
    version: str | None = None
    verdict: str | None = None


def recognises(text: str) -> bool:
    """Whether the head of the table is there, or a line of a GPU."""
    return any(_HEAD.fullmatch(line) or _GPU_ROW.fullmatch(line) for line in text.splitlines()
               if "Rate" in line or line.startswith("STREAM_"))


def read(text: str, file: str) -> Report:
    """The four rates of all runs in TEXT. ReportError when there is none, or one is no number."""
    lines = text.splitlines()
    if gpu := [*_gpu_values(lines, file)]:
        return Report(tool="gpu-stream", format="text", values=gpu)
    runs = [run for run in _runs(lines, file) if run.rows]
    if not runs:
        bad(file, "the report ends before the first rate")
    return Report(tool="stream", format="text", version=runs[0].version,
                  values=[value for run in runs for value in _values(run)])


def _runs(lines: Sequence[str], file: str) -> list[_Run]:
    """The runs; a version, or a table after a table, begins the next one."""
    runs = [_Run()]
    for at, line in enumerate(lines, 1):
        if line.startswith("STREAM version") or (_HEAD.fullmatch(line) and runs[-1].rows):
            runs.append(_Run())
            found = re.search(r"Revision: (\S+)", line)
            runs[-1].version = found[1] if found else None
        elif found := _ROW.fullmatch(line):
            runs[-1].rows[found[1]] = _row(found, file, at)
        elif line.startswith(("Solution Validates", "Failed Validation")):
            runs[-1].verdict = runs[-1].verdict or line.strip()
        else:
            runs[-1].workload |= {key: found[1] for key, one in _TOLD.items() if (found := one.search(line))}
    return runs


def _row(found: re.Match[str], file: str, line: int) -> tuple[float, float | None]:
    """The best rate, and the one of the longest time."""
    rate, shortest, longest = (finite(found[at]) for at in (2, 4, 5))
    if not rate:
        bad(file, f"no rate: {found[2]!r:.20}", line)
    return rate, round(rate * shortest / longest, 1) if shortest and longest else None


def _values(run: _Run) -> Iterator[Value]:
    why = None if run.verdict and run.verdict.startswith("Solution") else run.verdict
    cut = None if run.verdict else "the report ends before the result is validated"
    for name, (rate, slowest) in run.rows.items():
        yield Value(metric=_metric(name, "MB/s", "memory"), workload=run.workload, value=None if why else rate,
                    status="failed" if why else "partial" if cut else "ok", why=why or cut,
                    within=Within(count=_rounds(run), min=slowest, max=rate) if slowest else None)


def _rounds(run: _Run) -> int | None:
    """How many rounds are counted: all but the first."""
    rounds = finite(run.workload.get("rounds"))
    return int(rounds) - 1 if rounds else None


def _gpu_values(lines: Sequence[str], file: str) -> Iterator[Value]:
    names = {found[1]: found[2] for line in lines if (found := _GPU.fullmatch(line))}
    for at, line in enumerate(lines):
        if not (found := _GPU_ROW.fullmatch(line)):
            continue
        kernel, kind, gpu, size, block, rate, _ = found.groups()
        workload = {"type": kind, "device": f"GPU {gpu}", "size": size, "block": block, "gpu": names.get(gpu, "")}
        value = finite(rate)
        if value is None:
            bad(file, f"no rate: {rate!r:.20}", at + 1)
        yield Value(metric=_metric(kernel.capitalize(), "GB/s", "gpu"), value=value,
                    workload=words(workload))


def _metric(kernel: str, unit: str, kind: str) -> Metric:
    """Triad is what the benchmark is known for."""
    return Metric(name=kernel.lower(), unit=unit, better="higher", kind=kind, primary=kernel == "Triad")
