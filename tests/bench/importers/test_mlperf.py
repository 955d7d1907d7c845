"""Summaries of LoadGen: scenarios, served models, results that are not valid, accuracy runs."""

from __future__ import annotations

import pytest

from snapshot.bench.importers import mlperf as importer
from snapshot.bench.report import ReportError, Value

RULE = "================================================\n"
ASKED = f"""
{RULE}Test Parameters Used
{RULE}samples_per_query : 1
target_qps : 104
target_latency (ns): 0
min_duration (ms): 600000
qsl_rng_seed : 3066443479025735752

No warnings encountered during test.
"""
OFFLINE = f"""\
2026-01-01 INFO main: Test Started
{RULE}MLPerf Results Summary
{RULE}SUT name : gpu-host-7
Scenario : Offline
Mode     : PerformanceOnly
Samples per second: 45786.8
Tokens per second: 1234.5
Result is : VALID
  Min duration satisfied : Yes
  Min queries satisfied : Yes

{RULE}Additional Stats
{RULE}Min latency (ns)                : 1667697192
Mean latency (ns)               : 332352184971
50.00 percentile latency (ns)   : 332405489517
99.90 percentile latency (ns)   : 663000000000
{ASKED}"""
SINGLE = f"""\
{RULE}MLPerf Results Summary
{RULE}SUT name : PySUT
Scenario : Single Stream
Mode     : Performance
90th percentile latency (ns) : 141426994
90th first token percentile latency (ns) : 1000000
Result is : VALID

{RULE}Additional Stats
{RULE}QPS w/ loadgen overhead         : 7.72
QPS w/o loadgen overhead        : 7.73
90.00 percentile latency (ns)   : 141426994
90.00 percentile first token latency (ns)   : 2000000
Mean First Token latency (ns)               : 1500000
Mean Time per Output Token (ns)                : 126269215
50.00 percentile time to output token (ns)   : 132613828
{ASKED}"""


def values(text: str) -> dict[str, Value]:
    assert importer.recognises(text)
    found = importer.read(text, "r").values
    by_name = {one.metric.name: one for one in found}
    assert len(by_name) == len(found)
    return by_name


def test_offline() -> None:
    found = values(OFFLINE)
    assert {name: (one.value, one.metric.unit, one.metric.better) for name, one in found.items()} == {
        "samples_per_second": (45786.8, "samples/s", "higher"), "tokens_per_second": (1234.5, "tok/s", "higher"),
        "mean_latency": (332352.184971, "ms", "lower"), "p50_latency": (332405.489517, "ms", "lower"),
        "p99.9_latency": (663000.0, "ms", "lower")}
    assert {name for name, one in found.items() if one.metric.primary} == {"samples_per_second", "tokens_per_second"}
    assert found["p50_latency"].workload == {
        "scenario": "Offline", "mode": "PerformanceOnly", "samples_per_query": "1", "target_qps": "104",
        "target_latency": "0", "min_duration": "600000"}
    assert {one.metric.kind for one in found.values()} == {"serving-high"}
    assert "gpu-host-7" not in repr(found)


def test_single_stream_of_a_served_model() -> None:
    found = values(SINGLE)
    assert {name: one.value for name, one in found.items()} == {
        "p90_latency": 141.426994, "p90_first_token_latency": 1, "qps_with_overhead": 7.72,
        "qps_without_overhead": 7.73, "mean_first_token_latency": 1.5, "mean_time_per_output_token": 126.269215,
        "p50_time_per_output_token": 132.613828}
    assert {name: one.metric.kind for name, one in found.items() if "token" in name} == {
        "p90_first_token_latency": "first-token", "mean_first_token_latency": "first-token",
        "mean_time_per_output_token": "serving-low", "p50_time_per_output_token": "serving-low"}


def test_a_model_without_tokens_has_no_kind() -> None:
    assert values(OFFLINE.replace("Tokens per second: 1234.5\n", ""))["mean_latency"].metric.kind is None


def test_a_result_that_is_not_valid_is_none() -> None:
    text = OFFLINE.replace(": VALID", ": INVALID").replace("duration satisfied : Yes", "duration satisfied : NO")
    assert {(one.value, one.status, one.why) for one in values(text).values()} == {
        (None, "failed", "the result is INVALID: min duration")}


def test_a_summary_that_is_cut_off() -> None:
    (one,) = values(OFFLINE.partition("Tokens")[0]).values()
    assert (one.value, one.status, one.why) == (
        45786.8, "partial", "the summary ends before it says whether it is valid")


def test_several_runs() -> None:
    assert len(importer.read(OFFLINE + OFFLINE, "r").values) == 10


@pytest.mark.parametrize(("text", "why"), [
    (OFFLINE.replace("PerformanceOnly", "AccuracyOnly"), "r: a run for accuracy measures no speed"),
    (OFFLINE.partition("SUT")[0], "r: the summary has no figure"),
])
def test_malformed_reports(text: str, why: str) -> None:
    with pytest.raises(ReportError, match=f"^{why}"):
        importer.read(text, "r")
