"""Reports of sglang.bench_serving: text and JSONL, what is in doubt, what of it must not enter."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapshot.bench.importers import read, sglang
from snapshot.bench.report import ReportError, Value

RUN: dict[str, Any] = {
    "tag": "mine", "backend": "sglang", "dataset_name": "random", "request_rate": float("inf"), "max_concurrency": 64,
    "sharegpt_output_len": None, "random_input_len": 1024, "random_output_len": 256, "random_range_ratio": 1.0,
    "server_info": {"model_path": "/home/bob/models/Tiny-1", "tp_size": 8, "version": "0.5.3", "api_key": "hunter2",
                    "host": "gpu01"},
    "duration": 81.2, "completed": 640, "total_input_tokens": 655360, "total_output_tokens": 163840,
    "total_output_tokens_retokenized": 163000, "request_throughput": 7.88, "input_throughput": 8070.9,
    "output_throughput": 2017.7, "mean_e2e_latency_ms": 7980.1, "median_e2e_latency_ms": 7965.0,
    "mean_ttft_ms": 310.4, "median_ttft_ms": 295.1, "std_ttft_ms": 100.5, "p99_ttft_ms": 702.3, "mean_tpot_ms": 30.1,
    "median_tpot_ms": 30.0, "p99_tpot_ms": 41.0, "mean_itl_ms": 30.1, "median_itl_ms": 29.9, "p95_itl_ms": 41.0,
    "std_itl_ms": 2.0, "max_itl_ms": 380.4, "concurrency": 62.9, "accept_length": None,
}
TEXT = """\
Namespace(backend='sglang', host='gpu01', model='/home/bob/Tiny-1', dataset_name='random', num_prompts=640, \
random_input_len=1024, random_output_len=256, random_range_ratio=1.0, request_rate=inf, max_concurrency=64, \
extra_request_body='{"a": 1, model=\\'no\\'}', fn=<function f at 0x7f>)
  0%|          | 0/640\r100%|##########| 640/640

============ Serving Benchmark Result ============
Backend:                                 sglang    
Traffic request rate:                    inf       
Max request concurrency:                 not set   
Successful requests:                     640       
Total input tokens:                      655360    
Total generated tokens:                  163840    
Total generated tokens (retokenized):    163000    
Request throughput (req/s):              0.11      
Output token throughput (tok/s):         2017.70   
Total token throughput (tok/s):          9685.12   
Accept length:                           2.41      
Prompt: hunter2
----------------End-to-End Latency----------------
Mean E2E Latency (ms):                   7980.11   
---------------Time to First Token----------------
Mean TTFT (ms):                          310.44    
Median TTFT (ms):                        295.10    
---------------Inter-Token Latency----------------
Mean ITL (ms):                           37.50     
Median ITL (ms):                         36.90     
Max ITL (ms):                            380.40    
==================================================
"""  # noqa: W291 - as the tool pads it


def of(text: str, metric: str) -> list[Value]:
    return [value for value in sglang.read(text, "r").values if value.metric.name == metric]


def lines(*changes: dict[str, Any]) -> str:
    return "".join(json.dumps(RUN | change) + "\n" for change in changes)


def test_each_line_is_a_run() -> None:
    report = read(lines({}, {"output_throughput": 2020.0}, {"max_concurrency": 1}), "r.jsonl")
    assert (report.tool, report.format, report.version) == ("sglang", "jsonl", "0.5.3")
    found = [value for value in report.values if value.metric.name == "output_throughput"]
    assert [(value.value, value.workload["concurrency"], value.metric.kind) for value in found] == [
        (2017.7, "64", "serving-high"), (2020.0, "64", "serving-high"), (2017.7, "1", "serving-low")]
    assert found[0].workload == found[1].workload == {
        "model": "Tiny-1", "backend": "sglang", "concurrency": "64", "request_rate": "inf", "num_prompts": "640",
        "dataset": "random", "input_len": "1024", "output_len": "256", "range_ratio": "1", "tp_size": "8"}


def test_units_directions_and_primary_metrics() -> None:
    metrics = {value.metric.name: value.metric for value in sglang.read(lines({}), "r").values}
    assert {name for name, metric in metrics.items() if metric.primary} == {
        "output_throughput", "median_ttft_ms", "median_tpot_ms"}
    assert {(m.unit, m.better) for m in metrics.values()} == {("tok/s", "higher"), ("req/s", "higher"), ("ms", "lower")}
    assert {name for name, metric in metrics.items() if metric.kind == "first-token"} == {
        "mean_ttft_ms", "median_ttft_ms", "p99_ttft_ms"}
    assert not metrics.keys() & {"duration", "concurrency", "std_ttft_ms", "max_itl_ms", "accept_length"}


def test_what_requests_were_like_is_spread_and_no_sample() -> None:
    (ttft,), (itl,) = of(lines({}), "median_ttft_ms"), of(lines({}), "median_itl_ms")
    assert ttft.within and (ttft.within.count, ttft.within.stddev) == (640, 100.5)
    assert itl.within and (itl.within.count, itl.within.max, itl.within.stddev) == (None, 380.4, 2.0)
    details = {"ttfts": [0.3, 0.2, 0.0], "itls": [[0.01, 0.03], [0.02], []], "errors": ["", "", "hunter2 failed"],
               "generated_texts": ["hunter2"] * 3, "completed": 2}
    (ttft,), (itl,) = of(lines(details), "median_ttft_ms"), of(lines(details), "median_itl_ms")
    assert ttft.within and ttft.within.values == [300, 200]
    assert itl.within and itl.within.values == [10, 30, 20]
    assert (ttft.status, ttft.why, ttft.value) == ("partial", "1 of 3 requests failed", 295.1)


def test_the_text_tells_the_same_with_the_arguments_before_it() -> None:
    report = read(TEXT, "r.txt")
    assert (report.tool, report.format, report.version) == ("sglang", "text", None)
    found = {value.metric.name: value for value in report.values}
    assert found["output_throughput"].workload == {
        "model": "Tiny-1", "backend": "sglang", "concurrency": "unlimited", "request_rate": "inf",
        "num_prompts": "640", "dataset": "random", "input_len": "1024", "output_len": "256", "range_ratio": "1"}
    assert found["median_itl_ms"].metric.primary and found["median_itl_ms"].value == 36.9
    assert found["accept_length"].value == 2.41 and found["accept_length"].metric.kind is None
    assert found["output_throughput"].metric.kind == "serving-high"
    assert found["mean_e2e_latency_ms"].value == 7980.11
    assert all(value.status == "ok" for value in report.values)


def test_a_print_too_coarse_for_two_percent_says_so() -> None:
    found = {value.metric.name: value.metric.minimum_percent for value in sglang.read(TEXT, "r").values}
    assert found["request_throughput"] is not None and found["request_throughput"] > 10
    assert found["output_throughput"] is None
    assert all(value.metric.minimum_percent is None for value in sglang.read(lines({}), "r").values)


def test_without_arguments_the_mean_length_of_prompts_tells_workloads_apart() -> None:
    block = TEXT[TEXT.index("===="):]
    assert of(block, "output_throughput")[0].workload == {
        "backend": "sglang", "concurrency": "unlimited", "request_rate": "inf", "num_prompts": "640",
        "input_len": "1024", "output_len": "256"}
    (odd,) = of(block.replace("163840", "163841"), "output_throughput")
    assert "output_len" not in odd.workload


def test_several_blocks_each_with_its_arguments() -> None:
    both = TEXT + TEXT.replace("max_concurrency=64", "max_concurrency=1").replace("not set", "1      ")
    assert [value.workload["concurrency"] for value in of(both, "output_throughput")] == ["unlimited", "1"]


def test_a_block_that_breaks_off_is_partial_and_its_half_line_is_left_out() -> None:
    cut = TEXT[:TEXT.index("36.90") + 3]
    (found,) = of(cut, "mean_itl_ms")
    assert (found.value, found.status, found.why) == (37.5, "partial", "the report breaks off")
    assert not of(cut, "median_itl_ms")
    with pytest.raises(ReportError, match=r"^r:4: completed is missing"):
        sglang.read(TEXT[:TEXT.index("Successful")], "r")


def test_tokens_that_did_not_come_one_by_one_are_no_measurement() -> None:
    text = lines({"median_tpot_ms": -0.0, "mean_itl_ms": 0.0, "median_itl_ms": 0.0, "p95_itl_ms": 0.0})
    for metric, why in (("median_tpot_ms", "median_tpot_ms is -0"), ("p99_tpot_ms", "median_tpot_ms is -0"),
                        ("median_itl_ms", "mean_itl_ms is 0"),
                        ("median_ttft_ms", "no token came by itself, and so no first one")):
        (found,) = of(text, metric)
        assert (found.value, found.status, found.why) == (None, "partial", why)
    (e2e,) = of(text, "median_e2e_latency_ms")
    assert (e2e.value, e2e.status) == (7965.0, "ok")
    (late,) = of(lines({"median_ttft_ms": 8000.0}), "mean_ttft_ms")
    assert late.why == "median_ttft_ms is above median_e2e_latency_ms"


def test_answers_of_one_token_have_no_time_between_tokens() -> None:
    text = lines({"total_output_tokens": 640, "mean_itl_ms": 0.0, "median_itl_ms": 0.0, "mean_tpot_ms": 0.0})
    assert not of(text, "median_itl_ms") and not of(text, "mean_tpot_ms")
    assert of(text, "median_ttft_ms")[0].status == "ok"


def test_a_run_without_an_answer_failed() -> None:
    found = sglang.read(lines({"completed": 0, "output_throughput": 0.0, "mean_ttft_ms": float("nan")}), "r").values
    assert {(value.value, value.status, value.why) for value in found} == {(None, "failed", "no request succeeded")}


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 0, -3])
def test_what_no_throughput_can_be_is_none(value: float) -> None:
    (found,) = of(lines({"output_throughput": value}), "output_throughput")
    assert (found.value, found.status) == (None, "partial") and (found.why or "").startswith("output_throughput is ")


@pytest.mark.parametrize(("change", "kind"), [
    ({"request_rate": 2.0}, None), ({"request_rate": 2.0, "max_concurrency": 8}, "serving-low"),
    ({"max_concurrency": None}, "serving-high"), ({"max_concurrency": None, "completed": 4}, "serving-low"),
    ({"max_concurrency": 9}, "serving-high"), ({"max_concurrency": 64, "completed": 3}, "serving-low"),
])
def test_what_decides_is_told_only_where_the_load_is_known(change: dict[str, Any], kind: str | None) -> None:
    (found,) = of(lines(change), "output_throughput")
    assert found.metric.kind == kind


def test_lengths_belong_to_their_data_set() -> None:
    (found,) = of(lines({"dataset_name": "sharegpt", "sharegpt_output_len": 200}), "output_throughput")
    assert found.workload["output_len"] == "200" and "input_len" not in found.workload
    (found,) = of(lines({"dataset_name": "sharegpt"}), "output_throughput")
    assert not found.workload.keys() & {"input_len", "output_len"}
    (found,) = of(lines({"dataset_name": "mooncake"}), "output_throughput")
    assert found.workload["dataset"] == "mooncake" and found.workload["input_len"] == "1024"


def test_a_cut_line_has_its_number() -> None:
    with pytest.raises(ReportError, match=r"^r:2: the report ends in the middle of an object; .* whole \(1\)$"):
        sglang.read(lines({}, {})[:-30], "r")


def test_a_text_where_a_number_belongs_is_refused() -> None:
    with pytest.raises(ReportError, match=r"^r:2: output_throughput is no number: 'fast'"):
        sglang.read(lines({}, {"output_throughput": "fast"}), "r")


def test_nothing_private_enters() -> None:
    details = {"generated_texts": ["hunter2"], "errors": ["", "hunter2 at gpu01"]}
    for text in (lines(details), TEXT):
        shown = repr(sglang.read(text, "r"))
        assert not [word for word in ("hunter2", "bob", "gpu01", "mine") if word in shown]
