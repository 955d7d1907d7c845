"""Summaries of MLPerf LoadGen: mlperf_log_summary.txt, lines ``key : value`` under three titles.

github.com/mlcommons/inference, loadgen/results.cc, PerformanceSummary::LogSummary. The first part has the result of
the scenario, and whether it is valid: one that is not is no result. Latencies are nanoseconds. Neither the model nor
the data is named: summaries of several models have to be told apart by the user. The name of the system under test is
dropped; an accuracy run measures no speed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ...records import field, record
from ...regexes import regex
from ..report import Metric, Report, Value, Workload, bad
from .entries import words
from .printed import finite

TITLE = "MLPerf Results Summary"
ASKED = ("samples_per_query", "target_qps", "target_latency (ns)", "max_async_queries", "min_duration (ms)",
         "min_query_count", "performance_sample_count")
_PERCENTILE = regex(r"(\d{1,2}(?:\.\d+)?)(?:th)? (first token )?percentile "
                    r"(latency|first token latency|time (?:to|per) output token) \(ns\)")
_MEAN = regex(r"Mean (latency|first token latency|time (?:to|per) output token) \(ns\)", re.IGNORECASE)
_RATES = {
    "Samples per second": ("samples_per_second", "samples/s"), "Tokens per second": ("tokens_per_second", "tok/s"),
    "Scheduled samples per second": ("scheduled_samples_per_second", "samples/s"),
    "Completed samples per second": ("completed_samples_per_second", "samples/s"),
    "Completed tokens per second": ("completed_tokens_per_second", "tok/s"),
    "QPS w/ loadgen overhead": ("qps_with_overhead", "queries/s"),
    "QPS w/o loadgen overhead": ("qps_without_overhead", "queries/s"),
    "TPS w/ loadgen overhead": ("tps_with_overhead", "tok/s"),
    "TPS w/o loadgen overhead": ("tps_without_overhead", "tok/s"),
}


@record()
class _Summary:
    """One run: its result, other figures, what was asked for."""

    result: dict[str, str] = field(default_factory=dict)
    stats: dict[str, str] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)


def recognises(text: str) -> bool:
    """Whether the title is there."""
    return TITLE in text


def read(text: str, file: str) -> Report:
    """The figures of all runs in TEXT. ReportError when there is none, or one is of an accuracy run."""
    runs = _summaries(text.splitlines())
    for run in runs:
        if run.result.get("Mode", "").startswith("Accuracy"):
            bad(file, "a run for accuracy measures no speed")
    values = [value for run in runs for value in _values(run)]
    return Report(tool="mlperf", format="text", values=values) if values else bad(file, "the summary has no figure")


def _summaries(lines: Sequence[str]) -> list[_Summary]:
    runs: list[_Summary] = []
    part: dict[str, str] = {}
    for line in lines:
        if line.strip() == TITLE:
            runs.append(_Summary())
            part = runs[-1].result
        elif runs and line.strip() == "Additional Stats":
            part = runs[-1].stats
        elif runs and line.strip() == "Test Parameters Used":
            part = runs[-1].asked
        elif ":" in line:
            key, _, said = line.partition(":")
            part.setdefault(key.strip(), said.strip(" :\t"))
    return runs


def _values(run: _Summary) -> Iterator[Value]:
    """Each figure once: those of the result first."""
    workload, seen = _workload(run), set[str]()
    valid = run.result.get("Result is")
    missed = [key.removesuffix(" satisfied").lower() for key, said in run.result.items() if said == "NO"]
    why = None if valid == "VALID" else f"the result is {valid}: {', '.join(missed) or 'no reason given'}"
    cut = None if valid else "the summary ends before it says whether it is valid"
    tokens = any("oken" in key for key in (*run.result, *run.stats))
    for primary, figures in ((True, run.result), (False, run.stats)):
        for label, said in figures.items():
            metric, value = _metric(label, primary, workload, tokens), finite(said)
            if metric and value is not None and metric.name not in seen:
                seen.add(metric.name)
                value = value / 1e6 if metric.unit == "ms" else value
                yield Value(metric=metric, workload=workload, value=None if valid and why else value,
                            status="partial" if cut else "failed" if why else "ok", why=cut or why)


def _workload(run: _Summary) -> Workload:
    told: Mapping[str, str] = {"scenario": run.result.get("Scenario", ""), "mode": run.result.get("Mode", ""),
                               **{key.partition(" ")[0]: run.asked.get(key, "") for key in ASKED}}
    return words(told)


def _metric(label: str, primary: bool, workload: Workload, tokens: bool) -> Metric | None:
    """The metric behind a LABEL; None for what is none. A served model is one that gives tokens."""
    low = workload.get("scenario", "").replace(" ", "") in ("SingleStream", "MultiStream")
    kind = ("serving-low" if low else "serving-high") if tokens else None
    if label in _RATES:
        name, unit = _RATES[label]
        return Metric(name=name, unit=unit, better="higher", kind=kind, primary=primary)
    if not (name := _latency(label)):
        return None
    return Metric(name=name, unit="ms", better="lower", kind="first-token" if "first_token" in name else kind,
                  primary=primary)


def _latency(label: str) -> str:
    """mean_latency, p99_first_token_latency, p50_time_per_output_token, ...; empty when LABEL is none."""
    mean, share = _MEAN.fullmatch(label), _PERCENTILE.fullmatch(label)
    if not mean and not share:
        return ""
    what = (mean[1] if mean else f"{share[2] or ''}{share[3]}" if share else "").lower().replace(" to ", " per ")
    return f"{f'p{float(share[1]):g}' if share else 'mean'}_{what.replace(' ', '_')}"
