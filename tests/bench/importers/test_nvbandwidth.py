"""nvbandwidth: text and JSON say the same; waived, failed and cut off tests; older and newer forms."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest

from snapshot.bench.importers import nvbandwidth as importer
from snapshot.bench.report import ReportError, Table

HEAD = """\
nvbandwidth Version: v0.8
Built from Git version: v0.8

CUDA Runtime Version: 12080
Driver Version: 570.1

gpu-host-7
Device 0: NVIDIA Example (00000000:C1:00)
Device 1: NVIDIA Example (00000000:c2:00)

"""
H2D = """\
Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     55.37     55.36

SUM host_to_device_memcpy_ce 110.73

"""
D2D = """\
Running device_to_device_memcpy_read_ce.
memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0       N/A     50.10
 1     50.20       N/A

SUM device_to_device_memcpy_read_ce 100.30

"""
ADDRESSES = ["0000:c1:00.0", "0000:c2:00.0"]


def tables(text: str) -> Sequence[Table]:
    assert importer.recognises(text)
    return importer.read(text, "r").tables


def as_json(*cases: dict[str, Any], **more: Any) -> str:
    head = {"CUDA Runtime Version": 12080, "Driver Version": "570.1", "git_version": "v0.8", "version": "v0.8",
            "GPU Device list": [f"{at}: NVIDIA Example (00000000:C{at + 1}:00): (gpu-host-7)" for at in (0, 1)]}
    return json.dumps({"nvbandwidth": {**head, "testcases": [*cases], **more}}, indent=3)


CASES = (
    {"name": "host_to_device_memcpy_ce", "status": "Passed", "bandwidth_matrix": [["55.37", "55.36"]],
     "bandwidth_description": "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)", "sum": 110.73},
    {"name": "device_to_device_memcpy_read_ce", "status": "Passed",
     "bandwidth_matrix": [["N/A", "50.10"], ["50.20", "N/A"]],
     "bandwidth_description": "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)", "sum": 100.3},
)


def test_text_and_json_say_the_same() -> None:
    one, other = importer.read(HEAD + H2D + D2D, "r"), importer.read(as_json(*CASES), "r")
    assert (one.version, one.format, other.version, other.format) == ("v0.8", "text", "v0.8", "json")
    assert [repr(table) for table in one.tables] == [repr(table) for table in other.tables]
    assert "gpu-host-7" not in repr((one, other))


def test_tables_between_what_they_are_between() -> None:
    host, pairs = tables(HEAD + H2D + D2D)
    assert (host.rows, host.columns, host.cells) == (["CPU"], ADDRESSES, [[55.37, 55.36]])
    assert (host.metric.kind, host.metric.unit, host.metric.primary, host.status) == ("host-device", "GB/s", True, "ok")
    assert (pairs.rows, pairs.columns, pairs.metric.kind) == (ADDRESSES, ADDRESSES, "p2p-bandwidth")
    assert math.isnan(pairs.cells[0][0]) and pairs.cells[0][1] == 50.10
    assert (pairs.status, pairs.devices) == ("ok", tuple(ADDRESSES))
    assert pairs.workload == {"test": "device_to_device_memcpy_read_ce", "gpu": "NVIDIA Example"}


def test_how_many_gpus_there_are_counts_only_where_all_copy_at_once() -> None:
    text = H2D.replace("host_to_device_memcpy_ce", "host_to_all_memcpy_ce")
    (one,) = tables(HEAD + text)
    assert one.workload == {"test": "host_to_all_memcpy_ce", "gpu": "NVIDIA Example", "gpus": "2"}
    text = D2D.replace("device_to_device_memcpy_read_ce", "all_to_one_write_ce").replace(" 1     50.20       N/A\n", "")
    (one,) = tables(HEAD + text)
    assert (one.rows, one.columns, one.workload["gpus"]) == (["all"], ADDRESSES, "2")


def test_latencies_local_copies_and_small_buffers() -> None:
    text = """NOTE: You have chosen a buffer size that is smaller than the default buffer size.
Running host_device_latency_sm.
memory latency SM CPU(row) <-> GPU(column) (ns)
          0
0    620.10

Running device_to_device_latency_sm.
Device to Device Latency SM GPU(row) <-> GPU(column) (ns)
          0         1
0      0.00    950.10
1    951.10      0.00

Running device_local_copy.
memcpy local GPU(column) bandwidth (GB/s)
          0
0   1500.10
"""
    host, pairs, local = tables(text)
    assert (host.metric.name, host.metric.unit, host.metric.better, host.metric.kind) == (
        "latency", "ns", "lower", "host-device")
    assert (pairs.metric.kind, pairs.cells[1][0], math.isnan(pairs.cells[0][0])) == ("p2p-latency", 951.10, True)
    assert (local.metric.kind, local.rows, local.columns) == ("gpu", ["all"], ["GPU 0"])
    assert {one.workload["buffer"] for one in (host, pairs, local)} == {"below default"}


def test_both_directions_give_three_tables_in_text_and_json() -> None:
    name = "device_to_device_bidirectional_memcpy_write_sm"
    parts = [("Write1", 20), ("Write2", 21), ("Total", 41)]
    rows = "          0         1\n0       N/A     {0}.50\n1     {0}.25       N/A\n\nSUM x 1\n\n"
    text = f"Running {name}.\n" + "".join(
        f"memcpy SM GPU(row) <-> GPU(column) {part} bandwidth (GB/s)\n{rows.format(value)}" for part, value in parts)
    matrix = [row for _, value in parts for row in (["N/A", f"{value}.5"], [f"{value}.25", "N/A"])]
    case = {"name": name, "status": "Passed", "bandwidth_matrix": matrix,
            "bandwidth_description": "memcpy SM GPU(row) <-> GPU(column) Total bandwidth (GB/s)"}
    one, other = tables(HEAD + text), tables(as_json(case))
    assert [(table.workload["part"], table.cells[1][0]) for table in one] == [
        ("1", 20.25), ("2", 21.25), ("total", 41.25)]
    assert [repr(table) for table in one] == [repr(table) for table in other]


@pytest.mark.parametrize(("status", "kept", "why"), [
    ("Waived", "waived", "waived by nvbandwidth"), ("Error", "failed", "out of memory"),
    ("Not Found", "failed", "there is no such test"), ("Running", "failed", "it did not finish"),
    ("Passed", "failed", "it has no table"), ("Odd", "failed", "it has no result"),
])
def test_what_did_not_run_is_kept_with_why(status: str, kept: str, why: str) -> None:
    case = {"name": "device_to_device_memcpy_read_ce", "status": status,
            **({"error": "out of\nmemory"} if status == "Error" else {})}
    (one,) = tables(as_json(case))
    assert (one.status, one.why, one.rows) == (kept, why, ())
    assert one.workload == tables(HEAD + D2D)[0].workload


def test_a_text_names_what_it_began() -> None:
    text = HEAD + "Running device_to_device_memcpy_read_ce.\n[CUDA_ERROR_UNKNOWN] in /home/bob/x.cpp\n\n" + H2D
    failed, passed = tables(text)
    assert (failed.status, failed.why) == ("failed", "[CUDA_ERROR_UNKNOWN] in ~/x.cpp")
    assert passed.status == "ok"
    (waived,) = tables(HEAD + "Waived: device_to_device_memcpy_read_ce has no peers\nWaived: \n")
    assert (waived.status, waived.workload["test"]) == ("waived", "device_to_device_memcpy_read_ce")


def test_pairs_without_access_make_a_table_partial() -> None:
    (one,) = tables(HEAD + D2D.replace("50.20", "  N/A"))
    assert (one.status, one.why) == ("partial", "1 of 2 cells have no value")
    (one,) = tables(HEAD + D2D.replace("50.20", " 0.00").replace("50.10", " 0.00"))
    assert (one.status, one.why) == ("failed", "2 of 2 cells have no value")


def test_an_excerpt_without_names_goes_by_its_titles() -> None:
    (one,) = tables("Device 0: NVIDIA Example (00000000:2e:00)\n" + H2D.partition("\n")[2].replace("55.36", "55.00"))
    assert (one.workload["test"], one.metric.primary) == ("memcpy CE CPU(row) -> GPU(column)", False)
    assert one.columns == ["0000:2e:00.0", "GPU 1"]


def test_several_hosts() -> None:
    head = "".join(f"Process {at} (node{at}): device 0: NVIDIA Example (00000000:c1:00)\n" for at in (0, 1))
    (one,) = tables(head + D2D.replace("device_to_device", "multinode_device_to_device"))
    assert (one.rows, one.devices, one.metric.kind) == (["process 0", "process 1"], (), "collectives-nodes")
    assert one.workload["hosts"] == "2" and "node1" not in repr(one)


@pytest.mark.parametrize(("text", "why"), [
    (HEAD, "r: there is no test in it"),
    (as_json(error="Invalid\n arguments"), "r: Invalid arguments"),
    (as_json({"status": "Passed"}), r"r:1: nvbandwidth.testcases\[0\].name is missing"),
    (as_json({"name": "x", "status": "Passed", "bandwidth_matrix": [["1"], []]}),
     r"r:1: nvbandwidth.testcases\[0\].bandwidth_matrix is no list of rows of the same length"),
    (as_json({"name": "x", "status": "Passed", "bandwidth_matrix": [["abc"]]}),
     r"r:1: nvbandwidth.testcases\[0\].bandwidth_matrix: no number: 'abc'"),
    (as_json(*CASES)[:400], "r:1[0-9]: the report ends in the middle of an object"),
    (HEAD + D2D.replace("50.10", "50.1x"), r"r:14: no number: '50.1x'"),
    (HEAD + D2D.replace("     50.10", ""), "r:14: 1 cells below 2 columns"),
])
def test_malformed_reports(text: str, why: str) -> None:
    with pytest.raises(ReportError, match=f"^{why}"):
        importer.read(text, "r")


def test_a_report_that_is_cut_off_in_a_table() -> None:
    host, pairs = tables((HEAD + H2D + D2D).partition(" 1     50.20")[0])
    assert (host.status, pairs.status, pairs.rows) == ("ok", "partial", ADDRESSES)
    assert pairs.why == "1 of 2 cells have no value"
