"""fio: versions 2 and 3, text around the JSON, threads of one load, options that count, jobs that failed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapshot.bench.importers import fio as importer
from snapshot.bench.report import ReportError, Value


def job(name: str = "randread", way: str = "read", iops: float = 1000.5, **more: Any) -> dict[str, Any]:
    nothing = {"io_bytes": 0, "bw_bytes": 0, "bw": 0, "iops": 0, "total_ios": 0}
    done = {"io_bytes": 4096000, "bw_bytes": 4098048, "bw": 4002, "iops": iops, "total_ios": 1000, "clat_ns": {
        "min": 1000, "max": 9000, "mean": 2500.0, "stddev": 10.0, "N": 1000,
        "percentile": {"50.000000": 2400, "99.000000": 8640, "99.900000": 8900}},
        "lat_ns": {"min": 1100, "max": 9100, "mean": 2600.0, "stddev": 11.0, "N": 1000}}
    ways = {one: done if one == way else nothing for one in ("read", "write", "trim")}
    return {"jobname": name, "groupid": 0, "error": 0, "job options": {"rw": way, "bs": "4k"}, **ways, **more}


def report(*jobs: dict[str, Any], version: str = "fio-3.42", **options: str) -> str:
    return json.dumps({"fio version": version, "time": "now", "global options": {
        "ioengine": "libaio", "iodepth": "32", "direct": "1", "filename": "/dev/nvme0n1", "runtime": "10",
        "write_bw_log": "/home/bob/log", **options}, "jobs": [*jobs], "disk_util": []}, indent=1)


def values(text: str) -> dict[str, Value]:
    assert importer.recognises(text)
    found = importer.read(text, "r").values
    by_name = {one.metric.name: one for one in found}
    assert len(by_name) == len(found)
    return by_name


def test_what_a_job_gives() -> None:
    text = report(job())
    found = values(text)
    assert {name: (one.value, one.metric.unit, one.metric.better) for name, one in found.items()} == {
        "iops": (1000.5, "IOPS", "higher"), "bandwidth": (4.098048, "MB/s", "higher"),
        "clat_mean": (2.5, "us", "lower"), "clat_p50": (2.4, "us", "lower"), "clat_p99": (8.64, "us", "lower"),
        "clat_p99.9": (8.9, "us", "lower"), "lat_mean": (2.6, "us", "lower")}
    assert {name for name, one in found.items() if one.metric.primary} == {"iops", "clat_p99"}
    assert {one.metric.kind for one in found.values()} == {"storage"}
    assert found["iops"].workload == {
        "job": "randread", "way": "read", "rw": "read", "bs": "4096", "ioengine": "libaio", "iodepth": "32",
        "direct": "1", "device": "/dev/nvme0n1"}
    within = found["clat_mean"].within
    assert within and (within.count, within.min, within.max, within.stddev) == (1000, 1, 9, 0.01)
    assert (importer.read(text, "r").version, "bob" in repr(found)) == ("fio-3.42", False)


def test_text_around_the_json_and_runs_one_after_the_other() -> None:
    text = f"fio: this is a warning\njob: (g=0): rw=read\n{report(job())}\nREAD: bw=1\n"
    assert values(text)["iops"].value == 1000.5
    assert [one.value for one in importer.read(text * 2, "r").values if one.metric.name == "iops"] == [1000.5] * 2


def test_version_2_counts_in_microseconds_and_kib() -> None:
    old = {"io_bytes": 44920, "bw": 2976, "iops": 744.13, "runtime": 30003,
           "lat": {"min": 431, "max": 3781, "mean": 1782.92, "stddev": 19.4}}
    found = values(json.dumps({"fio version": "fio-2.1.11", "jobs": [{"jobname": "rw", "error": 0, "read": old}]}))
    assert (found["bandwidth"].value, found["lat_mean"].value) == (3.047424, 1782.92)
    assert found["iops"].workload == {"job": "rw", "way": "read"}


def test_threads_that_are_not_reported_as_a_group_are_one_load() -> None:
    other = job(iops=500.0)
    other["read"] = {**other["read"], "total_ios": 3000, "clat_ns": {**other["read"]["clat_ns"], "mean": 4500.0}}
    found = values(report(job(), other))
    assert (found["iops"].value, found["bandwidth"].value) == (1500.5, 8.196096)
    assert found["clat_mean"].value == pytest.approx((2.5 * 1000 + 4.5 * 3000) / 4000)
    assert "clat_p99" not in found


def test_jobs_of_their_own_and_both_ways() -> None:
    both = {**job(), "write": job(way="write")["write"]}
    ways = [one.workload["way"] for one in importer.read(report(both), "r").values if one.metric.name == "iops"]
    assert ways == ["read", "write"]
    jobs = [one.workload["job"] for one in importer.read(report(job("a"), job("b")), "r").values
            if one.metric.name == "iops"]
    assert jobs == ["a", "b"]


def test_sync_latencies() -> None:
    found = importer.read(report(job(sync={"total_ios": 3, "lat_ns": {
        "mean": 1500.0, "percentile": {"99.000000": 2000}}})), "r").values
    told = {one.metric.name: (one.value, one.workload["way"]) for one in found if "sync" in one.metric.name}
    assert told == {"sync_lat_mean": (1.5, "sync"), "sync_lat_p99": (2.0, "sync")}


@pytest.mark.parametrize(("options", "kept"), [
    ({"filename": "/home/bob/x"}, None), ({"filename": "x.dat"}, None), ({"filename": "/dev/sda"}, "/dev/sda"),
])
def test_of_files_only_devices_are_kept(options: dict[str, str], kept: str | None) -> None:
    assert values(report(job(), **options))["iops"].workload.get("device") == kept


def test_a_job_named_like_what_it_works_on() -> None:
    text = report(job("/dev/nvme8n1")).replace('"filename"', '"other"')
    workload = values(text)["iops"].workload
    assert (workload["device"], "job" in workload) == ("/dev/nvme8n1", False)
    assert "job" not in values(report(job("/home/bob/x")))["iops"].workload


@pytest.mark.parametrize(("bs", "kept"), [("4096B", "4096"), ("4k", "4096"), ("1MiB", "1048576"), ("4k,8k", "4k,8k")])
def test_block_sizes_are_bytes(bs: str, kept: str) -> None:
    assert values(report({**job(), "job options": {"rw": "read", "bs": bs}}))["iops"].workload["bs"] == kept


def test_jobs_that_failed_and_did_nothing() -> None:
    found = values(report(job(error=5)))
    assert {(one.value, one.status, one.why) for one in found.values()} == {(None, "failed", "error EIO")}
    (one,) = values(report(job(way="none"))).values()
    assert (one.metric.name, one.value, one.why) == ("iops", None, "nothing was read or written")
    (one,) = values(report(job(way="none", error=28))).values()
    assert one.why == "error ENOSPC"


def test_clients_are_taken_together() -> None:
    clients = [{**job(), "hostname": "load-host-1"}, {**job("All clients"), "hostname": "load-host-2"}]
    text = json.dumps({"fio version": "fio-3.1", "client_stats": clients})
    found = values(text)
    assert (found["iops"].value, found["iops"].workload["job"]) == (1000.5, "All clients")
    assert "load-host" not in repr(found)


@pytest.mark.parametrize(("text", "why"), [
    (report(), "r: no job of fio in it"), ('{"fio version": "fio-3.1"}', "r:1: client_stats is missing"),
    ('{"fio version": "fio-3.1", "jobs": {}}', "r:1: jobs is no list"),
    (report(job())[:-60], r"r:\d+: the report ends in the middle of an object"),
    ('x "fio version" y', "r: no job of fio in it"),
    (report(job(read={"total_ios": "x"})), r"r:1: jobs\[0\].read.total_ios is no number"),
])
def test_malformed_reports(text: str, why: str) -> None:
    with pytest.raises(ReportError, match=f"^{why}"):
        importer.read(text, "r")


def test_infinity_is_no_value() -> None:
    found = values(report(job(read={"total_ios": 5, "iops": float("inf"), "bw_bytes": float("nan")})))
    assert {(one.value, one.status, one.why) for one in found.values()} == {(None, "failed", "no number")}
