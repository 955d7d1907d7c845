"""llama.cpp's ``llama-bench``, from its JSON (-o json, jsonl), CSV (-o csv) and Markdown (-o md, the default).

``tools/llama-bench/llama-bench.cpp`` and its README. A row is a test: it reads ``n_prompt`` tokens, generates
``n_gen``, or both, behind ``n_depth`` tokens of context. The repetitions of a test are within one process. Builds
differ in which settings they write; Markdown has those that are not as they are by default, under short names. So a
setting counts where it is not the default, and a report of either form is the same workload. Markdown names the type
of the model only, not its file. ``-o sql`` is not read, nor a summary that somebody made of several reports.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ...sections.bench import Within
from ..report import Metric, Report, Value, Workload, bad, within
from . import llama_bench_table as table
from .entries import Entry, base_name, entries, mentions, number, word, words
from .printed import coarse_percent

_DEFAULTS: dict[str, tuple[str, ...]] = {  # cmd_params_defaults, of old builds too
    "n_batch": ("2048",), "n_ubatch": ("512",), "cpu_mask": ("0x0",), "cpu_strict": ("0",), "poll": ("50",),
    "type_k": ("f16",), "type_v": ("f16",), "n_cpu_moe": ("0",), "split_mode": ("layer",), "main_gpu": ("0",),
    "no_kv_offload": ("0",), "devices": ("auto",), "tensor_split": ("0.00", "0"), "tensor_buft_overrides": ("none",),
    "use_mmap": ("1",), "use_direct_io": ("0",), "load_mode": ("auto", "mmap"), "embeddings": ("0",),
    "no_op_offload": ("0",), "no_host": ("0",), "fit_target": ("0",), "fit_min_ctx": ("0",),
    "repack": ("1",), "moe_cache": ("auto",), "n_gen_warmup": ("0", "1"),
}
_ALWAYS = ("model_type", "n_threads", "n_gpu_layers", "flash_attn")  # their defaults differ by build or host
_OLD_BACKENDS = ("cuda", "vulkan", "kompute", "metal", "sycl", "gpu_blas", "blas")  # a truth value each


def recognises(text: str) -> bool:
    """Whether TEXT is a report of llama-bench."""
    return mentions(text, "avg_ts", "n_prompt", "model_filename") or table.is_table(text)


def read(text: str, file: str) -> Report:
    """The tests of TEXT. ReportError with the line of what is cut off or is no row; for no row at all."""
    if mentions(text):
        rows, form = entries(text, file), "json" if text.lstrip("\ufeff \t\r\n").startswith("[") else "jsonl"
    elif table.is_csv(text):
        rows, form = table.csv_rows(text, file), "csv"
    else:
        rows, form = table.markdown_rows(text, file), "markdown"
    builds = {_build(row) for row in rows}
    return Report(tool="llama-bench", format=form, version=builds.pop() if len(builds) == 1 else None,
                  values=[_value(row) for row in rows])


def _value(row: Entry) -> Value:
    """The tokens per second of a test."""
    found, printed = row.number("avg_ts"), row.table.get("avg_ts")
    if found is None:
        row.bad("avg_ts", "is missing")
    workload = _workload(row)
    metric = Metric(name="avg_ts", unit="tok/s", better="higher", kind=_kind(workload), primary=True,
                    minimum_percent=coarse_percent(printed) if isinstance(printed, str) else None)
    if not 0 < found < math.inf:
        return Value(metric=metric, workload=workload, value=None, status="partial", why=f"avg_ts is {word(found)}")
    return Value(metric=metric, workload=workload, value=found, within=_within(row))


def _within(row: Entry) -> Within | None:
    """What the repetitions were like; of a table only their standard deviation is known."""
    if each := [one for one in row.numbers("samples_ts") if math.isfinite(one)]:
        return within(each)
    spread = row.finite("stddev_ts")
    return None if spread is None else Within(stddev=spread)


def _workload(row: Entry) -> Workload:
    sizes = {key: row.number(key) for key in ("n_prompt", "n_gen", "n_depth")}
    if sizes["n_prompt"] is None or sizes["n_gen"] is None:
        bad(row.file, "there is a row without n_prompt or n_gen", row.line)
    return words({
        "model": base_name(row.text("model_filename") or ""), "backend": _backend(row.table),
        **{key: _flag(row.text(key)) for key in _ALWAYS}, **{key: size or 0.0 for key, size in sizes.items()},
        **{key: value for key in _DEFAULTS if (value := _flag(row.text(key))) not in (None, *_DEFAULTS[key])},
    })


def _flag(text: str | None) -> str | None:
    """A truth value as 0 or 1, as tables have it."""
    return {"true": "1", "false": "0"}.get(text or "", text)


def _backend(row: Mapping[str, object]) -> str | None:
    if isinstance(found := row.get("backends"), str):
        return found
    told = {name: row[name] for name in _OLD_BACKENDS if name in row}
    return next((name for name, value in told.items() if value is True or number(value) == 1), "CPU") if told else None


def _kind(workload: Workload) -> str | None:
    """What decides: reading a prompt is the time to the first token, generating is serving one request at a time."""
    if workload.get("backend") in ("CPU", "BLAS", "blas"):
        return "cpu"
    reads, writes = workload["n_prompt"] != "0", workload["n_gen"] != "0"
    return None if reads and writes else "first-token" if reads else "serving-low"


def _build(row: Entry) -> str | None:
    commit, count = row.text("build_commit"), row.text("build_number")
    return f"{commit} ({count})" if commit and count else commit
