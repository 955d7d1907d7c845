"""Whatever a report holds, its importer gives a report or says file and reason; and no other importer takes it."""

from __future__ import annotations

import json
import math
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.bench.importers import IMPORTERS
from snapshot.bench.report import Report, ReportError
from snapshot.sections.bench import KINDS

from . import (
    test_google_benchmark,
    test_hyperfine,
    test_llama_bench,
    test_pyperf,
    test_pytest_benchmark,
    test_sglang,
    test_vllm,
)

TEXTS = {
    "sglang": [test_sglang.lines({}), test_sglang.TEXT],
    "vllm": [test_vllm.dumped(), test_vllm.NEW],
    "llama_bench": [test_llama_bench.jsonl({}), test_llama_bench.csv(test_llama_bench.ROW), test_llama_bench.MARKDOWN],
    "hyperfine": [test_hyperfine.dumped({})],
    "pytest_benchmark": [test_pytest_benchmark.dumped({})],
    "pyperf": [test_pyperf.dumped(test_pyperf.bench(test_pyperf.run(1.0)))],
    "google_benchmark": [test_google_benchmark.dumped(test_google_benchmark.row("BM_a", 1.0))],
}
CASES = [(name, text) for name, texts in TEXTS.items() for text in texts]
JSON = [(name, json.loads(text)) for name, text in CASES if text.lstrip().startswith("{")]
ANY: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=5)


def sound(name: str, text: str) -> bool:
    """Whether TEXT is a report whose values can stand in a snapshot; ReportError is as good an answer."""
    module = import_module(f"snapshot.bench.importers.{name}")
    assert module.recognises(text) in (True, False)
    try:
        report: Report = module.read(text, "r")
    except ReportError as error:
        assert str(error).startswith("r:")
        return False
    for value in report.values:
        assert value.value is None or math.isfinite(value.value)
        assert (value.status == "ok") is (value.why is None)
        assert value.value is not None or value.status != "ok"
        assert value.metric.kind is None or value.metric.kind in KINDS
        assert value.within is None or not value.within.values or len(value.within.values) <= 200
        assert all(isinstance(text, str) and text and text.isprintable() for text in value.workload.values())
    return bool(report.values)


@pytest.mark.parametrize(("name", "text"), CASES)
def test_only_the_importer_of_its_tool_recognises_a_report(name: str, text: str) -> None:
    first = next(one for one in IMPORTERS if import_module(
        f"snapshot.bench.importers.{one.replace('-', '_')}").recognises(text))
    assert first.replace("-", "_") == name
    assert sound(name, text)


@pytest.mark.parametrize(("name", "text"), CASES)
def test_cut_anywhere(name: str, text: str) -> None:
    for end in range(0, len(text), max(1, len(text) // 150)):
        sound(name, text[:end])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in inner for place in places(one, (*path, key)))] if path else [
        place for key, one in inner for place in places(one, (key,))]


@given(st.sampled_from(JSON), ANY, st.data())
def test_any_value_anywhere(case: tuple[str, Any], value: Any, data: st.DataObject) -> None:
    name, table = case[0], json.loads(json.dumps(case[1]))
    *path, last = data.draw(st.sampled_from(places(table)))
    inner = table
    for key in path:
        inner = inner[key]
    inner[last] = value
    sound(name, json.dumps(table))


@given(st.sampled_from([*TEXTS]), st.text())
def test_any_text(name: str, text: str) -> None:
    sound(name, text)


@given(st.sampled_from(CASES), st.text(max_size=6), st.data())
def test_anything_between_the_lines(case: tuple[str, str], more: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(case[1])))
    sound(case[0], case[1][:at] + more + case[1][at:])
