"""Rows of llama-bench's tables, CSV and Markdown, as entries with the keys of its JSON.

``csv_printer`` and ``markdown_printer`` of ``tools/llama-bench/llama-bench.cpp``. CSV quotes every field; what the
backend says on standard error can stand before either table. Markdown ends with the build, which is often left out
where a table was pasted; cells of tokens per second are ``7340.20 ± 23.45``.
"""

from __future__ import annotations

import csv
import re
from typing import NoReturn

from ...regexes import regex
from ..report import bad
from .entries import Entry, mentions

_SHORT = {  # get_field_display_name
    "model": "model_type", "backend": "backends", "ngl": "n_gpu_layers", "sm": "split_mode", "threads": "n_threads",
    "nkvo": "no_kv_offload", "fa": "flash_attn", "mmap": "use_mmap", "dio": "use_direct_io", "lm": "load_mode",
    "embd": "embeddings", "ts": "tensor_split", "ot": "tensor_buft_overrides", "dev": "devices",
    "nopo": "no_op_offload", "noh": "no_host", "fitt": "fit_target", "fitc": "fit_min_ctx",
}
_CSV = regex(r"^build_commit,[a-z0-9_,]*,avg_ts,stddev_ts\b.*$", re.MULTILINE)
_RULE = set("|-: \r")
_TEST = regex(r"(?:pp ?(\d{1,9}))?\+?(?:tg ?(\d{1,9}))?(?: @ d(\d{1,9}))?")
_SPEED = regex(r"(\S+) (?:±|\+/-) (\S+)")
_BUILD = regex(r"^build: (\w+) \((\d+)\)", re.MULTILINE)
_REASON = regex(r"^(?:terminate called .*|.*\berror\b.*|.*\bfailed\b.*)$", re.MULTILINE | re.IGNORECASE)


def is_table(text: str) -> bool:
    """Whether there is a table of llama-bench in TEXT, or what is left of a run that crashed before its first row."""
    crashed = "llama-bench" in text and "ggml_" in text and not mentions(text)
    return is_csv(text) or crashed or ("t/s" in text and any(map(_is_head, map(_cells, text.split("\n")))))


def is_csv(text: str) -> bool:
    """Whether there is a table in CSV in TEXT."""
    return _CSV.search(text) is not None


def csv_rows(text: str, file: str) -> list[Entry]:
    """The rows of the table. ReportError for one that has not a field for each column, or for none."""
    head = _CSV.search(text)
    start = text.count("\n", 0, head.start() if head else 0)
    reader = csv.reader(text.split("\n")[start:], strict=True)
    rows = []
    try:
        names = next(reader)
        for row in filter(None, reader):
            if len(row) != len(names):
                bad(file, f"a row has {len(row)} fields for {len(names)} columns", start + reader.line_num)
            rows.append(Entry(dict(zip(names, row, strict=True)), file, start + reader.line_num))
    except csv.Error as error:
        bad(file, f"no CSV: {error}", start + reader.line_num)
    return rows or bad(file, "there is no row in the table", start + 1)


def markdown_rows(text: str, file: str) -> list[Entry]:
    """The rows of all tables. ReportError for one that has not a cell for each column, or for none."""
    build = _BUILD.search(text)
    told = {"build_commit": build[1], "build_number": build[2]} if build else {}
    names: list[str] = []
    rows = []
    for line, shown in enumerate(text.split("\n"), 1):
        cells = _cells(shown)
        if _is_head(cells) or not cells:
            names = cells
        elif names and not set(shown) <= _RULE:
            if len(cells) != len(names) or not shown.rstrip().endswith("|"):
                bad(file, f"a row is cut off, or not one of {len(names)} cells", line)
            rows.append(Entry({**told, **_row(dict(zip(names, cells, strict=True)), file, line)}, file, line))
    return rows or _no_result(text, file)


def _cells(line: str) -> list[str]:
    """The cells of a line; none when it is no row."""
    line = line.strip()
    return [cell.strip() for cell in line[1:].removesuffix("|").split("|")] if line.startswith("|") else []


def _is_head(cells: list[str]) -> bool:
    return cells[-1:] == ["t/s"] and "test" in cells


def _row(row: dict[str, str], file: str, line: int) -> dict[str, str]:
    return {**_keys(row), **_test(row["test"], file, line), **_speed(row["t/s"], file, line)}


def _keys(row: dict[str, str]) -> dict[str, str]:
    return {_SHORT.get(name, name): value for name, value in row.items() if name not in ("test", "t/s")}


def _test(test: str, file: str, line: int) -> dict[str, str]:
    """What a test does: pp512, tg 128, pp512+tg128, tg128 @ d4096."""
    found = _TEST.fullmatch(test)
    if not found or not (found[1] or found[2]):
        bad(file, f"no test of llama-bench: {test!r:.40}", line)
    return {"n_prompt": found[1] or "0", "n_gen": found[2] or "0", "n_depth": found[3] or "0"}


def _speed(cell: str, file: str, line: int) -> dict[str, str]:
    found = _SPEED.fullmatch(cell)
    return {"avg_ts": found[1], "stddev_ts": found[2]} if found else bad(file, f"no t/s: {cell!r:.40}", line)


def _no_result(text: str, file: str) -> NoReturn:
    """ReportError with why a run gave no result, as far as its output tells."""
    if found := _REASON.search(text):
        bad(file, f"there is no result: {found[0].strip()[:120]}", text.count("\n", 0, found.start()) + 1)
    bad(file, "there is no result: the run ended before its first test did", text.rstrip().count("\n") + 1)
