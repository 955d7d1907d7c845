"""Reports of vllm bench serve: JSON, appended JSON, sweeps, and text of old and new versions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapshot.bench.importers import read, vllm
from snapshot.bench.report import ReportError, Value

RUN: dict[str, Any] = {
    "date": "20260816-160853", "endpoint_type": "openai", "backend": "openai", "label": None, "model_id": "org/tiny",
    "tokenizer_id": "org/tiny", "num_prompts": 100, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 2,
    "duration": 1.5, "completed": 100, "failed": 0, "total_input_tokens": 3200, "total_output_tokens": 1600,
    "request_throughput": 5.2, "request_goodput": None, "output_throughput": 82.9, "total_token_throughput": 248.7,
    "max_output_tokens_per_s": 85.0, "max_concurrent_requests": 6, "rtfx": 0.0, "mean_ttft_ms": 215.5,
    "median_ttft_ms": 55.7, "std_ttft_ms": 292.1, "p99_ttft_ms": 734.4, "p99.9_ttft_ms": 735.0, "mean_tpot_ms": 11.3,
    "median_tpot_ms": 11.2, "std_tpot_ms": 0.6, "mean_itl_ms": 11.3, "median_itl_ms": 10.5, "std_itl_ms": 3.5,
}
NEW = """\
============ Serving Benchmark Result ============
Successful requests:                     98
Failed requests:                         2
Maximum request concurrency:             256
Benchmark duration (s):                  90.66
Total input tokens:                      44100
Total generated tokens:                  1462
Request throughput (req/s):              11.03
Request goodput (req/s):                 0.00
Output token throughput (tok/s):         16.13
Total token throughput (tok/s):          501.56
---------------Time to First Token----------------
Median TTFT (ms):                        43.31
-----Time per Output Token (excl. 1st token)------
Median TPOT (ms):                        50.31
P99.9 TPOT (ms):                         51.96
---------------Inter-token Latency----------------
Median ITL (ms):                         43.66
----------------End-to-end Latency----------------
Median E2EL (ms):                        900.00
==================================================
"""


def of(text: str, metric: str) -> list[Value]:
    return [value for value in vllm.read(text, "r").values if value.metric.name == metric]


def dumped(**changes: Any) -> str:
    return json.dumps(RUN | changes, indent=2)


def test_an_object_is_a_run() -> None:
    report = read(dumped(), "r.json")
    assert (report.tool, report.format, report.version) == ("vllm", "json", None)
    assert {value.metric.name for value in report.values if value.metric.primary} == {
        "output_throughput", "median_ttft_ms", "median_tpot_ms"}
    (found,) = of(dumped(), "output_throughput")
    assert (found.value, found.metric.unit, found.metric.kind) == (82.9, "tok/s", "serving-low")
    assert found.workload == {"model": "org/tiny", "backend": "openai", "concurrency": "2", "request_rate": "inf",
                              "num_prompts": "100", "input_len": "32", "output_len": "16"}
    assert of(dumped(), "p99.9_ttft_ms")[0].value == 735.0
    assert not of(dumped(), "request_goodput") and not of(dumped(), "rtfx")


def test_appended_objects_and_the_summary_of_a_sweep_are_runs() -> None:
    objects = [RUN, RUN | {"run_number": 1, "output_throughput": 83.0}]
    for text in ("\n".join(map(json.dumps, objects)), json.dumps(objects, indent=1), dumped() + dumped()):
        found = of(text, "output_throughput")
        assert len(found) == 2 and found[0].workload == found[1].workload


def test_metadata_count_under_names_of_arguments_only() -> None:
    (found,) = of(dumped(
        max_num_seqs="4", tensor_parallel_size=8, host="gpu01", note="x", burstiness=0.5, request_rate=2.0,
        max_concurrency=None, dataset_name="sharegpt", output_len="128"), "output_throughput")
    assert found.workload == {
        "model": "org/tiny", "backend": "openai", "concurrency": "unlimited", "request_rate": "2", "burstiness": "0.5",
        "num_prompts": "100", "dataset": "sharegpt", "output_len": "128", "max_num_seqs": "4",
        "tensor_parallel_size": "8"}
    assert found.metric.kind is None


def test_lengths_of_random_prompts_are_asked_for_or_the_mean() -> None:
    for change, length in (({"random_input_len": 64, "dataset_name": "random"}, "64"), ({"dataset": "random"}, "32"),
                           ({"input_len": 7}, "7"), ({"random_input_len": 64, "dataset_name": "sharegpt"}, None)):
        assert of(dumped(**change), "output_throughput")[0].workload.get("input_len") == length


def test_embeddings_generate_nothing() -> None:
    run = {key: value for key, value in RUN.items() if not key.endswith(("ttft_ms", "tpot_ms", "itl_ms"))
           and key not in ("output_throughput", "total_output_tokens", "failed")}
    found = vllm.read(json.dumps(run | {"median_e2el_ms": 40.0}), "r").values
    assert {value.metric.name for value in found if value.metric.primary} == {"request_throughput", "median_e2el_ms"}


def test_fewer_answers_than_requests_are_partial() -> None:
    (found,) = of(dumped(completed=97, failed=3), "output_throughput")
    assert (found.value, found.status, found.why) == (82.9, "partial", "3 of 100 requests failed")
    assert found.workload["num_prompts"] == "100"
    old = {key: value for key, value in RUN.items() if key != "failed"} | {"completed": 90}
    (found,) = of(json.dumps(old), "output_throughput")
    assert found.why == "10 of 100 requests failed"
    (found,) = of(dumped(num_prompts=120), "output_throughput")  # a data set that is smaller than asked for
    assert found.status == "ok"


def test_text_of_new_versions() -> None:
    report = read(NEW, "r.txt")
    assert (report.tool, report.format) == ("vllm", "text")
    found = {value.metric.name: value for value in report.values}
    assert found["output_throughput"].workload == {
        "concurrency": "256", "request_rate": "inf", "num_prompts": "100", "input_len": "450"}
    assert found["output_throughput"].metric.kind == "serving-high"
    assert {value.why for value in report.values} == {"2 of 100 requests failed"}
    assert found["p99.9_tpot_ms"].value == 51.96 and found["median_e2el_ms"].value == 900
    assert found["request_goodput"].value == 0  # no request met what was asked of it
    slow = NEW.replace("Benchmark duration", "Request rate configured (RPS):           2.00\nBenchmark duration")
    assert of(slow, "output_throughput")[0].workload["request_rate"] == "2"


def test_text_of_old_versions_says_nothing_of_the_load() -> None:
    old = "\n".join(line for line in NEW.splitlines() if not line.startswith(("Failed", "Maximum")))
    (found,) = of(old.replace("Total token", "Total Token") + "\n", "total_token_throughput")
    assert found.status == "ok" and found.metric.kind is None
    assert found.workload == {"num_prompts": "98", "input_len": "450"}


def test_crlf_and_a_title_in_words_alone() -> None:
    assert of(NEW.replace("\n", "\r\n"), "output_throughput")[0].value == 16.13
    with pytest.raises(ReportError, match=r"^r: there is no title of a report$"):
        vllm.read("we saw Serving Benchmark Result somewhere", "r")


def test_no_result_is_refused_with_its_line() -> None:
    with pytest.raises(ReportError, match=r"^r:1: completed is missing"):
        vllm.read('{"request_throughput": 1, "tokenizer_id": "x"}', "r")
    with pytest.raises(ReportError, match=r"^r:2: there is no metric in the report$"):
        vllm.read(f'{json.dumps(RUN)}\n{{"completed": 3}}', "r")
    with pytest.raises(ReportError, match=r"^r:9: the report ends in the middle of an object$"):
        vllm.read("\n".join(dumped().split("\n")[:9]), "r")


def test_nothing_private_enters() -> None:
    text = dumped(label="mine", hostname="gpu01", api_key="hunter2", model_id="/home/bob/tiny",
                  generated_texts=["hunter2"], errors=["", "hunter2"], ttfts=[0.1, 0.2])
    assert not [word for word in ("hunter2", "bob", "gpu01", "mine", "20260816") if word in repr(vllm.read(text, "r"))]
