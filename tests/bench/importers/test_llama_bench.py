"""Reports of llama-bench in its forms: the same workload in each, a test a sample, repetitions as spread."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapshot.bench.importers import llama_bench, read
from snapshot.bench.report import ReportError

ROW: dict[str, Any] = {
    "build_commit": "0a1b2c3d4", "build_number": 9927, "cpu_info": "CPU", "gpu_info": "GPU", "backends": "CUDA",
    "model_filename": "/home/bob/models/tiny-Q8_0.gguf", "model_type": "tiny 1B Q8_0", "n_batch": 2048,
    "n_ubatch": 512, "n_threads": 16, "cpu_mask": "0x0", "cpu_strict": False, "poll": 50, "type_k": "f16",
    "type_v": "f16", "n_gpu_layers": 99, "split_mode": "layer", "main_gpu": 0, "no_kv_offload": False,
    "flash_attn": 1, "devices": "auto", "tensor_split": "0.00", "tensor_buft_overrides": "none", "use_mmap": True,
    "embeddings": False, "no_op_offload": 0, "no_host": False, "n_prompt": 0, "n_gen": 128, "n_depth": 0,
    "test_time": "2026-07-12T12:07:26Z", "avg_ns": 1, "stddev_ns": 1, "avg_ts": 120.5, "stddev_ts": 0.5,
    "samples_ns": [1, 2, 3], "samples_ts": [120.0, 120.5, 121.0],
}
MARKDOWN = """\
ggml_cuda_init: found 1 CUDA devices:
| model                          |       size |     params | backend    | ngl | n_ubatch | fa |            test |                  t/s |
| ------------------------------ | ---------: | ---------: | ---------- | --: | -------: | -: | --------------: | -------------------: |
| tiny 1B Q8_0                   |   1.50 GiB |     1.00 B | CUDA       |  99 |      256 |  1 |           pp512 |      7340.20 ± 23.45 |
| tiny 1B Q8_0                   |   1.50 GiB |     1.00 B | CUDA       |  99 |      256 |  1 |          tg 128 |          7.1 ± 0.10 |
| tiny 1B Q8_0                   |   1.50 GiB |     1.00 B | CUDA       |  99 |      256 |  1 | pp64+tg8 @ d512 |        116.71 ± 0.60 |

build: 0a1b2c3d4 (9927)
"""  # noqa: E501 - as the tool writes it


def jsonl(*changes: dict[str, Any]) -> str:
    return "".join(json.dumps(ROW | change) + "\n" for change in changes)


def csv(row: dict[str, Any]) -> str:
    """A row as csv_printer writes it: every field quoted, truth values as 0 and 1."""
    kept = {key: int(value) if isinstance(value, bool) else value for key, value in row.items() if "samples" not in key}
    return "noise of the backend\n" + ",".join(kept) + "\n" + ",".join(f'"{value}"' for value in kept.values()) + "\n"


def test_a_row_is_a_sample_and_its_repetitions_are_spread() -> None:
    report = read(jsonl({}, {"n_depth": 8192}), "r.jsonl")
    assert (report.tool, report.format, report.version) == ("llama-bench", "jsonl", "0a1b2c3d4 (9927)")
    first, second = report.values
    assert (first.value, first.metric.name, first.metric.unit, first.metric.better) == (
        120.5, "avg_ts", "tok/s", "higher")
    assert first.metric.primary and first.metric.kind == "serving-low"
    assert first.within and (first.within.count, first.within.values) == (3, [120.0, 120.5, 121.0])
    assert first.workload == {
        "model": "tiny-Q8_0.gguf", "backend": "CUDA", "model_type": "tiny 1B Q8_0", "n_threads": "16",
        "n_gpu_layers": "99", "flash_attn": "1", "n_prompt": "0", "n_gen": "128", "n_depth": "0"}
    assert second.workload == first.workload | {"n_depth": "8192"}


def test_json_and_csv_tell_the_same_workload() -> None:
    row = ROW | {"use_mmap": False, "no_kv_offload": True, "type_k": "q8_0"}
    (one,), (other,) = (read(text, "r").values for text in (json.dumps([row], indent=1), csv(row)))
    assert one.workload == other.workload
    assert one.workload.items() >= {"use_mmap": "0", "no_kv_offload": "1", "type_k": "q8_0"}.items()
    assert (other.value, other.within and other.within.stddev) == (120.5, 0.5)
    assert read(csv(row), "r").format == "csv" and read(json.dumps([row]), "r").format == "json"


def test_markdown() -> None:
    report = read(MARKDOWN, "r.md")
    assert (report.format, report.version) == ("markdown", "0a1b2c3d4 (9927)")
    common = {"backend": "CUDA", "model_type": "tiny 1B Q8_0", "n_gpu_layers": "99", "n_ubatch": "256",
              "flash_attn": "1"}
    assert [value.workload for value in report.values] == [common | tests for tests in (
        {"n_prompt": "512", "n_gen": "0", "n_depth": "0"}, {"n_prompt": "0", "n_gen": "128", "n_depth": "0"},
        {"n_prompt": "64", "n_gen": "8", "n_depth": "512"})]
    assert [value.value for value in report.values] == [7340.2, 7.1, 116.71]
    assert [value.metric.kind for value in report.values] == ["first-token", "serving-low", None]
    assert [value.metric.minimum_percent for value in report.values] == [None, 2.1, None]
    assert report.values[0].within and report.values[0].within.stddev == 23.45
    assert read(MARKDOWN.partition("\n\n")[0], "r").version is None


def test_old_builds_name_the_backend_by_truth_values() -> None:
    old = {key: value for key, value in ROW.items() if key not in ("backends", "n_depth", "samples_ts")}
    (found,) = llama_bench.read(json.dumps(old | {"cuda": True, "metal": False, "blas": True}), "r").values
    assert found.workload["backend"] == "cuda" and found.workload["n_depth"] == "0"
    (found,) = llama_bench.read(json.dumps(old | {"cuda": False, "blas": False}), "r").values
    assert found.workload["backend"] == "CPU" and found.metric.kind == "cpu"
    (found,) = llama_bench.read(json.dumps(old), "r").values
    assert "backend" not in found.workload


def test_no_speed_is_no_sample() -> None:
    (found,) = llama_bench.read(jsonl({"avg_ts": 0.0}), "r").values
    assert (found.value, found.status, found.why) == (None, "partial", "avg_ts is 0")


@pytest.mark.parametrize(("text", "why"), [
    (jsonl({}, {})[:-20], r"r:2: the report ends in the middle of an object; what is before it is whole \(1\)"),
    (f"[\n{json.dumps(ROW)},\n", "r:2: the report ends in the middle of an object"),
    (jsonl({"avg_ts": None}), "r:1: avg_ts is missing"),
    (jsonl({"n_gen": None}), "r:1: there is a row without n_prompt or n_gen"),
    (csv(ROW) + '"1","2"\n', f"r:4: a row has 2 fields for {len(ROW) - 2} columns"),
    (csv(ROW)[:-10], "r:3: no CSV: unexpected end of data"),
    (csv(ROW).partition("\n")[0] + "\n" + csv(ROW).split("\n")[1], "r:2: there is no row in the table"),
    (MARKDOWN[:MARKDOWN.index("7340") + 12], "r:4: a row is cut off, or not one of 9 cells"),
    (MARKDOWN.replace("|  99 ", "", 1), "r:4: a row is cut off, or not one of 9 cells"),
    (MARKDOWN.replace("tg 128", "xy 128"), "r:5: no test of llama-bench: 'xy 128'"),
    (MARKDOWN.replace("7.1 ± 0.10", "7.1"), "r:5: no t/s: '7.1'"),
    ("ggml_cuda_init: found\n/usr/bin/llama-bench() [0x1]\nterminate called after throwing 'x'\n",
     "r:3: there is no result: terminate called after throwing 'x'"),
    ("\n".join(MARKDOWN.split("\n")[:3]) + "\n", "r:3: there is no result: the run ended before its first test did"),
])
def test_what_is_cut_off_has_a_line_and_a_reason(text: str, why: str) -> None:
    assert llama_bench.recognises(text)
    with pytest.raises(ReportError, match=f"^(?:{why})"):
        llama_bench.read(text, "r")


def test_a_summary_of_several_reports_is_not_one() -> None:
    assert not llama_bench.recognises("model,toolbox,n_prompt,n_gen,avg_ts,stddev_ts,build_commit\nx,y,0,1,2,3,4\n")
    assert not llama_bench.recognises("| model | test | tokens |\n|---|---|---|\n| x | y | 1 |\n")
    assert not llama_bench.recognises("")


def test_nothing_private_enters() -> None:
    for text in (jsonl({}), csv(ROW)):
        assert not [word for word in ("bob", "models", "2026") if word in repr(llama_bench.read(text, "r"))]
