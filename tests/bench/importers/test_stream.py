"""STREAM and its relative for GPUs: runs one after the other, results that do not validate, older forms."""

from __future__ import annotations

import pytest

from snapshot.bench.importers import stream as importer
from snapshot.bench.report import ReportError

TEXT = """\
-------------------------------------------------------------
STREAM version $Revision: 5.10 $
-------------------------------------------------------------
This system uses 8 bytes per array element.
Array size = 430080000 (elements), Offset = 0 (elements)
Each kernel will be executed 10 times.
Number of Threads requested = 96
Number of Threads counted = 96
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:          100000.0     0.010067     0.010000     0.010100
Scale:         110000.0     0.010014     0.010000     0.010000
Add:           120000.0     0.014304     0.014000     0.014000
Triad:         130000.5     0.014390     0.010000     0.020000
-------------------------------------------------------------
Solution Validates: avg error less than 1.000000e-13 on all three arrays
-------------------------------------------------------------
"""
GPU = """\
STREAM Benchmark
Buffer size(bytes): 4294967296

Device 0: "NVIDIA Example"  152 SMs(10.0)  Memory: 4000MHz x 8192-bit = 8192 GB/s PEAK   ECC is ON
STREAM_COPY_double_gpu_0_buffer_4294967296_block_128    6711.67 81.93
STREAM_TRIAD_double_gpu_0_buffer_4294967296_block_256   7414.01 90.50
"""


def test_the_four_rates() -> None:
    assert importer.recognises(TEXT)
    report = importer.read(TEXT, "r")
    assert (report.tool, report.version) == ("stream", "5.10")
    assert {one.metric.name: one.value for one in report.values} == {
        "copy": 100000, "scale": 110000, "add": 120000, "triad": 130000.5}
    triad = report.values[-1]
    assert (triad.metric.unit, triad.metric.better, triad.metric.kind, triad.metric.primary) == (
        "MB/s", "higher", "memory", True)
    assert not any(one.metric.primary for one in report.values[:-1])
    assert triad.workload == {"array_elements": "430080000", "element_bytes": "8", "rounds": "10", "threads": "96"}
    assert triad.within and (triad.within.count, triad.within.min, triad.within.max) == (9, 65000.3, 130000.5)
    assert triad.status == "ok"


def test_runs_one_after_the_other() -> None:
    found = importer.read(TEXT * 2, "r").values
    assert len(found) == 8
    assert found[0].workload == found[4].workload
    rest = TEXT[TEXT.index("Function"):]
    assert len(importer.read(rest * 2, "r").values) == 8


def test_an_older_version() -> None:
    text = TEXT.replace("Function    Best Rate MB/s ", "Function      Rate (MB/s)  ")
    assert importer.recognises(text)
    assert importer.read(text, "r").values[0].value == 100000


@pytest.mark.parametrize(("verdict", "status", "value", "why"), [
    ("Failed Validation on array a[], AvgRelAbsErr > epsilon\n", "failed", None, "Failed Validation on array"),
    ("", "partial", 100000, "the report ends before the result is validated"),
])
def test_what_does_not_validate(verdict: str, status: str, value: float | None, why: str) -> None:
    found = importer.read(TEXT.partition("Solution")[0] + verdict, "r").values
    assert {(one.status, one.value) for one in found if one.metric.name == "copy"} == {(status, value)}
    assert all((one.why or "").startswith(why) for one in found)


def test_gpus() -> None:
    assert importer.recognises(GPU)
    report = importer.read(GPU, "r")
    copy, triad = report.values
    assert (report.tool, copy.value, copy.metric.unit, copy.metric.kind) == ("gpu-stream", 6711.67, "GB/s", "gpu")
    assert triad.workload == {"type": "double", "device": "GPU 0", "size": "4294967296", "block": "256",
                              "gpu": "NVIDIA Example"}
    assert (copy.metric.primary, triad.metric.primary) == (False, True)


@pytest.mark.parametrize(("text", "why"), [
    (TEXT.partition("Copy")[0], "r: the report ends before the first rate"),
    (TEXT.replace("100000.0", "nan"), "r:10: no rate: 'nan'"),
    (GPU.replace("6711.67", "x"), "r:5: no rate: 'x'"),
])
def test_malformed_reports(text: str, why: str) -> None:
    with pytest.raises(ReportError, match=f"^{why}"):
        importer.read(text, "r")
