"""The block of text that SGLang's and vLLM's benchmark end with, as entries with the keys of their JSON.

A title within ``=``, rows ``label:   value``, sections within ``-``, and a line of ``=``. Labels differ by version in
case and words; unknown ones are passed over, as is what stands between the blocks of a log. Before its block a
benchmark prints its arguments, ``Namespace(backend='sglang', ...)``: they tell what the block does not.
"""

from __future__ import annotations

from collections.abc import Callable

from ...records import record
from ...regexes import regex
from ..report import Value, Workload, bad
from .entries import Entry
from .serving import values

_TITLE = regex(r"=+ Serving Benchmark Result =+")
_END = regex(r"={20,}")
_LATENCY = regex(r"(mean|median|max|p\d{1,2}(?:\.\d{1,4})?) (ttft|tpot|itl|e2el|e2e latency) \(ms\)")
_LABELS = {
    "backend": "backend", "traffic request rate": "request_rate", "request rate configured (rps)": "request_rate",
    "max request concurrency": "max_concurrency", "maximum request concurrency": "max_concurrency",
    "successful requests": "completed", "failed requests": "failed", "total input tokens": "total_input_tokens",
    "total generated tokens": "total_output_tokens", "request throughput (req/s)": "request_throughput",
    "request goodput (req/s)": "request_goodput", "input token throughput (tok/s)": "input_throughput",
    "output token throughput (tok/s)": "output_throughput",
    "peak output token throughput (tok/s)": "max_output_tokens_per_s", "total throughput (tok/s)": "total_throughput",
    "total token throughput (tok/s)": "total_token_throughput", "accept length": "accept_length",
}
_ARGUMENTS = (
    "backend", "model", "dataset_name", "num_prompts", "request_rate", "max_concurrency", "burstiness", "input_len",
    "output_len", "random_input_len", "random_output_len", "random_range_ratio", "sharegpt_output_len",
)
_ARGUMENT = regex(
    rf"(?:\(|, )({'|'.join(_ARGUMENTS)})=(?:'((?>(?:[^'\\]|\\.)*))'|\"((?>(?:[^\"\\]|\\.)*))\"|([^\s,()'\"]++))")


@record(frozen=True)
class Block:
    """A block, by the keys of the JSON, with what the arguments before it tell besides."""

    entry: Entry
    whole: bool  # its last line is there


def is_block(text: str) -> bool:
    """Whether there is a block in TEXT."""
    return " Serving Benchmark Result " in text


def runs(text: str, file: str, workload: Callable[[Entry], Workload]) -> list[Value]:
    """The metrics of every block of TEXT, with the WORKLOAD of each. ReportError when there is none, as of values."""
    found = blocks(text, file) or bad(file, "there is no title of a report")
    return [value for block in found for value in values(
        block.entry, workload(block.entry), None if block.whole else "the report breaks off")]


def blocks(text: str, file: str) -> list[Block]:
    """The blocks of TEXT; none when there is no title."""
    found: list[Block] = []
    rows: dict[str, object] | None = None
    arguments: dict[str, object] = {}
    start = 0
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        shown = line.rstrip("\r").rpartition("\r")[2].strip()  # what a progress bar wrote over is gone
        if "Namespace(" in shown:
            arguments |= _arguments(shown)
        ended = rows is not None and _END.fullmatch(shown)
        if rows is not None and (ended or _TITLE.fullmatch(shown)):
            found.append(Block(Entry({**arguments, **rows}, file, start), bool(ended)))
            rows, arguments = None, {}
        if _TITLE.fullmatch(shown):
            rows, start = {}, number
        elif rows is not None and number < len(lines):  # a last line without an end may be half a line
            rows = rows | {key: value for key, value in _row(shown).items() if key not in rows}
    return found if rows is None else [*found, Block(Entry({**arguments, **rows}, file, start), False)]


def _row(line: str) -> dict[str, object]:
    """Key and value of a row; nothing when it is none, or its label is not known."""
    label, _, value = (part.strip() for part in line.partition(":"))
    label = label.lower()
    latency = _LATENCY.fullmatch(label)
    key = f"{latency[1]}_{latency[2].replace(' ', '_')}_ms" if latency else _LABELS.get(label)
    return {key: None if value == "not set" else value} if key and value else {}


def _arguments(line: str) -> dict[str, object]:
    """The arguments of a Namespace that tell of the workload. The first of a name is meant: others are in texts."""
    found: dict[str, object] = {}
    for one in _ARGUMENT.finditer(line):
        found.setdefault(one[1], None if one[4] == "None" else one[2] or one[3] or one[4])
    return found
