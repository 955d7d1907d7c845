"""nccl-tests: text of several versions, JSON, several hosts and cycles, wrong elements, runs that broke off."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapshot.bench.importers import nccl_tests as importer
from snapshot.bench.report import ReportError, Value

HEAD = """\
# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 2097152 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using devices
#  Rank  0 Group  0 Pid   1234 on  gpu-node-7 device  0 [0000:1b:00] NVIDIA Example 80GB
#  Rank  1 Group  0 Pid   1235 on  gpu-node-7 device  1 [0000:43:00] NVIDIA Example 80GB
#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong 
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         
"""  # noqa: E501, W291 - as it is printed
ROWS = """\
           0             0     float     sum      -1    10.10    0.00    0.00       0    10.20    0.00    0.00       0
           8             2     float     sum      -1    11.50    0.00    0.00       0    11.60    0.00    0.00       0
gpu-node-7:1234:1240 [0] NCCL INFO Launch mode Parallel
     2097152        524288     float     sum      -1    50.25   41.73   41.73       0    51.00   41.12   41.12     N/A
"""
FOOT = """\
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 20.8650
#
# Collective test concluded: all_reduce_perf
"""
WORKLOAD = {"collective": "all_reduce", "ranks": "2", "hosts": "1", "gpu": "NVIDIA Example 80GB", "threads": "1",
            "gpus_per_thread": "1", "type": "float", "redop": "sum", "root": "-1"}
Key = tuple[str, str, str]


def values(text: str) -> dict[Key, Value]:
    """By metric, size and place; none may stand twice, which would count one run as two."""
    assert importer.recognises(text)
    found = importer.read(text, "r").values
    by_key = {(one.metric.name, one.workload.get("size", ""), one.workload.get("place", "")): one for one in found}
    assert len(by_key) == len(found)
    return by_key


def test_small_sizes_give_their_time_and_large_ones_their_bandwidth() -> None:
    found = values(HEAD + ROWS + FOOT)
    assert {key: one.value for key, one in found.items()} == {
        ("time", "8", "out"): 11.50, ("time", "8", "in"): 11.60, ("busbw", "2097152", "out"): 41.73,
        ("busbw", "2097152", "in"): 41.12, ("avg_busbw", "", ""): 20.865}
    assert {key for key, one in found.items() if one.metric.primary} == {
        ("time", "8", "out"), ("busbw", "2097152", "out")}
    large, average = found["busbw", "2097152", "out"], found["avg_busbw", "", ""]
    assert large.workload == {**WORKLOAD, "size": "2097152", "place": "out"}
    assert average.workload == {**WORKLOAD, "sizes": "8 to 2097152, times 2"}
    assert (large.metric.unit, large.metric.better, large.metric.kind) == ("GB/s", "higher", "collectives")
    assert (found["time", "8", "out"].metric.unit, found["time", "8", "out"].metric.better) == ("us", "lower")
    assert large.devices == ("0000:1b:00.0", "0000:43:00.0")
    report = importer.read(HEAD + ROWS + FOOT, "r")
    assert (report.tool, report.version, report.format) == ("nccl-tests", "2.17.6", "text")
    assert "gpu-node-7" not in repr(report)


def test_hosts_are_counted_and_addresses_then_belong_to_none() -> None:
    found = values(HEAD.replace("1235 on  gpu-node-7", "1235 on  gpu-node-8") + ROWS + FOOT)
    one = found["busbw", "2097152", "out"]
    assert (one.workload["hosts"], one.metric.kind, one.devices) == ("2", "collectives-nodes", ())


@pytest.mark.parametrize(("change", "key", "value"), [
    (("agg iters: 1", "agg iters: 4"), "agg_iters", "4"), (("graph: 0", "graph: 10"), "graph", "10"),
    (("unalign: 0", "unalign: 1"), "unalign", "1"), (("nThread 1", "nThread 2"), "threads", "2"),
    (("# Using", "# Blocking Enabled: wait\n# Using"), "blocking", "yes"),
])
def test_what_makes_runs_different(change: tuple[str, str], key: str, value: str) -> None:
    assert values(HEAD.replace(*change) + ROWS + FOOT)["time", "8", "out"].workload[key] == value
    assert WORKLOAD.get(key) != value


def test_the_average_is_of_the_sizes_that_memory_allows() -> None:
    head = HEAD.replace("# Using", "# Reducing maxBytes to 1000 due to memory limitation\n# Using")
    found = values(head + ROWS + FOOT)
    assert found["avg_busbw", "", ""].workload["sizes"] == "8 to 1000, times 2"


@pytest.mark.parametrize(("text", "why"), [
    (ROWS.replace("41.73       0", "41.73      12"), "12 wrong elements"),
    (ROWS.replace("41.73       0", "41.73   1e+06"), "1e+06 wrong elements"),
])
def test_wrong_elements_make_a_row_count_for_nothing(text: str, why: str) -> None:
    found = values(HEAD + text + FOOT.replace("0 OK", "1 FAILED"))
    large, unchecked = found["busbw", "2097152", "out"], found["busbw", "2097152", "in"]
    assert (large.value, large.status, large.why) == (None, "failed", why)
    assert (unchecked.status, unchecked.why) == ("failed", "1 values out of bounds")
    assert found["avg_busbw", "", ""].status == "failed"
    assert found["time", "8", "out"].status == "ok"


def test_a_run_that_broke_off_says_why() -> None:
    failure = "gpu-node-8: Test NCCL failure alltoall.cu:274 'remote process exited / '\n .. gpu-node-8: Test failure"
    found = values(HEAD + failure)
    assert found.keys() == {("avg_busbw", "", "")}
    one = found["avg_busbw", "", ""]
    assert (one.value, one.status) == (None, "failed")
    assert one.why == "Test NCCL failure alltoall.cu:274 'remote process exited / '"
    assert one.workload["collective"] == "all_reduce"


def test_a_report_that_ends_in_a_row_keeps_the_rows_before() -> None:
    found = values(HEAD + ROWS.rstrip()[:-30])
    assert found["time", "8", "out"].status == "ok"
    assert ("busbw", "2097152", "out") not in found
    assert found["avg_busbw", "", ""].why == "the report ends before the average"


def test_several_runs_in_a_file_are_several_samples() -> None:
    found = importer.read((HEAD + ROWS + FOOT) * 2, "r").values
    assert [one.value for one in found if one.metric.name == "avg_busbw"] == [20.865] * 2


def test_cycles_of_one_run_are_spread_within_it() -> None:
    again = ROWS.replace("11.50", "12.50")
    one = values(HEAD + ROWS + again + ROWS + FOOT)["time", "8", "out"]
    assert one.value == 11.50
    assert one.within and one.within.values == [11.50, 12.50, 11.50]


def test_single_iterations_and_timestamps() -> None:
    head = HEAD.replace("busbw  #wrong ", "busbw  #wrong  i_min  i_max  i_p99  i_cv% ").replace(
        "i_cv% \n", "i_cv%  timestamp\n")
    row = ("           8             2     float     sum      -1    11.50    0.00    0.00       0  10.1  14.2  14.0  2"
           "    11.60    0.00    0.00       0   10.2  14.3 14.1 2.1  2026-01-02 03:04:05\n")
    one = values(head + row + FOOT)["time", "8", "out"]
    assert one.within and (one.within.min, one.within.max) == (10.1, 14.2)


OLD = """\
# nThread 1 nGpus 8 minBytes 1 maxBytes 2097152 step: 2(factor) warmup iters: 5 iters: 20 validation: 0
#
# Using devices
#   Rank  0 Pid 112424 on gpu-node-7 device  0 [0x00] Example-40GB
#   Rank  1 Pid 112424 on gpu-node-7 device  1 [0x00] Example-40GB
#
#                                                     out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
OLD_FOOT = FOOT.partition("#\n")[0]
OLD_ROW = "     2097152        524288   float{}   100.00   20.97   {}  {}     101.0   20.76   20.76  {}\n"


def test_older_versions_name_no_collective_but_their_ratio() -> None:
    found = values(OLD + OLD_ROW.format("     sum", "20.97", "N/A", "N/A") + OLD_FOOT)
    one = found["busbw", "2097152", "out"]
    told = one.workload["collective"], one.workload["bus_factor"], one.workload["redop"]
    assert told == ("not named", "1", "sum")
    assert (one.workload["ranks"], one.devices) == ("2", ())
    without = values(OLD + OLD_ROW.format("        ", "10.49", "N/A", "N/A") + OLD_FOOT)["busbw", "2097152", "out"]
    assert (without.workload["bus_factor"], "redop" in without.workload) == ("(n-1)/n", False)


def test_a_command_line_in_the_text_names_it() -> None:
    found = values("$ mpirun ./build/broadcast_perf -b 1\n" + OLD.replace("redop ", "redop    root ")
                   + OLD_ROW.format("             0", "20.97", "N/A", "N/A") + OLD_FOOT)
    one = found["busbw", "2097152", "out"]
    assert (one.workload["collective"], one.workload["root"], "redop" in one.workload) == ("broadcast", "0", False)


def test_an_error_column_tells_no_wrong_elements_so_that_the_footer_decides() -> None:
    row = OLD_ROW.format("     sum", "20.97", "1e-07", "1e-07")
    assert values(OLD + row + OLD_FOOT)["busbw", "2097152", "out"].status == "ok"
    failed = values(OLD + row + OLD_FOOT.replace("0 OK", "3 FAILED"))["busbw", "2097152", "out"]
    assert (failed.value, failed.why) == (None, "3 values out of bounds")


def as_json(**more: Any) -> str:
    side = {"time": 11.5, "alg_bw": 0.1, "bus_bw": 0.1, "nwrong": 0.0}
    large = {"time": 50.25, "alg_bw": 41.73, "bus_bw": 41.734321, "nwrong": None}
    common = {"type": "float", "redop": "sum", "root": "    -1"}
    return json.dumps({
        "version": 2, "start_time": "2026-01-01 00:00:00", "args": ["/home/bob/build/all_reduce_perf", "-J", "x"],
        "env": ["HF_TOKEN=hunter2"], "nccl_version": 22807,
        "config": {"nthreads": 1, "ngpus": 2, "minimum_bytes": 8, "maximum_bytes": 2097152, "step_factor": 2,
                   "aggregated_iterations": 1, "graph": 0, "blocking_collectives": "false", "devices": [
                       {"rank": 0, "hostname": "gpu-node-7", "device_hex": "0000:1b:00", "device_info": "Example"}]},
        "results": [{"size": 8, "count": 2, **common, "out_of_place": side, "in_place": None,
                     "out_of_place_per_iter": {"times_us": [11.0, 12.5]}},
                    {"size": 2097152, "count": 2, **common, "out_of_place": large, "in_place": large}],
        "out_of_bounds": {"count": 0, "okay": "true"},
        "average_bus_bandwidth": {"bandwidth": 20.865, "okay": "unchecked"}, "errors": [], **more})


def test_json() -> None:
    found = values(as_json())
    assert {key: one.value for key, one in found.items()} == {
        ("time", "8", "out"): 11.5, ("busbw", "2097152", "out"): 41.734321, ("busbw", "2097152", "in"): 41.734321,
        ("avg_busbw", "", ""): 20.865}
    one = found["time", "8", "out"]
    assert one.workload == {**WORKLOAD, "gpu": "Example", "gpus_per_thread": "2", "size": "8", "place": "out"}
    assert (one.devices, one.within and one.within.values) == (("0000:1b:00.0",), [11.0, 12.5])
    assert not any(word in repr(found) for word in ("hunter2", "bob", "gpu-node-7"))


def test_json_that_failed() -> None:
    found = values(as_json(out_of_bounds={"count": 4, "okay": "false"}))
    assert found["busbw", "2097152", "out"].why == "4 values out of bounds"
    assert found["time", "8", "out"].status == "ok"
    found = values(as_json(results=[], average_bus_bandwidth={"bandwidth": "nan"}, errors=["NCCL WARN\n broken"]))
    assert (found["avg_busbw", "", ""].value, found["avg_busbw", "", ""].why) == (None, "NCCL WARN broken")


@pytest.mark.parametrize(("text", "why"), [
    (as_json(results={}), "r:1: results is no list"),
    (as_json(config={}), "r:1: config.nthreads is no whole number"),
    (as_json(results=[{"size": -8}]), r"r:1: results\[0\].size is no whole number"),
    (as_json()[:-50], "r:1: the report ends in the middle of an object"),
    (HEAD + ROWS.replace("41.73       0", "41.73") + FOOT, "r:15: 12 fields below 13 columns"),
    (HEAD + ROWS.replace("11.50", "1x.50") + FOOT, "r:13: no number: '1x.50'"),
    ("# nccl-tests version 2.17\n", "r: no head of a run"),
])
def test_malformed_reports(text: str, why: str) -> None:
    with pytest.raises(ReportError, match=f"^{why}"):
        importer.read(text, "r")


@pytest.mark.parametrize("text", ["", "# nThread\n", '{"results": []}', "nccl-tests is a tool\n"])
def test_other_texts(text: str) -> None:
    assert not importer.recognises(text)
