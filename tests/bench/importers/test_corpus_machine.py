"""Public reports on hardware: each is read, with what is known of it, or refused with the reason."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from snapshot.bench.importers import read
from snapshot.bench.report import Report, ReportError, Table, Value

KINDS = ("bench-bandwidthtest", "bench-fio", "bench-iperf3", "bench-nccl-tests", "bench-nvbandwidth",
         "bench-other-text", "bench-p2pbandwidthlatency", "bench-run-metadata", "bench-stream")
NO_REPORT = ("bench-other-text/catch2_output_v3.txt", "bench-other-text/go_output.txt",
             "bench-other-text/superbench-gpu_burn.log", "bench-run-metadata/rocm-7.14.run_metadata.txt",
             "bench-run-metadata/superbench-test_generate_baseline_results.jsonl")
NCCL = {  # file -> the average of each collective, in order
    "c00-slowpair_cnode2-011_cnode2-012.log": {"alltoall": 5.73403, "sendrecv": 4.86388},
    "c00_nccl_N2_G1_cnode2-003_cnode2-017.log": {"alltoall": 13.6453, "sendrecv": 13.6877},
    "nccl_N10_G1.log": {"all_reduce": 47.8165, "all_gather": 46.7949, "reduce_scatter": 47.1335, "alltoall": 43.6048,
                        "sendrecv": 24.7624},
    "nccl_N1_G4_cnode3-002.log": {"all_reduce": 343.554, "all_gather": 313.292, "reduce_scatter": 309.526,
                                  "alltoall": 319.526, "sendrecv": 294.601},
    "nccl_N1_G8_cnode3-002.log": {"all_reduce": 437.957, "all_gather": 328.618, "reduce_scatter": 330.721,
                                  "alltoall": 313.838, "sendrecv": 279.874},
    "superbench-nccl_allreduce.log": {"not named": 68.4048}, "superbench-nccl_alltoall.log": {"not named": 58.6481},
    "superbench-nccl_reduce.log": {"not named": 65.018},
}
VALUES: dict[str, list[tuple[str, dict[str, str], float]]] = {  # file -> metric, part of the workload -> value
    "bench-bandwidthtest/puget-wrx90-2xRTX6000Ada.dev0.txt": [
        ("bandwidth", {"copies": "host to device"}, 26.8), ("bandwidth", {"copies": "device to device"}, 4374.1)],
    "bench-bandwidthtest/superbench-cuda_memory_h2d_bw.log": [("bandwidth", {"size": "68000000"}, 12.4)],
    "bench-bandwidthtest/superbench-rocm_memory_h2d_bw.log": [("bandwidth", {"size": str(512 << 20)}, 24.7523)],
    "bench-fio/fio-3.42-randwrite-qd2-jsonplus-text.out": [
        ("iops", {"rw": "randwrite", "iodepth": "2", "way": "write"}, 1976.602340), ("clat_p99", {}, 2023.424)],
    "bench-fio/superbench-disk_performance.json": [
        ("iops", {"job": "rand_read_write", "way": "read"}, 85138.890741), ("bandwidth", {"way": "read"}, 348.743777)],
    "bench-other-text/superbench-ib_loopback_8M_size.log": [("bandwidth", {"size": "8388608"}, 24056.72)],
    "bench-stream/epyc9654x2-nps1-96t.txt": [("triad", {"threads": "96"}, 718799.1)],
    "bench-stream/epyc9654x2-nps4-96t.txt": [("triad", {"threads": "96"}, 753594.8)],
    "bench-stream/superbench-gpu_stream.log": [("copy", {"device": "GPU 0", "block": "128"}, 6711.67)],
    "bench-stream/superbench-streamResultNeo.log": [
        ("copy", {}, 108180.5), ("scale", {}, 108572.8), ("add", {}, 104571.7), ("triad", {}, 105256.0)],
}
FAILED = {  # file -> why none of its values counts
    "bench-iperf3/k8s-10KB-3.9-eks-5.4.129.json": "0.23 s are too short",
    "bench-iperf3/k8s-10KB-5.4.104.json": "0.109 s are too short",
    "bench-nccl-tests/c00_nccl_N2_G1_cnode2-005_cnode2-016.log": "Test NCCL failure alltoall.cu:274",
}


def report(path: Path) -> Report:
    return read(path.read_text(encoding="utf-8", errors="replace"), path.name)


@pytest.mark.parametrize("kind", KINDS)
def test_every_report_is_read_or_refused(corpus: Path, kind: str) -> None:
    for path in sorted((corpus / kind).iterdir()):
        name = str(path.relative_to(corpus))
        if name in NO_REPORT:
            with pytest.raises(ReportError, match="no report of a known benchmark"):
                report(path)
            continue
        found = report(path)
        assert found.values or found.tables, name
        runs: list[Value | Table] = [*found.values, *found.tables]
        keys = [(one.metric.name, *sorted(one.workload.items())) for one in runs]
        assert len({*keys}) == len(keys), f"{name}: one process is one run"
        bad = {one.why for one in found.values if one.status != "ok"}
        assert all((why or "").startswith(FAILED[name]) for why in bad) if name in FAILED else not bad, name


@pytest.mark.parametrize("name", FAILED)
def test_runs_that_failed_have_no_value(corpus: Path, name: str) -> None:
    assert [one.value for one in report(corpus / name).values] == [None]


@pytest.mark.parametrize("name", VALUES)
def test_what_is_known_of_a_report(corpus: Path, name: str) -> None:
    found = report(corpus / name).values
    for metric, workload, value in VALUES[name]:
        fitting = [one.value for one in found if one.metric.name == metric and workload.items() <= one.workload.items()]
        assert fitting == [value], (metric, workload)


@pytest.mark.parametrize("name", NCCL)
def test_averages_of_collectives(corpus: Path, name: str) -> None:
    found = report(corpus / "bench-nccl-tests" / name).values
    told = {one.workload["collective"]: one.value for one in found if one.metric.name == "avg_busbw"}
    assert told == NCCL[name]
    assert not any(host in repr(found) for host in ("cnode", "localhost"))


def test_collectives_that_are_not_named_are_told_apart(corpus: Path) -> None:
    told = [report(corpus / f"bench-nccl-tests/superbench-nccl_{name}.log").values[-1].workload
            for name in ("allreduce", "alltoall", "reduce")]
    assert [one["bus_factor"] for one in told] == ["2(n-1)/n", "(n-1)/n", "1"]


def test_tables_of_nvbandwidth(corpus: Path) -> None:
    told = {name: report(corpus / "bench-nvbandwidth" / name) for name in (
        "a10-v0.5-h2d-ce.txt", "h100x8-v0.10.0-h2d.txt", "rtx5090-tb4-egpu.excerpt.txt")}
    assert [one.version for one in told.values()] == ["v0.5", "v0.10.0", None]
    assert [[[*table.cells[0]] for table in one.tables] for one in told.values()] == [
        [[25.17]], [[55.37, 55.36, 55.37, 55.36, 55.36, 55.36, 55.36, 55.33]], [[2.80], [3.29], [2.47]]]
    assert told["rtx5090-tb4-egpu.excerpt.txt"].tables[0].columns == ["0000:2e:00.0"]


def test_tables_between_gpus(corpus: Path) -> None:
    folder = corpus / "bench-p2pbandwidthlatency"
    found = {(one.workload.get("p2p"), one.workload.get("ways"), one.metric.name): one
             for one in report(folder / "esc8000a-e12-2xEPYC9xx4-4xRTX6000Ada.txt").tables}
    enabled = found["enabled", "unidirectional", "p2p_bandwidth"]
    assert enabled.rows == ["0000:01:00.0", "0000:41:00.0", "0000:c1:00.0", "0000:e1:00.0"]
    assert math.isnan(enabled.cells[0][0])
    assert [*enabled.cells[0][1:]] == [26.33, 26.32, 26.32]
    assert len(found) == 9
    (excerpt,) = report(folder / "p9-4xV100-enabled.excerpt.txt").tables
    assert (excerpt.cells[0][1], excerpt.cells[0][2], "copies" in excerpt.workload) == (68.46, 29.10, False)
    assert {one.status for one in report(folder / "gtx1650super-single.txt").tables} == {"waived"}
