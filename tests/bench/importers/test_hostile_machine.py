"""Whatever a report on hardware holds, its importer gives a report or says file and reason; and no other takes it."""

from __future__ import annotations

import json
import math
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.bench.importers import IMPORTERS
from snapshot.bench.report import Report, ReportError, Table, Value
from snapshot.sections.bench import KINDS

from . import (
    test_bandwidth_test,
    test_fio,
    test_iperf3,
    test_mlperf,
    test_nccl_tests,
    test_nvbandwidth,
    test_p2p_bandwidth_latency,
    test_perftest,
    test_stream,
)

TEXTS = {
    "nvbandwidth": [test_nvbandwidth.HEAD + test_nvbandwidth.H2D + test_nvbandwidth.D2D,
                    test_nvbandwidth.as_json(*test_nvbandwidth.CASES)],
    "p2p-bandwidth-latency": [test_p2p_bandwidth_latency.HEAD + test_p2p_bandwidth_latency.TABLES],
    "bandwidth-test": [test_bandwidth_test.TABLE, test_bandwidth_test.LINES, test_bandwidth_test.HIP],
    "nccl-tests": [test_nccl_tests.HEAD + test_nccl_tests.ROWS + test_nccl_tests.FOOT, test_nccl_tests.as_json()],
    "fio": [test_fio.report(test_fio.job())],
    "iperf3": [json.dumps(test_iperf3.run()), test_iperf3.TEXT, test_iperf3.UDP],
    "perftest": [test_perftest.HEAD + test_perftest.TABLE, test_perftest.LATENCY],
    "stream": [test_stream.TEXT, test_stream.GPU],
    "mlperf": [test_mlperf.OFFLINE, test_mlperf.SINGLE],
    "csv": ["name,value,unit,model\nmean,1.5,ms,m1\n"],
    "generic": ["latency 1.5 ms\n"],
}
CASES = [(name, text) for name, texts in TEXTS.items() for text in texts]
PARTS = ["0", "-1", "9" * 30, "9" * 5000, "nan", "1e400", "x", "²", "N/A", "", "{}", "[]", "null", '"s"', "\n", "\0",
         "GPU 1"]
LONG = [" ", "\t", "a ", "1 ", "1\n", "GPU(row)", "(", ":", "[", '{"a":', "->GPU ", "\\", ","]


def sound(name: str, text: str) -> bool:
    """Whether TEXT is a report that can stand in a snapshot; ReportError is as good an answer."""
    module = import_module(f"snapshot.bench.importers.{name.replace('-', '_')}")
    assert module.recognises(text) in (True, False)
    try:
        report: Report = module.read(text, "r")
    except ReportError as error:
        assert str(error).startswith("r:")
        return False
    runs: list[Value | Table] = [*report.values, *report.tables]
    for one in runs:
        assert (one.status == "ok") is (one.why is None)
        assert one.metric.kind is None or one.metric.kind in KINDS
        assert all(isinstance(word, str) and word and word.isprintable() for word in one.workload.values())
    for value in report.values:
        assert value.value is None or math.isfinite(value.value)
        assert (value.value is None) is (value.status == "failed")
    for table in report.tables:
        assert len(table.cells) == len(table.rows)
        assert all(len(row) == len(table.columns) for row in table.cells)
    return bool(runs)


@pytest.mark.parametrize(("name", "text"), CASES)
def test_only_the_importer_of_its_tool_recognises_a_report(name: str, text: str) -> None:
    takers = [one for one in IMPORTERS if import_module(
        f"snapshot.bench.importers.{one.replace('-', '_')}").recognises(text)]
    assert takers == [name]
    assert sound(name, text)


@pytest.mark.parametrize(("name", "text"), CASES)
def test_cut_anywhere(name: str, text: str) -> None:
    for end in range(0, len(text), max(1, len(text) // 100)):
        sound(name, text[:end])


@given(st.sampled_from(CASES), st.data())
def test_anything_in_place_of_anything(case: tuple[str, str], data: st.DataObject) -> None:
    name, text = case
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        part = data.draw(st.sampled_from(PARTS) | st.text(max_size=4))
        text = text[:start] + part + text[start + data.draw(st.integers(0, 30)):]
    sound(name, text)


@given(st.sampled_from([*TEXTS]), st.text())
def test_any_text(name: str, text: str) -> None:
    sound(name, text)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("part", LONG)
def test_long_lines_take_no_longer_than_reading_them(name: str, part: str) -> None:
    for _, text in CASES:
        sound(name, text.partition("\n")[0] + "\n" + part * 3000 + "(GB/s) receiver")
