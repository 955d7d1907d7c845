"""perftest: units, sizes, latencies, both ends of one run in one file, rows that are cut off."""

from __future__ import annotations

import pytest

from snapshot.bench.importers import perftest as importer
from snapshot.bench.report import ReportError

RULE = "-" * 87 + "\n"
HEAD = f"""\
{RULE}                    RDMA_Write BW Test
 Dual-port       : OFF\t\tDevice         : mlx5_0
 Number of qps   : 2\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 TX depth        : 128
 Mtu             : 4096[B]
 Link type       : Ethernet
 rdma_cm QPs\t : OFF
 Data ex. method : Ethernet
{RULE} local address: LID 0000 QPN 0x009b PSN 0x57bb8f RKey 0x1fd4bc VAddr 0x007f0e0c8aa000
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:192:168:119:02
 remote address: LID 0000 QPN 0x0146 PSN 0x860b7f RKey 0x23c6bc VAddr 0x007fb25aea4000
{RULE}"""
TABLE = """\
 #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]
 2          5000             0.00               1.09   \t\t     0.570447
Conflicting CPU frequency values detected: 1846.55 != 2596.39. CPU Frequency is not max.
 65536      5000             11030.78            11030.45\t\t     0.176487
"""
WORKLOAD = {"test": "RDMA_Write BW", "device": "mlx5_0", "qps": "2", "connection": "RC", "mtu": "4096",
            "link": "Ethernet"}
LATENCY = f"""\
{RULE}                    RDMA_Read Latency Test
 Dual-port       : OFF\t\tDevice         : mlx5_0
{RULE} #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   \
99% percentile[usec]   99.9% percentile[usec]
 2       1000          0.88           6.84         0.98     \t       1.03        \t0.20   \t\t1.21    \t\t5.42
"""


def told(text: str) -> list[tuple[str, str, float | None]]:
    assert importer.recognises(text)
    return [(one.workload["size"], one.metric.name, one.value) for one in importer.read(text, "r").values]


def test_what_cannot_be_seen_does_not_reach_the_workload() -> None:
    text = HEAD.replace("RDMA_", "RDMA\x1b").replace("mlx5_0", "mlx5\x1b") + TABLE
    assert all(word.isprintable() for one in importer.read(text, "r").values for word in one.workload.values())


def test_bandwidth_of_each_size() -> None:
    assert told(HEAD + TABLE + RULE) == [
        ("2", "bandwidth", 1.09), ("2", "message_rate", 0.570447), ("65536", "bandwidth", 11030.45),
        ("65536", "bandwidth_peak", 11030.78), ("65536", "message_rate", 0.176487)]
    found = importer.read(HEAD + TABLE, "r").values
    assert found[2].workload == {**WORKLOAD, "size": "65536"}
    assert [one.metric.primary for one in found] == [False, False, True, False, False]
    assert {one.metric.kind for one in found} == {"collectives-nodes"}
    assert (found[2].metric.unit, found[2].metric.better) == ("MiB/s", "higher")
    assert "192:168" not in repr(found)


@pytest.mark.parametrize(("unit", "value"), [("MB/sec", 11030.45), ("Gb/sec", 11030.45e9 / 8 / (1 << 20))])
def test_mb_are_mib_and_gb_are_bits(unit: str, value: float) -> None:
    assert told((HEAD + TABLE).replace("MiB/sec", unit))[2] == ("65536", "bandwidth", value)


def test_latency() -> None:
    assert told(LATENCY) == [("2", "latency", 0.98), ("2", "latency_mean", 1.03), ("2", "latency_p99", 1.21),
                             ("2", "latency_p99.9", 5.42)]
    one = importer.read(LATENCY, "r").values[0]
    assert (one.metric.better, one.metric.primary, one.workload["test"]) == ("lower", True, "RDMA_Read Latency")
    assert one.within and (one.within.min, one.within.max, one.within.stddev) == (0.88, 6.84, 0.2)


def test_both_ends_of_one_run_are_one_sample() -> None:
    server = (HEAD + TABLE).replace(" TX depth        : 128\n", "")
    assert told(HEAD + TABLE + "* Waiting for client to connect... *\n" + server) == told(HEAD + TABLE)
    other = server.replace("11030.45", "11030.46")
    assert len(told(HEAD + TABLE + other)) == 10


def test_memory_of_a_gpu() -> None:
    found = importer.read(HEAD + TABLE + "deallocating GPU buffer 00007fdfc7e00000\n", "r").values
    assert found[0].workload["memory"] == "GPU"


def test_a_report_that_ends_in_a_row() -> None:
    assert told(HEAD + TABLE.rstrip()[:-20])[-1] == ("2", "message_rate", 0.570447)


@pytest.mark.parametrize(("text", "why"), [
    (HEAD + TABLE.partition(" 2 ")[0], "r: the report ends before the first result"),
    (HEAD + TABLE.replace("   0.570447", ""), "r:17: 4 fields below 5 columns"),
    (HEAD + TABLE.replace("1.09", "1.0x"), "r:17: no number: '1.0x'"),
])
def test_malformed_reports(text: str, why: str) -> None:
    with pytest.raises(ReportError, match=f"^{why}"):
        importer.read(text, "r")
