"""bandwidthTest and hipBusBandwidth: tables and lines, devices, prints too coarse to tell, results that failed."""

from __future__ import annotations

import pytest

from snapshot.bench.importers import bandwidth_test as importer
from snapshot.bench.report import ReportError, Value

TABLE = """\
[CUDA Bandwidth Test] - Starting...
Running on...

 Device 1: NVIDIA Example
 Range Mode

 Host to Device Bandwidth, 1 Device(s)
 PINNED Memory Transfers
   Transfer Size (Bytes)\tBandwidth(GB/s)
   1000\t\t\t\t0.4
   32000000\t\t\t26.8

 Device to Device Bandwidth, 1 Device(s)
 PINNED Memory Transfers
   Transfer Size (Bytes)\tBandwidth(GB/s)
   32000000\t\t\t4374.1

Result = PASS
"""
LINES = """\
[CUDA Bandwidth Test] - Starting...
 Device 0: NVIDIA Example
 Device 1: NVIDIA Example
...
bandwidthTest-H2D-Pinned, Bandwidth = 0.4 GB/s, Time = 0.00000 s, Size = 1000 bytes, NumDevsUsed = 2
bandwidthTest-D2H-Paged, Bandwidth = 12.4 GB/s, Time = 0.00549 s, Size = 68000000 bytes, NumDevsUsed = 2
bandwidthTest-H2D-Pinned-WriteCombined, Bandwidth = 12.5 GB/s, Time = 0.1 s, Size = 68000000 bytes, NumDevsUsed = 2
bandwidthTest-D2D, Bandwidth = 900.1 GB/s, Time = 0.1 s, Size = 68000000 bytes, NumDevsUsed = 2
Result = PASS
"""
HIP = """\
Device:Example GPU Mem=32.0GB #CUs=120 Freq=1502Mhz  MallocMode=pinned
                   test        atts        units        median  mean    stddev  min     max
   H2D_Bandwidth_pinned      +064By       GB/sec        0.0000  0.0000  0.0000  0.0000  0.0000
   H2D_Bandwidth_pinned         1kB       GB/sec        0.0414  0.0411  0.0017  0.0189  0.0434
   H2D_Bandwidth_pinned    524288kB       GB/sec        24.7523 24.6708 0.1586  24.3154 24.7880
         H2D_Timepinned      +064By           ms        0.0245  0.0253  0.0240  0.0232  0.7821
"""


def values(text: str) -> list[Value]:
    assert importer.recognises(text)
    return [*importer.read(text, "r").values]


def test_tables_for_people() -> None:
    small, large, local = values(TABLE)
    assert (small.value, small.metric.minimum_percent, small.metric.primary) == (0.4, 37.5, False)
    assert (large.value, large.metric.unit, large.metric.better, large.metric.kind, large.metric.primary) == (
        26.8, "GB/s", "higher", "host-device", True)
    assert large.workload == {"copies": "host to device", "memory": "pinned", "size": "32000000", "gpus": "1",
                              "device": "GPU 1", "gpu": "NVIDIA Example"}
    assert (local.value, local.metric.kind) == (4374.1, "gpu")


def test_lines_of_all_gpus() -> None:
    told = [(one.value, one.workload["copies"], one.workload.get("memory"), one.workload.get("write_combined"))
            for one in values(LINES)]
    assert told == [(0.4, "host to device", "pinned", None), (12.4, "device to host", "pageable", None),
                    (12.5, "host to device", "pinned", "yes"), (900.1, "device to device", None, None)]
    assert {(one.workload["device"], one.workload["gpus"]) for one in values(LINES)} == {("GPU 0, GPU 1", "2")}


@pytest.mark.parametrize(("result", "status", "value", "why"), [
    ("Result = FAIL\n", "failed", None, "Result = FAIL"), ("", "partial", 26.8, "the report ends before its result"),
])
def test_how_it_ended(result: str, status: str, value: float | None, why: str) -> None:
    one = values(TABLE.replace("Result = PASS\n", result))[1]
    assert (one.status, one.value, one.why) == (status, value, why)


def test_rocm() -> None:
    small, large, time = values(HIP)
    assert importer.read(HIP, "r").tool == "hipBusBandwidth"
    assert small.workload == {"copies": "host to device", "memory": "pinned", "size": "1024", "gpu": "Example GPU"}
    assert (large.workload["size"], large.value, large.metric.primary) == (str(512 << 20), 24.7523, True)
    assert large.within and (large.within.min, large.within.max, large.within.stddev) == (24.3154, 24.788, 0.1586)
    assert (time.metric.name, time.metric.unit, time.metric.better) == ("time", "ms", "lower")
    assert time.workload["size"] == "64"


@pytest.mark.parametrize(("text", "why"), [
    (TABLE.partition("   1000")[0], "r: no bandwidth in it"),
    (LINES.replace("= 12.4", "= x"), "r:6: no bandwidth: 'x'"),
    (HIP.replace("0.0414", "0.04x"), "r:4: no number: '0.04x'"),
])
def test_malformed_reports(text: str, why: str) -> None:
    with pytest.raises(ReportError, match=f"^{why}"):
        importer.read(text, "r")


def test_other_texts() -> None:
    assert not importer.recognises("Bandwidth is 5 GB/s\n")


def test_runs_one_after_the_other() -> None:
    found = values(TABLE + TABLE.replace("PASS", "FAIL").replace("Device 1", "Device 2"))
    assert [(one.workload["device"], one.status) for one in found[::3]] == [("GPU 1", "ok"), ("GPU 2", "failed")]
    with pytest.raises(ReportError, match=r"^r:15: no bandwidth"):
        importer.read(LINES + LINES.replace("= 12.4", "= x"), "r")
