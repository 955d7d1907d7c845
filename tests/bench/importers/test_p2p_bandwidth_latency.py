"""p2pBandwidthLatencyTest: every table, two GPUs and one, cut off, without addresses; rings."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from snapshot.bench.importers import p2p_bandwidth_latency as importer
from snapshot.bench.report import ReportError, Table

HEAD = """\
[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]
Device: 0, NVIDIA Example 80GB, pciBusID: 1, pciDeviceID: 0, pciDomainID:0
Device: 1, NVIDIA Example 80GB, pciBusID: c1, pciDeviceID: 1f, pciDomainID:10
Device=0 CAN Access Peer Device=1
Device=1 CANNOT Access Peer Device=0

P2P Connectivity Matrix
     D\\D     0     1
     0\t     1     1
     1\t     0     1
"""
TABLES = """\
Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
   D\\D     0      1 
     0 1488.10  22.10 
     1  22.30 1490.00 
Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)
   D\\D     0      1 
     0 1488.10  55.10 
     1  55.30 1490.00 
Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)
   D\\D     0      1 
     0 1488.10  31.10 
     1  31.30 1490.00 
Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)
   D\\D     0      1 
     0 1488.10 101.10 
     1 CANNOT 1490.00 
P2P=Disabled Latency Matrix (us)
   GPU     0      1 
     0   2.07  14.11 
     1  14.10   2.08 

   CPU     0      1 
     0   2.11   6.02 
     1   6.03   2.10 
P2P=Enabled Latency (P2P Writes) Matrix (us)
   GPU     0      1 
     0   2.07   1.21 
     1   1.22   2.08 

   CPU     0      1 
     0   2.11   1.52 
     1   1.53   2.10 

NOTE: The CUDA Samples are not meant for performance measurements.
"""  # noqa: W291 - as it is printed
NAMES = ["0000:01:00.0", "0010:c1:1f.0"]


def tables(text: str) -> Sequence[Table]:
    assert importer.recognises(text)
    return importer.read(text, "r.txt").tables


def test_every_table_without_its_diagonal() -> None:
    found = tables(HEAD + TABLES)
    told = [(one.metric.name, one.metric.unit, one.metric.better, one.workload.get("ways"), one.workload.get("p2p"),
             one.workload.get("copies"), one.cells[0][1], one.metric.primary) for one in found]
    assert told == [
        ("p2p_access", "1", "higher", None, None, None, 1, False),
        ("p2p_bandwidth", "GB/s", "higher", "unidirectional", "disabled", None, 22.10, False),
        ("p2p_bandwidth", "GB/s", "higher", "unidirectional", "enabled", "writes", 55.10, True),
        ("p2p_bandwidth", "GB/s", "higher", "bidirectional", "disabled", None, 31.10, False),
        ("p2p_bandwidth", "GB/s", "higher", "bidirectional", "enabled", None, 101.10, True),
        ("p2p_latency", "us", "lower", None, "disabled", None, 14.11, False),
        ("p2p_latency_cpu", "us", "lower", None, "disabled", None, 6.02, False),
        ("p2p_latency", "us", "lower", None, "enabled", "writes", 1.21, True),
        ("p2p_latency_cpu", "us", "lower", None, "enabled", "writes", 1.52, False),
    ]
    for one in found:
        assert one.rows == one.columns == NAMES
        assert one.devices == tuple(NAMES)
        assert one.workload["gpu"] == "NVIDIA Example 80GB"
        assert math.isnan(one.cells[0][0]) and math.isnan(one.cells[1][1])
    assert found[0].cells[1][0] == 0
    assert math.isnan(found[4].cells[1][0])


def test_an_excerpt_has_the_numbers_of_the_tool() -> None:
    (one,) = tables(TABLES[:TABLES.index("Unidirectional P2P=Enabled")])
    assert one.rows == ["GPU 0", "GPU 1"]
    assert (one.devices, "gpu" in one.workload) == ((), False)


def test_one_gpu_has_no_peer() -> None:
    (one,) = tables("P2P=Enabled Latency (P2P Reads) Matrix (us)\n   GPU     0 \n     0   1.25 \n")
    assert (one.status, one.why, one.rows) == ("waived", "one GPU, which has no peer", ())
    assert one.workload["copies"] == "reads"


def test_a_loop_gives_a_table_a_run() -> None:
    found = tables((HEAD + TABLES) * 2)
    assert len(found) == 18
    assert found[2].workload == found[11].workload


@pytest.mark.parametrize(("cut", "status", "why"), [
    ("55.30 1490", "partial", "the report ends in row 1"), ("     1  55.30", "partial", "only 1 of 2 rows are there"),
    ("   D\\D     0      1 \n     0 1488.10  55.10", "failed", "the report ends before the table"),
])
def test_a_report_that_is_cut_off(cut: str, status: str, why: str) -> None:
    text = HEAD + TABLES
    at = text.index(cut)
    found = tables(text[:at + len("55.30") if status == "partial" and cut.startswith("55") else at])
    assert (found[-1].status, found[-1].why) == (status, why)
    assert found[-2].status == "ok"


def test_rows_that_do_not_fit_and_reports_without_a_table() -> None:
    with pytest.raises(ReportError, match=r"^r:13: no number: '22,10'"):
        importer.read((HEAD + TABLES).replace("22.10", "22,10"), "r")
    with pytest.raises(ReportError, match=r"^r: no table between GPUs$"):
        importer.read(HEAD.partition("P2P Conn")[0], "r")


def test_a_ring() -> None:
    report = importer.read("GPU 0 -> GPU 1: 53.10 GB/s\n GPU 1 -> GPU 10: 37.36 GB/s   <- CROSS-NUMA\n", "r")
    (one,) = report.tables
    assert (report.tool, one.rows) == ("p2pmark", ["GPU 0", "GPU 1", "GPU 10"])
    assert (one.cells[0][1], one.cells[1][2]) == (53.10, 37.36)
    assert sum(math.isnan(cell) for row in one.cells for cell in row) == 7


@pytest.mark.parametrize("text", ["", "GPU 0 -> GPU 1: ENABLED\n", "see p2pBandwidthLatencyTest\n", "P2P=Enabled\n"])
def test_other_texts(text: str) -> None:
    assert not importer.recognises(text)
