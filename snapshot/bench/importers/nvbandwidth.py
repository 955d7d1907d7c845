"""Reports of nvbandwidth, NVIDIA's measurement of copies: text, and JSON of -j.

github.com/NVIDIA/nvbandwidth: output.cpp, json_output.cpp, testcase.cpp. Each test gives a table of GB/s or of ns;
what rows and columns are stands in its description. Oddities: cells of JSON are texts; N/A (0.00 in older versions) is
a pair without access, and the diagonal; a test in both directions gives three tables, which JSON writes as one of
three times the rows; a test that was waived is named in JSON only; host names stand beside devices. SUM adds the
cells and tells nothing new. The size of the buffer is not told, only that it is below the default.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from ..report import Metric, Report, Table, bad
from .entries import words
from .nvbandwidth_cases import Case, Head, cases, failure, head, is_title, json_cases, json_head
from .printed import objects

PRIMARY = {
    "host_to_device_memcpy_ce", "device_to_host_memcpy_ce", "device_to_device_memcpy_read_ce",
    "device_to_device_memcpy_write_ce", "device_to_device_latency_sm", "host_device_latency_sm",
}


def recognises(text: str) -> bool:
    """Whether it says so, or a title of its tables is there."""
    return '"nvbandwidth"' in text or "nvbandwidth Version" in text or any(map(is_title, text.splitlines()))


def read(text: str, file: str) -> Report:
    """The tables of each test. ReportError when there is none, or one is not as it must be."""
    if '"nvbandwidth"' in text:
        runs = [run.entry("nvbandwidth") for run in objects(text, file)]
        tables = [table for run in runs for case in json_cases(run) for table in _table(case, json_head(run))]
        version, why = next((run.text("version") for run in runs), None), failure(runs)
    else:
        found = re.search(r"^nvbandwidth Version: (\S+)", text, re.MULTILINE)
        version, why = found[1] if found else None, "there is no test in it"
        tables = [table for case in cases(text.splitlines(), file) for table in _table(case, head(text))]
    form = "json" if '"nvbandwidth"' in text else "text"
    return Report(tool="nvbandwidth", format=form, version=version, tables=tables) if tables else bad(file, why)


def _table(case: Case, head: Head) -> Iterator[Table]:
    """The table of a test; none of one that has neither a table nor a name."""
    metric, workload = _metric(case, head), _workload(case, head)
    if case.matrix is None:
        if case.name:
            yield Table(metric=metric, workload=workload, rows=(), columns=(), cells=(), status=case.status,
                        why=case.why)
        return
    pairs = _pairs(case)
    cells = [[one or math.nan for one in row] for row in (case.matrix.square() if pairs else case.matrix.rows)]
    diagonal = case.matrix.columns if pairs else 0
    total, empty = (sum(map(len, cells)) - diagonal, sum(math.isnan(one) for row in cells for one in row) - diagonal)
    why = case.matrix.cut or (f"{empty} of {total} cells have no value" if empty or not total else None)
    yield Table(metric=metric, workload=workload, rows=_axis(case, "row", len(cells), head),
                columns=_axis(case, "column", case.matrix.columns, head), cells=cells,
                status="failed" if empty == total else "partial" if why else "ok", why=why,
                devices=() if head.hosts > 1 else tuple(one for one in head.addresses if one))


def _pairs(case: Case) -> bool:
    """Whether the table is GPU by GPU, of copies one pair at a time."""
    if case.name:
        return "device_to_device" in case.name
    return "GPU(row)" in case.title and case.matrix is not None and len(case.matrix.rows) == case.matrix.columns


def _axis(case: Case, axis: str, size: int, head: Head) -> list[str]:
    """The names of rows or columns. The one row of a test of all GPUs at once is no GPU."""
    if f"GPU({axis}" in case.title and (axis == "column" or _pairs(case)):
        return [head.device(at) for at in range(size)]
    name = "CPU" if f"CPU({axis}" in case.title else "all"
    return [name] if size == 1 else [f"{name} {at}" for at in range(size)]


def _metric(case: Case, head: Head) -> Metric:
    said = f"{case.name or ''} {case.title}".lower()
    host, primary = "host" in said or "cpu(" in said, case.name in PRIMARY
    if "latency" in said:
        return Metric(name="latency", unit="ns", better="lower", kind="host-device" if host else "p2p-latency",
                      primary=primary)
    kind = "collectives-nodes" if head.hosts > 1 else "gpu" if "local" in said else "p2p-bandwidth"
    return Metric(name="bandwidth", unit="GB/s", better="higher", kind="host-device" if host else kind, primary=primary)


def _workload(case: Case, head: Head) -> dict[str, str]:
    """What was run, and on which GPUs; on how many only where all copy at once: pairs are compared one by one."""
    at_once = re.search(r"(?:^|_)(?:all|multinode)(?:_|$)", case.name or "")
    told = {
        "test": case.name or re.sub(r" *(?:bandwidth|latency)? *\(\S+\)$", "", case.title), "part": case.part,
        "gpu": ", ".join(sorted({*head.names})), "gpus": str(len(head.names)) if at_once and head.names else None,
        "hosts": str(head.hosts) if head.hosts > 1 else None, "buffer": "below default" if head.small else None,
    }
    return words(told)
