"""iperf3: TCP, UDP, both ways, streams of events, tests that are too short or failed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapshot.bench.importers import iperf3 as importer
from snapshot.bench.report import ReportError, Value


def rate(bits: float, seconds: float = 10.0, **more: Any) -> dict[str, Any]:
    return {"start": 0, "end": seconds, "seconds": seconds, "bytes": 1, "bits_per_second": bits, **more}


def run(end: dict[str, Any] | None = None, host: str = "192.0.2.7", **asked: Any) -> dict[str, Any]:
    told = {"protocol": "TCP", "num_streams": 4, "blksize": 131072, "omit": 0, "duration": 10, "bytes": 0, "reverse": 0,
            **asked}
    return {
        "start": {"connected": [{"local_host": "192.0.2.1", "remote_host": host}], "version": "iperf 3.16",
                  "system_info": "Linux gpu-host-7 6.8", "test_start": told, "tcp_mss_default": 1448},
        "intervals": [{"sum": rate(8e9, omitted=True)}, {"sum": rate(9e9)}, {"sum": rate(9.5e9)}],
        "end": end or {
            "streams": [{"sender": {"mean_rtt": 100}}, {"sender": {"mean_rtt": 300}}],
            "sum_sent": rate(9.4e9, retransmits=3), "sum_received": rate(9.3e9), "sender_tcp_congestion": "cubic"}}


def values(text: str) -> dict[str, Value]:
    assert importer.recognises(text)
    found = importer.read(text, "r").values
    by_name = {one.metric.name + one.workload.get("way", ""): one for one in found}
    assert len(by_name) == len(found)
    return by_name


def test_what_arrived_counts() -> None:
    text = json.dumps(run(), indent=1)
    found = values(text)
    assert {name: (one.value, one.metric.unit, one.metric.better) for name, one in found.items()} == {
        "throughput": (9.3, "Gbit/s", "higher"), "rtt_mean": (200, "us", "lower")}
    within = found["throughput"].within
    assert within and within.values == [9, 9.5]
    assert found["throughput"].workload == {"protocol": "TCP", "streams": "4", "block": "131072", "duration_s": "10"}
    report = importer.read(text, "r")
    assert (report.version, "192.0.2" in repr(report), "gpu-host-7" in repr(report)) == ("3.16", False, False)


def test_what_was_asked_for_and_this_host_itself() -> None:
    text = json.dumps(run(host="127.0.0.1", reverse=1, target_bitrate=1000000, tos=16))
    assert values(text)["throughput"].workload == {
        "protocol": "TCP", "streams": "4", "block": "131072", "duration_s": "10", "reverse": "1",
        "target_bitrate": "1000000", "tos": "16", "peer": "this host"}


def test_both_ways() -> None:
    end = {"sum_sent": rate(9e9), "sum_received": rate(8e9), "sum_sent_bidir_reverse": rate(7e9),
           "sum_received_bidir_reverse": rate(6e9)}
    found = values(json.dumps(run(end, bidir=1)))
    assert (found["throughput"].value, found["throughputback"].value) == (8, 6)


@pytest.mark.parametrize("key", ["sum", "sum_received"])
def test_udp_asks_what_was_lost(key: str) -> None:
    lost = rate(1e9, jitter_ms=0.02, lost_packets=5, packets=1000, lost_percent=0.5)
    found = values(json.dumps(run({key: lost}, protocol="UDP")))
    told = {name: (one.value, one.metric.unit, one.metric.better) for name, one in found.items()}
    assert told.pop("throughput", None) == ((1, "Gbit/s", "higher") if key == "sum_received" else None)
    assert told == {"jitter": (0.02, "ms", "lower"), "lost": (0.5, "%", "lower")}


@pytest.mark.parametrize(("end", "why"), [
    ({"sum_sent": rate(3e8, 0.001), "sum_received": rate(5e5, 0.23)},
     "0.23 s are too short: in that time buffers take what is sent"),
    ({"sum_sent": rate(3e8), "sum_received": rate(0)}, "nothing arrived"),
    ({"sum_sent": rate(3e8), "sum_received": rate(float("inf"))}, "nothing arrived"),
    ({"streams": []}, "the report has no sum"),
])
def test_tests_that_say_nothing(end: dict[str, Any], why: str) -> None:
    (one,) = values(json.dumps(run(end))).values()
    assert (one.metric.name, one.value, one.status, one.why) == ("throughput", None, "failed", why)


def test_errors() -> None:
    text = json.dumps({"start": {}, "intervals": [], "end": {}, "error": "error - unable to connect:\nrefused"})
    (one,) = values(text).values()
    assert (one.value, one.status, one.why) == (None, "failed", "error - unable to connect: refused")


def test_a_stream_of_events_says_the_same() -> None:
    one = run()
    events = [("start", one["start"]), *(("interval", part) for part in one["intervals"]), ("end", one["end"])]
    text = "".join(f"{json.dumps({'event': name, 'data': data})}\n" for name, data in events)
    assert repr(values(text)) == repr(values(json.dumps(one)))
    text = f"{json.dumps({'event': 'start', 'data': one['start']})}\n{json.dumps({'event': 'error', 'data': 'lost'})}\n"
    assert [one.why for one in values(text).values()] == ["lost"]


def test_several_runs_in_a_file() -> None:
    text = f"{json.dumps(run(), indent=1)}\n{json.dumps(run(), indent=1)}\n"
    assert [one.value for one in importer.read(text, "r").values if one.metric.name == "throughput"] == [9.3] * 2


@pytest.mark.parametrize(("text", "why"), [
    (json.dumps(run())[:-30], "r:1: the report ends in the middle of an object"),
    (json.dumps(run({"sum_received": rate(1e9) | {"bits_per_second": "x"}})),
     "r:1: end.sum_received.bits_per_second is no number"),
    (json.dumps(run() | {"intervals": 5}), "r:1: intervals is no list"),
    ('{"event": "start", "data": {"test_start": {}}}', "r: no result of iperf3 in it"),
])
def test_malformed_reports(text: str, why: str) -> None:
    with pytest.raises(ReportError, match=f"^{why}"):
        importer.read(text, "r")


TEXT = """\
Connecting to host 192.0.2.7, port 5201
[  5] local 192.0.2.1 port 40000 connected to 192.0.2.7 port 5201
[  7] local 192.0.2.1 port 40001 connected to 192.0.2.7 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   564 MBytes  4.73 Gbits/sec    0   1.2 MBytes
[SUM]   0.00-1.00   sec  1.10 GBytes  9.46 Gbits/sec    0
- - - - - - - - - - - - - - - - - - - - - - - - -
[  5]   0.00-10.00  sec  5.45 GBytes  4.68 Gbits/sec    3             sender
[  5]   0.00-10.04  sec  5.45 GBytes  4.67 Gbits/sec                  receiver
[SUM]   0.00-10.00  sec  10.9 GBytes  9.36 Gbits/sec    3             sender
[SUM]   0.00-10.04  sec  10.9 GBytes  9.34 Gbits/sec                  receiver

iperf Done.
"""
UDP = """\
[  5] local 127.0.0.1 port 40000 connected to 127.0.0.1 port 5201
[  5]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec  0.000 ms  0/906 (0%)  sender
[  5]   0.00-10.00  sec  1.24 MBytes  1.04 Mbits/sec  0.012 ms  5/906 (0.55%)  receiver
"""


def test_a_text_for_people() -> None:
    (one,) = values(TEXT).values()
    assert (one.metric.name, one.value, one.metric.unit) == ("throughput", 9.34, "Gbit/s")
    assert one.workload == {"protocol": "TCP", "streams": "2", "duration_s": "10"}
    assert "192.0.2" not in repr(one)
    assert [value.value for value in importer.read(TEXT * 2, "r").values] == [9.34] * 2


def test_a_text_of_both_ways() -> None:
    rows = "".join(f"[  {at}][{way}-C]   0.00-10.00  sec  1 GBytes  {at}.00 Gbits/sec  {side}\n"
                   for at, way in ((5, "TX"), (7, "RX")) for side in ("sender", "receiver"))
    assert {name: one.value for name, one in values(rows).items()} == {"throughput": 5, "throughputback": 7}


def test_a_text_of_udp() -> None:
    assert {name: one.value for name, one in values(UDP).items()} == {
        "throughput": pytest.approx(0.00104), "jitter": 0.012, "lost": 0.55}
    assert values(UDP)["lost"].workload["peer"] == "this host"


@pytest.mark.parametrize(("old", "new", "value", "why"), [
    ("9.34 Gbits", "1.17 GBytes", 9.36, None), ("9.34 Gbits", "0.00 bits", None, "nothing arrived"),
    ("0.00-10.04", "0.00-0.40", None, "0.4 s are too short: in that time buffers take what is sent"),
])
def test_other_units_and_texts_that_say_nothing(old: str, new: str, value: float | None, why: str | None) -> None:
    (one,) = values(TEXT.replace(old, new)).values()
    assert (one.value, one.why) == (value, why)


def test_texts_without_a_rate() -> None:
    with pytest.raises(ReportError, match=r"^r:11: no rate: '9,34'"):
        importer.read(TEXT.replace("9.34", "9,34"), "r")
    cut = TEXT.partition("[SUM]   0.00-10.04")[0].replace("receiver", "")
    with pytest.raises(ReportError, match=r"^r: no result of iperf3 in it"):
        importer.read(cut, "r")
    assert not importer.recognises("the sender\n")
