"""Prints: how fine a number is, objects among other lines, what went wrong."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.bench.importers.printed import coarse_percent, finite, objects, one_line
from snapshot.bench.report import ReportError


@pytest.mark.parametrize(("printed", "percent"), [
    ("0.4", 37.5), ("0.41", 3.7), ("12.4", None), ("2.2e+07", 6.8), ("1", 150.0), ("123456", None), ("0.00", None),
    ("-0.5", 30.0), ("x", None), ("", None), ("1e999", None),
])
def test_a_step_of_the_last_digit_has_to_be_exceeded(printed: str, percent: float | None) -> None:
    assert coarse_percent(printed) == percent


@given(st.floats(0.01, 1e6), st.floats(0, 1))
def test_two_prints_of_nearly_the_same_never_differ_by_what_matters(value: float, step: float) -> None:
    one, other = f"{value:.2f}", f"{value + step / 200:.2f}"
    percent = 100 * abs(float(other) - float(one)) / float(one)
    assert percent < (coarse_percent(one) or 2)


@pytest.mark.parametrize("value", ["nan", "inf", "1_0", "", None, True, [], 10**400])
def test_what_is_not_finite_is_no_number(value: object) -> None:
    assert finite(value) is None


def test_objects_stand_between_other_lines() -> None:
    text = 'fio: warning {x}\n{"a": 1,\n "b": {\n}}\nREAD: 1\n\n  {"a": 2}\n{not one}\n[{"a": 3}]\n'
    assert [(one.line, one.number("a")) for one in objects(text, "r")] == [(2, 1), (7, 2)]


@pytest.mark.parametrize(("text", "why"), [
    ('x\n{"a": 1,\n"b": "cut', "r:3: the report ends in the middle of an object"),
    ('{"a": 1}\n{"b":\n', "r:3: the report ends in the middle of an object"),
    ('\n{"a": 1 "b"}\n', "r:2: no JSON: Expecting ',' delimiter"),
    ('{"a": ' + "9" * 5000 + "}", "r:1: no JSON that can be read"),
    ('\n{"a": ' + '{"a":' * 20000, "r:2: no JSON that can be read"),
])
def test_an_object_that_does_not_end_well(text: str, why: str) -> None:
    with pytest.raises(ReportError) as error:
        [*objects(text, "r")]
    assert str(error.value) == why


@given(st.lists(st.dictionaries(st.text(), st.integers() | st.text()), max_size=4), st.sampled_from([None, 2]))
def test_every_object_is_found_on_its_line(written: list[dict[str, object]], indent: int | None) -> None:
    text = "".join(f"note\n{json.dumps(one, indent=indent)}\n" for one in written)
    found = [*objects(text, "r")]
    assert [one.table for one in found] == written
    assert all(text.splitlines()[(one.line or 0) - 1].startswith("{") for one in found)


def test_what_went_wrong_is_one_line_without_homes() -> None:
    assert one_line("CUDA error\n in /home/bob/x/y.cpp:3\t:  no") == "CUDA error in ~/x/y.cpp:3 : no"
    assert len(one_line("x" * 1000)) == 200
