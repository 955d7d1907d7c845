"""What benchmarks of a served model measure, as SGLang's and vLLM's name it in their JSON.

vLLM's ``vllm/benchmarks/serve.py``, of which SGLang's ``bench_serving.py`` is a relative. One process of the benchmark
is one run; requests and tokens within it are spread. Where a server does not stream, the first token comes with the
last one: the tools then write times between tokens of 0, -0 and less, which are no measurement.
"""

from __future__ import annotations

import math

from ...regexes import regex
from ...sections.bench import Within
from ..report import Metric, Value, Workload, bad, within
from .entries import Entry, number, word
from .printed import coarse_percent

_RATES = {
    "output_throughput": "tok/s", "input_throughput": "tok/s", "total_throughput": "tok/s",
    "total_token_throughput": "tok/s", "max_output_tokens_per_s": "tok/s", "request_throughput": "req/s",
    "request_goodput": "req/s",
}
_ACCEPTED = {  # by the model, of what speculation proposed: the host has no part in it
    "accept_length": "tok", "spec_decode_acceptance_length": "tok", "spec_decode_acceptance_rate": "%",
}
_LATENCY = regex(r"(mean|median|p\d{1,2}(?:\.\d{1,4})?)_(ttft|tpot|itl|e2el|e2e_latency)_ms")
_BETWEEN = ("tpot", "itl")  # times between the tokens of an answer
_ENDS = ("e2el", "e2e_latency")
_LOW = 8  # requests at once, up to which latency decides
_SURE = 20  # answers, from which on their mean length is not a whole number by chance


def values(results: Entry, workload: Workload, doubt: str | None = None) -> list[Value]:
    """The metrics of one run. DOUBT is why all of it is in doubt.

    ReportError when it does not tell how many requests were completed, or has no metric.
    """
    run = _Run(results, workload, doubt)
    return [run.value(key, found) for key, found in run.metrics.items()] or bad(
        results.file, "there is no metric in the report", results.line)


def requests(results: Entry) -> tuple[int, int]:
    """How many requests were completed and how many were sent; as many, where the report does not tell."""
    completed, failed, sent = (results.number(key) for key in ("completed", "failed", "num_prompts"))
    if completed is None or not 0 <= completed < math.inf:
        results.bad("completed", "is missing: how many requests were completed")
    if isinstance(errors := results.table.get("errors"), list):
        failed = max(failed or 0, sum(map(bool, errors)))
    total = completed + failed if failed and 0 < failed < math.inf else completed
    return int(completed), int(max(total, sent) if failed is None and sent and sent < math.inf else total)


def lengths(results: Entry) -> dict[str, object]:
    """The mean length of prompts, and that of answers where they are all as long as asked for."""
    completed = requests(results)[0]
    read, written = (next(filter(None, map(results.number, keys)), None) for keys in (
        ("total_input_tokens", "total_input"), ("total_output_tokens", "total_output")))
    found: dict[str, object] = {}
    if completed and read and read < math.inf:
        found["input_len"] = float(f"{read / completed:.6g}")
    if completed >= _SURE and written and not written % completed:
        found["output_len"] = written // completed
    return found


def asked(results: Entry, key: str) -> str | None:
    """What was asked for under KEY: 2, 2.0 and "2.0" are the same. None when the report does not tell."""
    text = results.text(key)
    found = number(text)
    return text if found is None else word(found)


def concurrency(results: Entry) -> str | None:
    """How many requests may be under way; None when the report does not tell."""
    return asked(results, "max_concurrency") or ("unlimited" if "max_concurrency" in results.table else None)


class _Run:
    """One run: which of its numbers are metrics, and which of these are to be believed."""

    def __init__(self, results: Entry, workload: Workload, doubt: str | None) -> None:
        self.results, self.workload = results, workload
        self.completed, sent = requests(results)
        lost = f"{sent - self.completed} of {sent} requests failed" if sent > self.completed else None
        self.doubts = [why for why in (lost, doubt) if why]
        self.metrics = self._metrics()
        self.broken = self._broken()
        self.primary = self._primary()
        self.load = _load(workload)

    def _metrics(self) -> dict[str, float]:
        tokens = self.results.number("total_output_tokens")
        single = bool(self.completed) and tokens is not None and tokens <= self.completed  # there is nothing between
        found: dict[str, float] = {}
        for key in self.results.table:
            latency = _LATENCY.fullmatch(key)
            if key in _RATES or key in _ACCEPTED or (latency and not (single and latency[2] in _BETWEEN)):
                number = self.results.number(key)
                found |= {} if number is None else {key: number}
        return found

    def _primary(self) -> set[str]:
        if "output_throughput" not in self.metrics:  # embeddings: nothing is generated
            return {"request_throughput", *(f"median_{end}_ms" for end in _ENDS)}
        between = "median_tpot_ms" if "median_tpot_ms" in self.metrics else "median_itl_ms"
        return {"output_throughput", "median_ttft_ms", between}

    def _broken(self) -> dict[str, str]:
        """Family of latencies -> why it is no measurement."""
        broken: dict[str, str] = {}
        for key, found in self.metrics.items():
            latency = _LATENCY.fullmatch(key)
            if latency and found <= 0:
                broken.setdefault(latency[2], f"{key} is {found:g}")
        late = next((end for end in _ENDS if self._median("ttft") > self._median(end) + 0.01), None)  # as it is rounded
        if self.metrics.get("mean_itl_ms", 1) <= 0:
            broken.setdefault("ttft", "no token came by itself, and so no first one")
        elif late:
            broken.setdefault("ttft", f"median_ttft_ms is above median_{late}_ms")
        return broken

    def _median(self, family: str) -> float:
        return self.metrics.get(f"median_{family}_ms", -math.inf if family == "ttft" else math.inf)

    def value(self, key: str, found: float) -> Value:
        metric, latency = self._metric(key), _LATENCY.fullmatch(key)
        family = latency[2] if latency else ""
        if not self.completed:
            return Value(metric=metric, workload=self.workload, value=None, status="failed", why="no request succeeded")
        why = self.broken.get(family) or _unlikely(key, found)
        doubts = [*self.doubts, *([why] if why else [])]
        return Value(metric=metric, workload=self.workload, value=None if why else found,
                     status="partial" if doubts else "ok", why="; ".join(doubts) or None,
                     within=None if why or not key.startswith("median_") else self._within(family, found))

    def _metric(self, key: str) -> Metric:
        latency = _LATENCY.fullmatch(key)
        kind = None if key in _ACCEPTED else "first-token" if latency and latency[2] == "ttft" else self.load
        unit = "ms" if latency else _RATES.get(key) or _ACCEPTED[key]
        printed = self.results.table[key]
        return Metric(name=key, unit=unit, better="lower" if latency else "higher", kind=kind,
                      primary=key in self.primary,
                      minimum_percent=coarse_percent(printed) if isinstance(printed, str) else None)

    def _within(self, family: str, median: float) -> Within | None:
        """What the requests, or the tokens, were like: from each of them where the report has them."""
        if each := self._each(family):
            return within(each)
        highest, spread = (self.results.finite(f"{name}_{family}_ms") for name in ("max", "std"))
        if highest is None and spread is None:
            return None
        return Within(count=None if family == "itl" else self.completed, median=median, max=highest, stddev=spread)

    def _each(self, family: str) -> list[float]:
        """The times of --output-details and --save-detailed, which are in seconds."""
        if family == "ttft":
            seconds = [one for one in self.results.numbers("ttfts") if one > 0]  # 0: the request failed
        elif family == "itl" and isinstance(lists := self.results.table.get("itls"), list):
            seconds = [one for each in lists for one in Entry({"": each}, "").numbers("")]
        else:
            return []
        return [1000 * one for one in seconds if math.isfinite(one)]


def _load(workload: Workload) -> str | None:
    """What decides, by how many requests are under way at once; None when that is not known."""
    prompts, limit = _count(workload.get("num_prompts")), _count(workload.get("concurrency"))
    most = min((count for count in (prompts, limit) if count), default=None)
    if most is None or (most > _LOW and workload.get("request_rate") != "inf"):
        return None  # requests that come one by one may find an idle server
    if limit is None and workload.get("concurrency") != "unlimited":
        return None
    return "serving-low" if most <= _LOW else "serving-high"


def _count(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else None


def _unlikely(key: str, found: float) -> str | None:
    """Why FOUND is no value of KEY."""
    least = found >= 0 if key in ("request_goodput", *_ACCEPTED) else found > 0
    return None if least and math.isfinite(found) else f"{key} is {word(found)}"
