"""Reports of bandwidthTest of the CUDA samples, and of hipBusBandwidth of ROCm: copies between a host and its GPU.

github.com/NVIDIA/cuda-samples, bandwidthTest.cu: tables of sizes with one decimal for people, a line a size with
--csv; --device=all adds the bandwidths of all GPUs up. A copy within one GPU counts its bytes twice, read and written.
github.com/ROCm/hip-tests, hipBusBandwidth: a line a size, +064By of 64 bytes and 4kB of 4096, with the median and the
spread of all rounds, first GB/s and then ms; small sizes are too fast for its decimals and stand as 0.0000.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...regexes import regex
from ...sections.bench import Status, Within
from ..report import Metric, Report, Value, Workload, bad
from .entries import words
from .printed import coarse_percent, finite

CUDA, HIP = "bandwidthTest", "hipBusBandwidth"
WAYS = {"H2D": "host to device", "D2H": "device to host", "D2D": "device to device", "Bidir": "both"}
_DEVICE = regex(r" *Device (\d+): (.*?)\s*")
_TABLE = regex(r" *(Host to Device|Device to Host|Device to Device) Bandwidth, (\d+) Device\(s\)\s*")
_MEMORY = regex(r" *(PINNED|PAGEABLE) Memory Transfers\s*")
_ROW = regex(r"\s+(\d{1,15})\s+(\d{1,15}(?:\.\d+)?)\s*")
_LINE = regex(r"bandwidthTest-(H2D|D2H|D2D)(?:-(Pinned|Paged)(-WriteCombined)?)?, Bandwidth = (\S+) GB/s, "
              r"Time = \S+ s, Size = (\d{1,15}) bytes, NumDevsUsed = (\d+)\s*")
_HIP_DEVICE = regex(r"Device:(.*?) +Mem=\S+ #CUs=.*")
_HIP = regex(r"\s*(H2D|D2H|Bidir)_(Bandwidth|Time)_?(pinned|unpinned)\s+(\+?\d{1,9})(By|kB|KB|MB)\s+(GB/sec|ms)"
             r"\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)(?:\s.*)?")


def recognises(text: str) -> bool:
    """Whether it says so, or a line of it is there."""
    return "[CUDA Bandwidth Test]" in text or any(
        _LINE.fullmatch(line) or _HIP.fullmatch(line) for line in text.splitlines() if "Bandwidth" in line)


def read(text: str, file: str) -> Report:
    """The bandwidth of each size. ReportError when there is none."""
    lines = text.splitlines()
    if found := [*_hip(lines, file)]:
        return Report(tool=HIP, format="text", values=found)
    starts = [at for at, line in enumerate(lines) if line.startswith("[CUDA Bandwidth Test]")]
    found = [value for one, other in pairwise([0, *starts[1:], len(lines)])
             for value in _values(lines[one:other], file, one)]
    return Report(tool=CUDA, format="text", values=found) if found else bad(file, "no bandwidth in it")


def _values(lines: Sequence[str], file: str, before: int) -> list[Value]:
    """The values of one run, whose first line has BEFORE lines before it."""
    rows = [*_table_rows(lines), *_lines(lines, file, before)]
    (status, why), names = _verdict(lines), _names(lines)
    largest = max((int(workload["size"]) for workload, _ in rows), default=0)
    return [_value({**workload, **names}, printed, status, why, largest) for workload, printed in rows]


def _verdict(lines: Sequence[str]) -> tuple[Status, str | None]:
    result = next((line.strip() for line in lines if line.startswith("Result = ")), None)
    if result is None:
        return "partial", "the report ends before its result"
    return ("ok", None) if result == "Result = PASS" else ("failed", result)


def _names(lines: Sequence[str]) -> Workload:
    """Which GPUs took part: the same model under two numbers is two GPUs."""
    found = [match for line in lines if (match := _DEVICE.fullmatch(line))]
    return words({"device": ", ".join(f"GPU {match[1]}" for match in found),
                  "gpu": ", ".join(sorted({match[2] for match in found}))})


def _table_rows(lines: Sequence[str]) -> Iterator[tuple[Workload, str]]:
    """Workload and printed bandwidth of each row for people."""
    workload: Workload = {}
    for line in lines:
        if found := _TABLE.fullmatch(line):
            workload = {"copies": found[1].lower(), "gpus": found[2]}
        elif workload and (found := _MEMORY.fullmatch(line)):
            workload["memory"] = found[1].lower()
        elif workload and "Write-Combined" in line:
            workload["write_combined"] = "yes"
        elif workload and (found := _ROW.fullmatch(line)):
            yield {**workload, "size": str(int(found[1]))}, found[2]


def _lines(lines: Sequence[str], file: str, before: int) -> Iterator[tuple[Workload, str]]:
    """The same of each line of --csv."""
    for at, line in enumerate(lines, before + 1):
        if found := _LINE.fullmatch(line):
            way, memory, combined, printed, size, gpus = found.groups()
            if finite(printed) is None:
                bad(file, f"no bandwidth: {printed!r:.20}", at)
            told = {"copies": WAYS[way], "gpus": gpus, "write_combined": "yes" if combined else "", "size": size,
                    "memory": {"Pinned": "pinned", "Paged": "pageable"}.get(memory or "", "")}
            yield words(told), printed


def _value(workload: Workload, printed: str, status: Status, why: str | None, largest: int) -> Value:
    value, within_gpu = finite(printed), workload["copies"] == "device to device"
    metric = Metric(name="bandwidth", unit="GB/s", better="higher", kind="gpu" if within_gpu else "host-device",
                    primary=int(workload["size"]) == largest, minimum_percent=coarse_percent(printed))
    return Value(metric=metric, workload=workload, value=None if status == "failed" else value, status=status, why=why)


def _hip(lines: Sequence[str], file: str) -> Iterator[Value]:
    """The values of hipBusBandwidth, but for those below its decimals."""
    found = [(at, match) for at, line in enumerate(lines, 1) if (match := _HIP.fullmatch(line))]
    device = next((match[1].strip() for line in lines if (match := _HIP_DEVICE.fullmatch(line))), None)
    largest = max((_size(match) for _, match in found), default=0)
    for at, match in found:
        middle, _, deviation, low, high = (finite(match[column]) for column in (7, 8, 9, 10, 11))
        if middle is None:
            bad(file, f"no number: {match[7]!r:.20}", at)
        workload = {"copies": WAYS[match[1]], "memory": match[3], "size": str(_size(match))}
        rate = match[2] == "Bandwidth"
        metric = Metric(name="bandwidth" if rate else "time", unit="GB/s" if rate else "ms",
                        better="higher" if rate else "lower", kind="host-device",
                        primary=rate and _size(match) == largest, minimum_percent=coarse_percent(match[7]))
        if middle:
            yield Value(metric=metric, workload=words({**workload, "gpu": device}), value=middle,
                        within=Within(min=low, median=middle, max=high, stddev=deviation))


def _size(match: re.Match[str]) -> int:
    return int(match[4]) * {"By": 1, "kB": 1 << 10, "KB": 1 << 10, "MB": 1 << 20}[match[5]]
