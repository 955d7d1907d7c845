"""Reports of hyperfine: a process a sample, runs that failed, commands without secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapshot.bench.importers import hyperfine, read
from snapshot.bench.report import ReportError

RESULT: dict[str, Any] = {
    "command": "sleep 1", "mean": 1.0, "stddev": 0.1, "median": 1.0, "user": 0.01, "system": 0.01, "min": 0.9,
    "max": 1.1, "times": [1.1, 1.0, 0.9], "exit_codes": [0, 0, 0],
}


def dumped(*changes: dict[str, Any]) -> str:
    return json.dumps({"results": [RESULT | change for change in changes]})


def test_each_time_is_a_run() -> None:
    report = read(dumped({}, {"command": "sleep 2", "memory_usage_byte": [7, 8, 9]}), "r.json")
    assert (report.tool, report.format, report.version) == ("hyperfine", "json", None)
    assert [(v.metric.name, v.metric.unit, v.workload["command"], v.value) for v in report.values] == [
        *(("time", "s", "sleep 1", value) for value in (1.1, 1.0, 0.9)),
        *(("time", "s", "sleep 2", value) for value in (1.1, 1.0, 0.9)),
        *(("memory_usage_byte", "B", "sleep 2", value) for value in (7, 8, 9))]
    assert {(v.metric.name, v.metric.primary, v.metric.better, v.within) for v in report.values} == {
        ("time", True, "lower", None), ("memory_usage_byte", False, "lower", None)}


@pytest.mark.parametrize(("change", "kind"), [
    ({}, None), ({"user": 3.9}, "cpu"), ({"user": 0.8, "system": 0.1}, "cpu"), ({"user": 0.5}, None),
    ({"mean": 0}, None),
])
def test_what_computed_all_the_time_is_of_the_cpu(change: dict[str, Any], kind: str | None) -> None:
    assert hyperfine.read(dumped(change), "r").values[0].metric.kind == kind


def test_runs_that_failed_have_no_value() -> None:
    found = hyperfine.read(dumped({"exit_codes": [0, 2, None]}), "r").values
    assert [(v.value, v.status, v.why) for v in found] == [
        (1.1, "ok", None), (None, "failed", "exit status 2"), (None, "failed", "it was killed")]
    found = hyperfine.read(dumped({"times": [0.0, 1, 2]}), "r").values
    assert [(v.value, v.status, v.why) for v in found] == [
        (None, "partial", "time is 0"), (1, "ok", None), (2, "ok", None)]


def test_old_versions_and_one_run() -> None:
    old = {key: value for key, value in RESULT.items() if key != "exit_codes"} | {"stddev": None, "times": [1.5]}
    (found,) = hyperfine.read(json.dumps({"results": [old]}), "r").values
    assert (found.value, found.status) == (1.5, "ok")
    left = {key: value for key, value in RESULT.items() if key not in ("times", "exit_codes")}
    (found,) = hyperfine.read(json.dumps({"results": [left]}), "r").values
    assert (found.value, found.status) == (1.0, "partial") and found.within and found.within.max == 1.1


def test_commands_that_differ_in_a_secret_only_are_told_apart() -> None:
    found = hyperfine.read(dumped({"command": "x --token hunter2"}, {"command": "x --token hunter3"},
                                  {"command": "x --token hunter2"}), "r").values
    assert [value.workload["command"] for value in found[::3]] == [
        "x --token <redacted> (1)", "x --token <redacted> (2)", "x --token <redacted> (1)"]
    assert "hunter" not in repr(found)


def test_parameters_are_of_the_workload() -> None:
    change = {"parameters": {"threads": "4", "api_key": "hunter2", "dir": "/home/bob/x"}}
    found = hyperfine.read(dumped(change), "r").values[0]
    assert found.workload == {"command": "sleep 1", "threads": "4", "api_key": "<redacted>", "dir": "~/x"}


@pytest.mark.parametrize(("change", "why"), [
    ({"command": None}, r"results\[0\]\.command is missing"), ({"times": "x"}, "times is no list of numbers"),
    ({"times": [1, None]}, "times is no list of numbers"), ({"times": []}, "times is no list of numbers"),
    ({"exit_codes": [0]}, "exit_codes is no list of 3, as times is"), ({"exit_codes": 0}, "exit_codes is no list"),
    ({"memory_usage_byte": [1]}, "exit_codes is no list of 1, as memory_usage_byte is"),
    ({"mean": "x"}, "mean is no number"),
])
def test_what_is_not_as_it_must_be_has_its_key(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ReportError, match=why):
        hyperfine.read(dumped(change), "r")


def test_a_cut_report_is_refused() -> None:
    with pytest.raises(ReportError, match=r"^r:1: the report ends in the middle"):
        hyperfine.read(dumped({})[:-3], "r")
    with pytest.raises(ReportError, match=r"^r:1: results\[0\]\.median is missing, and there are no times$"):
        hyperfine.read(json.dumps({"results": [{"command": "x"}]}), "r")
