"""Reports of p2pBandwidthLatencyTest of the CUDA samples, and lines ``GPU 3 -> GPU 4: 37.36 GB/s`` of rings.

github.com/NVIDIA/cuda-samples, p2pBandwidthLatencyTest.cu. Tables of fixed titles, GPU by GPU: bandwidth one way and
both ways, latency as the GPU and as the CPU see it (the time to queue a copy), each without and with peer access.
Reads are there beside writes with --p2p_read; older reports do not say which they are. The diagonal is a copy within
one GPU, and no peer. Where a GPU cannot access another the enabled table has the copy through host memory: which pairs
those are stands in the connectivity matrix. PCI addresses are hexadecimal without leading zeros.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from ...records import record, replace
from ...regexes import regex
from ..report import Metric, Report, Table, Workload, bad
from .entries import words
from .matrix import Matrix, is_head, read_matrix

TOOL, RING = "p2pBandwidthLatencyTest", "p2pmark"
BANDWIDTH = Metric(name="p2p_bandwidth", unit="GB/s", better="higher", kind="p2p-bandwidth")
LATENCY = Metric(name="p2p_latency", unit="us", better="lower", kind="p2p-latency")
QUEUEING = Metric(name="p2p_latency_cpu", unit="us", better="lower", kind="p2p-latency")
ACCESS = Metric(name="p2p_access", unit="1", better="higher", kind="p2p-bandwidth")

_DEVICE = regex(
    r"Device: (\d{1,4}), (.*), pciBusID: ([0-9a-f]{1,2}), pciDeviceID: ([0-9a-f]{1,2}), "
    r"pciDomainID: ?([0-9a-f]{1,8})\s*")
_TITLE = regex(
    r"\s*(?:(?P<ways>Unidirectional|Bidirectional) )?P2P=(?P<p2p>Enabled|Disabled) (?P<what>Bandwidth|Latency)"
    r"(?: \(P2P (?P<copies>Writes|Reads)\))? Matrix \((?:GB/s|us)\)\s*")
_RING = regex(r"\s*GPU (\d{1,4}) -> GPU (\d{1,4}): (\d{1,9}(?:\.\d+)?) GB/s(?:\s.*)?")


@record(frozen=True)
class _Gpu:
    name: str
    address: str


def recognises(text: str) -> bool:
    """Whether a title, or a line of a ring, is there."""
    return "P2P (Peer-to-Peer) GPU Bandwidth Latency Test" in text or any(
        _TITLE.fullmatch(line) or _RING.fullmatch(line) for line in text.splitlines() if "P2P=" in line or "->" in line)


def read(text: str, file: str) -> Report:
    """The tables of all runs in TEXT. ReportError when there is none, or a row does not fit its head."""
    lines = text.splitlines()
    tables = [*_tables(lines, file)]
    if not tables and (ring := _ring(lines)):
        return Report(tool=RING, format="text", tables=[ring])
    if not tables:
        bad(file, "no table between GPUs")
    return Report(tool=TOOL, format="text", tables=tables)


def _tables(lines: Sequence[str], file: str) -> Iterator[Table]:
    gpus: dict[int, _Gpu] = {}
    title: re.Match[str] | None = None
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        if line.lstrip().startswith("[P2P (Peer-to-Peer)"):
            gpus, title = {}, None
        elif found := _DEVICE.fullmatch(line):
            gpus[int(found[1])] = _gpu(found)
        elif found := _TITLE.fullmatch(line):
            title = found
            if not any(is_head(later) for later in lines[at:at + 2]):
                yield _table(title, "", None, gpus)
        elif line.startswith("P2P Connectivity Matrix") and at < len(lines) and is_head(lines[at]):
            matrix, at = read_matrix(lines, at, file)
            yield _filled(ACCESS, {}, matrix, gpus)
        elif title and is_head(line):
            matrix, at = read_matrix(lines, at - 1, file)
            yield _table(title, line.split()[0], matrix, gpus)


def _gpu(found: re.Match[str]) -> _Gpu:
    return _Gpu(found[2].strip(), f"{found[5]:0>4}:{found[3]:0>2}:{found[4]:0>2}.0")


def _table(title: re.Match[str], corner: str, matrix: Matrix | None, gpus: dict[int, _Gpu]) -> Table:
    """The table below TITLE; None is a title that the report ends after."""
    metric = BANDWIDTH if title["what"] == "Bandwidth" else QUEUEING if corner == "CPU" else LATENCY
    told = {"p2p": title["p2p"], "ways": title["ways"], "copies": title["copies"]}
    workload = words({key: value and value.lower() for key, value in told.items()})
    if title["p2p"] == "Enabled" and metric is not QUEUEING:
        metric = replace(metric, primary=True)
    if matrix is None:
        return Table(metric=metric, workload=_with_gpus(workload, gpus), rows=(), columns=(), cells=(),
                     status="failed", why="the report ends before the table")
    return _filled(metric, workload, matrix, gpus)


def _filled(metric: Metric, workload: Workload, matrix: Matrix, gpus: dict[int, _Gpu]) -> Table:
    size = matrix.columns
    names = [gpus[at].address if at in gpus else f"GPU {at}" for at in range(size)]
    why = matrix.cut or (f"only {len(matrix.rows)} of {size} rows are there" if len(matrix.rows) < size else None)
    if size == 1:
        return Table(metric=metric, workload=_with_gpus(workload, gpus), rows=(), columns=(), cells=(),
                     status="waived", why="one GPU, which has no peer")
    return Table(metric=metric, workload=_with_gpus(workload, gpus), rows=names, columns=names,
                 cells=matrix.square(), status="partial" if why else "ok", why=why,
                 devices=tuple(gpu.address for gpu in gpus.values()))


def _with_gpus(workload: Workload, gpus: dict[int, _Gpu]) -> Workload:
    """WORKLOAD and which GPUs; not how many: pairs are measured one by one, and compared so."""
    return words({**workload, "gpu": ", ".join(sorted({gpu.name for gpu in gpus.values()}))})


def _ring(lines: Sequence[str]) -> Table | None:
    """The pairs of a ring, or whichever were measured, as a table."""
    pairs = {(found[1], found[2]): float(found[3]) for line in lines if (found := _RING.fullmatch(line))}
    gpus = sorted({gpu for pair in pairs for gpu in pair}, key=int)
    names = [f"GPU {gpu}" for gpu in gpus]
    cells = [[pairs.get((row, column), math.nan) for column in gpus] for row in gpus]
    return Table(metric=replace(BANDWIDTH, primary=True), workload={}, rows=names, columns=names,
                 cells=cells) if pairs else None
