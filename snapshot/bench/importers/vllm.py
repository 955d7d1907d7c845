"""vLLM's ``vllm bench serve``: the block of text that it prints, and the JSON of --save-result and --append-result.

``vllm/benchmarks/serve.py``. One object a run; ``request_rate`` is a number or ``"inf"``. Neither form tells the data
set or the lengths: the mean length of the prompts stands for them. What the user added with --metadata counts where
it bears the name of an argument of vLLM. ``summary.json`` of a sweep repeats the objects of its ``run=N.json`` files:
only the one or the others can be added.
"""

from __future__ import annotations

from ..report import Report, Workload
from . import serving_text
from .entries import Entry, entries, mentions, model_name, words
from .serving import asked, concurrency, lengths, requests, values

_ARGUMENTS = (  # of the client and of the server, that change the work
    "ramp_up_strategy", "ramp_up_start_rps", "ramp_up_end_rps", "random_range_ratio", "random_prefix_len",
    "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "max_num_seqs", "max_num_batched_tokens",
    "max_model_len", "dtype", "quantization", "kv_cache_dtype",
)


def recognises(text: str) -> bool:
    """Whether TEXT is a report of vllm bench serve."""
    return serving_text.is_block(text) or mentions(text, "request_throughput", "tokenizer_id")


def read(text: str, file: str) -> Report:
    """The runs of TEXT. ReportError with the line of what is cut off or is no result."""
    if serving_text.is_block(text) and not mentions(text):
        return Report(tool="vllm", format="text", values=serving_text.runs(text, file, _workload))
    return Report(tool="vllm", format="json",
                  values=[value for run in entries(text, file) for value in values(run, _workload(run))])


def _workload(run: Entry) -> Workload:
    limit, rate, burstiness = concurrency(run), asked(run, "request_rate"), asked(run, "burstiness")
    return words({
        "model": model_name(run.text("model_id") or run.text("model")),
        "backend": run.text("backend") or run.text("endpoint_type"), "concurrency": limit,
        "request_rate": rate or (limit and "inf"),  # a block that shows the limit shows any rate but inf
        "burstiness": burstiness if burstiness != "1" else None,
        "num_prompts": asked(run, "num_prompts") or requests(run)[1],
        **_lengths(run), **{key: asked(run, key) for key in _ARGUMENTS},
    })


def _lengths(run: Entry) -> dict[str, object]:
    """The data set, and how long prompts and answers are, on average where neither is told.

    The arguments have those of random prompts whichever data set was used.
    """
    dataset = run.text("dataset_name") or run.text("dataset")
    random = (dataset or "random").startswith("random")
    told = {key: asked(run, key) or (asked(run, f"random_{key}") if random else None)
            for key in ("input_len", "output_len")}
    mean = lengths(run) if random and not told["input_len"] else {}
    return {"dataset": dataset, **mean, **{key: found for key, found in told.items() if found}}
