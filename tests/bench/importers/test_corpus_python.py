"""Public reports on models, commands and code: each is read, with what is known of it, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from snapshot.bench.importers import read
from snapshot.bench.report import Report, ReportError, Value

KINDS = ("bench-sglang", "bench-vllm-json", "bench-vllm-text", "bench-llama-bench-jsonl", "bench-llama-bench-md",
         "bench-hyperfine", "bench-pytest-benchmark", "bench-pyperf", "bench-google-benchmark")

# file -> why it is refused
REFUSED = {
    "bench-sglang/sharegpt-rr5.wrapped-truncated.jsonl.txt": ":11: the report ends in the middle of an object",
    "bench-llama-bench-md/gemma-4-31B-it-BF16-00001-of-00002__vulkan_amdvlk__fa1.log":
        ":21: there is no result: terminate called after throwing an instance of 'vk::DeviceLostError'",
    "bench-google-benchmark/test4_run.json": ":1: benchmarks[0].real_time is missing",
    "bench-google-benchmark/test4_run0.json": ":1: benchmarks has no measured benchmark in it",
    "bench-google-benchmark/test4_run1.json": ":1: benchmarks has no measured benchmark in it",
}
# file -> metric, how many runs of it, and the value of the first
KNOWN: dict[str, list[tuple[str, int, float]]] = {
    "bench-sglang/dlora-rr2.txt": [("output_throughput", 1, 825.94), ("median_e2e_latency_ms", 1, 606.86)],
    "bench-vllm-json/bench_serve_v0.25.1.json": [
        ("request_throughput", 1, 5.180810671273421), ("mean_ttft_ms", 1, 215.53594200008774)],
    "bench-vllm-json/sweep-seqs4-run0.json": [("request_throughput", 1, 5.859229976904171)],
    "bench-vllm-json/sweep-seqs4-run1.json": [("request_throughput", 1, 12.460566958863927)],
    "bench-vllm-json/sweep-seqs4-summary.json": [("request_throughput", 2, 5.859229976904171)],
    "bench-vllm-text/l40-gpt-oss-120b-serve.txt": [
        ("output_throughput", 1, 570.52), ("mean_ttft_ms", 1, 44668.95), ("total_token_throughput", 1, 11599.66)],
    "bench-vllm-text/qwen2.5-vl-phonetest.txt": [("output_throughput", 1, 16.13), ("p99_itl_ms", 1, 55.69)],
    "bench-llama-bench-md/gpt-oss-120b-mxfp4-00001-of-00003__vulkan_amdvlk__fa1.log": [("avg_ts", 2, 664.67)],
    "bench-llama-bench-md/gpt-oss-20b-mxfp4__vulkan_radv__fa1.log": [("avg_ts", 2, 1692.49)],
    "bench-hyperfine/zeroows-1brc.json": [("time", 6, 13.148435542520001)],
    "bench-pytest-benchmark/gha-pytest_output.json": [("time", 2, 2.2300000000363696e-05)],
    "bench-pyperf/mult_list_py37.json": [("time", 60, 2.092050155777514e-06)],
    "bench-pyperf/telco.json": [("time", 40, 0.022616759166)],
    "bench-google-benchmark/test1_run1.json": [("real_time", 14, 10.0), ("cpu_time", 14, 10.0)],
    "bench-google-benchmark/test1_run2.json": [("real_time", 14, 10.0), ("cpu_time", 14, 10.0)],
}


def report(path: Path) -> Report:
    return read(path.read_text(), path.name)


def of(path: Path, metric: str) -> list[Value]:
    return [value for value in report(path).values if value.metric.name == metric]


@pytest.mark.parametrize("kind", KINDS)
def test_every_report_is_read_or_refused_with_line_and_reason(corpus: Path, kind: str) -> None:
    paths = [path for path in sorted((corpus / kind).rglob("*")) if path.is_file()]
    for path in paths:
        if why := REFUSED.get(str(path.relative_to(corpus))):
            with pytest.raises(ReportError) as error:
                report(path)
            assert str(error.value) == path.name + why
        else:
            found = report(path)
            assert found.tool == kind.removeprefix("bench-").removesuffix("-json").removesuffix("-text").removesuffix(
                "-jsonl").removesuffix("-md")
            assert any(value.metric.primary for value in found.values)
    assert paths


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known_of_a_report_is_found_in_it(corpus: Path, name: str) -> None:
    for metric, count, first in KNOWN[name]:
        found = of(corpus / name, metric)
        assert len(found) == count and found[0].value == pytest.approx(first, rel=1e-9)


def test_no_report_that_is_to_be_refused_is_gone(corpus: Path) -> None:
    assert all((corpus / name).is_file() for name in REFUSED)


def test_times_between_tokens_of_a_server_that_did_not_stream(corpus: Path) -> None:
    (found,) = of(corpus / "bench-sglang/dlora-rr2.txt", "median_tpot_ms")
    assert (found.value, found.status, found.why) == (None, "partial", "median_tpot_ms is -0")


def test_a_pair_before_and_after_is_one_workload(corpus: Path) -> None:
    before, after = (sorted((corpus / "bench-llama-bench-jsonl" / folder).iterdir()) for folder in (
        "default-profile", "profile_performance_iommu-off"))
    for one, other in zip(before, after, strict=True):
        pairs = list(zip(of(one, "avg_ts"), of(other, "avg_ts"), strict=True))
        assert len(pairs) == 9 and all(a.workload == b.workload for a, b in pairs)
        assert [a.workload["n_depth"] for a, _ in pairs] == [str(8192 * step) for step in range(9)]
        assert all(a.within and a.within.count == 3 for a, _ in pairs)
        assert all((b.value or 0) > (a.value or 0) for a, b in pairs)


def test_a_summary_that_somebody_made_of_several_reports_is_no_report_of_llama_bench(corpus: Path) -> None:
    from snapshot.bench.importers import llama_bench

    (path,) = (corpus / "bench-llama-bench-csv").iterdir()
    assert not llama_bench.recognises(path.read_text())


def test_names_of_hosts_and_users_do_not_enter(corpus: Path) -> None:
    planted = {
        "bench-pytest-benchmark/gha-pytest_output.json": ("Corgi", "2019"),
        "bench-pyperf/telco.json": ("selma", "/home"), "bench-pyperf/mult_list_py37.json": ("apu", "48 C"),
        "bench-vllm-json/sweep-seqs4-run0.json": ("20260818",),
    }
    for name, words in planted.items():
        text = repr(report(corpus / name))
        assert not [word for word in words if word in text]
