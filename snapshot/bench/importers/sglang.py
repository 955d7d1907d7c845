"""SGLang's ``python -m sglang.bench_serving``: the block of text that it prints, and the JSONL of --output-file.

``python/sglang/bench_serving.py``, printing of results and ``save_results``. The JSONL is appended to, one object a
run; ``request_rate`` may be ``Infinity``. Old versions do not name the model, and none says how many requests were
sent unless --output-details lists them: ``num_prompts`` is then how many were completed. A report can hold prompts'
answers and, in ``server_info``, all settings of the server: only what tells of the workload is looked at.
"""

from __future__ import annotations

from ..report import Report, Workload
from . import serving_text
from .entries import Entry, entries, mentions, model_name, words
from .serving import asked, concurrency, lengths, requests, values

_SERVER = ("tp_size", "dp_size", "pp_size", "ep_size", "quantization", "dtype", "kv_cache_dtype",
           "speculative_algorithm")


def recognises(text: str) -> bool:
    """Whether TEXT is a report of sglang.bench_serving."""
    if mentions(text, "total_output_tokens_retokenized"):
        return True
    return serving_text.is_block(text) and any(label in text for label in ("Traffic request rate:", "(retokenized):"))


def read(text: str, file: str) -> Report:
    """The runs of TEXT. ReportError with the line of what is cut off or is no result."""
    if serving_text.is_block(text) and not mentions(text):
        return Report(tool="sglang", format="text", values=serving_text.runs(text, file, _workload))
    runs = entries(text, file)
    versions = {run.entry("server_info").text("version") for run in runs}
    return Report(tool="sglang", format="jsonl", version=versions.pop() if len(versions) == 1 else None,
                  values=[value for run in runs for value in values(run, _workload(run))])


def _workload(run: Entry) -> Workload:
    info = run.entry("server_info")
    return words({
        "model": model_name(run.text("model") or info.text("model_path")), "backend": run.text("backend"),
        "concurrency": concurrency(run), "request_rate": asked(run, "request_rate"),
        "num_prompts": asked(run, "num_prompts") or requests(run)[1], "dataset": run.text("dataset_name"),
        **_lengths(run), **{key: asked(info, key) for key in _SERVER},
    })


def _lengths(run: Entry) -> dict[str, object]:
    """How long prompts and answers are: as asked for where the data set is one of these, else as they were on average.

    The report has the arguments of these data sets whichever was used.
    """
    dataset = run.text("dataset_name") or ""
    if dataset.startswith(("random", "image")):
        return {key: asked(run, f"random_{key}") for key in ("input_len", "output_len", "range_ratio")}
    return {"output_len": asked(run, "sharegpt_output_len")} if dataset == "sharegpt" else lengths(run)
