"""Rows of no particular tool: direction by unit, values that are none; lines and tables of them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from snapshot.bench import report
from snapshot.bench.importers import csv as tables
from snapshot.bench.importers import generic as lines
from snapshot.bench.importers import read
from snapshot.bench.importers.rows import direction
from snapshot.bench.report import ReportError


@pytest.mark.parametrize("unit", [
    "GB/s", "tok/s", "req/sec", "samples/s", "IOPS", "kIOPS", "GFLOPS", "TFLOPS", "Gbps", "MBps", "bps", "fps", "qps",
    "pages/min",
])
def test_rates_are_better_higher(unit: str) -> None:
    assert direction(unit) == "higher"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "µs", "ns", "sec", "seconds", "min", "ns/op", "ms/token", "s/iter"])
def test_times_are_better_lower(unit: str) -> None:
    assert direction(unit) == "lower"


@pytest.mark.parametrize("unit", ["", "%", "points", "MB", "W", "C", "runs", "tokens", "GB", "x"])
def test_of_other_units_nothing_is_guessed(unit: str) -> None:
    assert direction(unit) is None


def test_lines() -> None:
    text = "# by a script\nthroughput 12.5 tok/s\n\nlatency: 0.4 ms\nscore 93.5 points Higher\nthroughput nan tok/s\n"
    assert lines.recognises(text)
    report = lines.read(text, "r")
    assert [(one.metric.name, one.value, one.metric.better, one.status) for one in report.values] == [
        ("throughput", 12.5, "higher", "ok"), ("latency", 0.4, "lower", "ok"), ("score", 93.5, "higher", "ok"),
        ("throughput", None, "higher", "failed")]
    assert report.values[1].metric.minimum_percent == 37.5
    assert report.values[3].why == "no value: nan"


@pytest.mark.parametrize("text", [
    "", "# only\n", "name value unit\n", "kernel: 6.8.0\n", "x 12 ms\nnot a row at all\n", "a 1 2\n",
    "BenchmarkFib20  30000  40537.123 ns/op\n", "host: gpu7 rack\n",
])
def test_texts_that_are_no_lines(text: str) -> None:
    assert not lines.recognises(text)


@pytest.mark.parametrize(("text", "why"), [
    ("x 12 ms\nonly two\n", "r:2: not of the form name value unit: 'only two'"),
    ("x 12 ms\nwhat is this\n", "r:2: the value of what is no number: 'is'"),
    ("x 12 points\n", "r:1: whether higher or lower is better is not told by the unit 'points' of x: say it"),
    ("x twelve ms\n", "r:1: the value of x is no number: 'twelve'"),
    ("", "r: there is no line in it"),
])
def test_malformed_lines(text: str, why: str) -> None:
    with pytest.raises(ReportError) as error:
        lines.read(text, "r")
    assert str(error.value) == why


def test_tables() -> None:
    text = ('Metric,Value,Unit,Better,Model,Host,Timestamp\n"mean, all",12.5,tok/s,,m1,gpu-host-7,2026\n'
            'score,93,points,higher,m1,gpu-host-7,2026\nscore,,points,higher,m2,gpu-host-7,2026\n')
    assert tables.recognises(text)
    report = tables.read(text, "r")
    assert [(one.metric.name, one.value, one.metric.better, one.workload) for one in report.values] == [
        ("mean, all", 12.5, "higher", {"model": "m1"}), ("score", 93, "higher", {"model": "m1"}),
        ("score", None, "higher", {"model": "m2"})]
    assert "gpu-host-7" not in repr(report)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators(separator: str) -> None:
    text = "name,value,unit\nx,1.5,ms\n".replace(",", separator)
    assert tables.recognises(text)
    assert tables.read(text, "r").values[0].value == 1.5


@pytest.mark.parametrize(("text", "why"), [
    ("name,value,unit\nx,1,ms\ny,2\n", "r:3: 2 cells below 3 columns"),
    ("name,value,unit\n\nx,fast,ms\n", "r:3: the value of x is no number: 'fast'"),
    ("name,value,unit\n,1,ms\n", "r:2: a line without a name"),
    ("name,value\nx,1\n", "r:2: whether higher or lower is better is not told by the unit '' of x: say it"),
    ("name,value,better\nx,1,up\n", "r:2: better is higher or lower, not 'up'"),
    ("name,unit\nx,ms\n", "r:1: no column value: 'name, unit'"),
    ("name,value,unit,value\nx,1,ms,2\n", "r:1: two columns of one name"),
    ("name,value,unit\n", "r:1: no line below the header"),
    ("", "r:1: no column name: ''"),
])
def test_malformed_tables(text: str, why: str) -> None:
    with pytest.raises(ReportError) as error:
        tables.read(text, "r")
    assert str(error.value) == why


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "name value\n", "value,unit\n1,ms\n"])
def test_texts_that_are_no_tables(text: str) -> None:
    assert not tables.recognises(text)


def logged(count: int) -> Iterator[str]:
    """So many lines of what is no report; a failure when one is asked for that comes after."""
    yield from (f"latency,{number},ms" for number in range(count))
    pytest.fail("read to its end")


@pytest.mark.parametrize(("form", "text"), [
    ("generic", "# a log\n" + "latency 1 ms\n" * 4), ("csv", "name,value,unit\n" + "latency,1,ms\n" * 4),
    ("google-benchmark", json.dumps({"context": {"library_build_type": "release"}, "benchmarks": [
        {"name": n, "run_type": "iteration", "real_time": 1, "cpu_time": 1, "time_unit": "ms"} for n in ("a", "b")]})),
])
def test_more_values_than_a_benchmark_has_are_refused(form: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(read(text, "r").values) == 4
    for module in (report, lines):
        monkeypatch.setattr(module, "MOST_VALUES", 3)
    for name in (form, None):
        with pytest.raises(ReportError) as error:
            read(text, "r", name)
        assert str(error.value) == "r: more than 3 values: no benchmark has so many"


def test_a_log_is_refused_before_it_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MOST_VALUES", 3)
    with pytest.raises(ReportError, match="r: more than 3 values"):
        report.few(logged(4), "r")
    long = "latency 1 ms\n" * 4
    with pytest.raises(ReportError, match="r: more than 3 values"):
        lines.read(f"{long}no line at all, which is not looked at\n", "r")
