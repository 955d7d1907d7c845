"""Entries of reports: several objects in a row, what is cut off, what is of another type, words of workloads."""

from __future__ import annotations

import math

import pytest

from snapshot.bench.importers.entries import Entry, base_name, entries, mentions, model_name, number, word, words
from snapshot.bench.report import ReportError


def refused(text: str) -> str:
    with pytest.raises(ReportError) as error:
        entries(text, "r.json")
    return str(error.value)


def test_objects_in_a_row_and_in_arrays_with_their_lines() -> None:
    found = entries('\ufeff\n{"a": 1}\n{"a":\n 2}\n\n[{"a": 3}, {"a": 4}]\n{"a": 5}{"a": 6}', "r")
    assert [(one.number("a"), one.line, one.path) for one in found] == [
        (1, 2, ""), (2, 3, ""), (3, 6, "[0]."), (4, 6, "[1]."), (5, 7, ""), (6, 7, "")]


@pytest.mark.parametrize(("text", "why"), [
    ('{"a": 1}\n{"b": 2,\n "c', "r.json:3: the report ends in the middle of an object; what is before it is whole (1)"),
    ('{"a": [1,\n', "r.json:1: the report ends in the middle of an object"),
    ('{"a": 1}\n{"b"; 2}\n', "r.json:2: no JSON: Expecting ':' delimiter; what is before it is whole (1)"),
    ("", "r.json:1: there is no object in it"),
    ("[]", "r.json:1: there is no object in it"),
    ('{"a": 1}\n[2]', "r.json:2: there is a value that is no object"),
    ('\n"text"', "r.json:2: there is a value that is no object"),
    ("[" * 100_000, "r.json:1: no JSON that can be read"),
    ('\n{"a": ' + "9" * 5000 + "}", "r.json:2: no JSON that can be read"),
])
def test_what_is_no_object_has_a_line_and_a_reason(text: str, why: str) -> None:
    assert refused(text) == why


def test_values_of_another_type_have_their_key() -> None:
    entry = Entry({"a": {"b": [{"c": True}, {"c": "x"}, 1]}, "s": "2.5", "n": None}, "r", 7)
    assert (entry.number("s"), entry.number("n"), entry.number("gone")) == (2.5, None, None)
    with pytest.raises(ReportError, match=r"^r:7: a\.b\[2\] is no object$"):
        entry.entry("a").entries("b")
    with pytest.raises(ReportError, match=r"^r:7: s is no list$"):
        entry.entries("s")
    with pytest.raises(ReportError, match=r"^r:7: a\.gone is missing$"):
        entry.entry("a").entries("gone")
    one, two = Entry({"b": [{"c": True}, {"c": "x"}]}, "r").entries("b")
    for item in (one, two):
        with pytest.raises(ReportError, match=r"^r: b\[\d\]\.c is no number"):
            item.number("c")
    assert entry.entry("n").text("x") is None


def test_numbers() -> None:
    assert [*map(number, (1, 2.5, "3", "inf", " 4 "))] == [1, 2.5, 3, math.inf, 4]
    assert [*map(number, (True, None, "x", "1_0", [1], ()))] == [None] * 6
    assert (number(10**400), number(-(10**400))) == (math.inf, -math.inf)
    assert math.isnan(number("nan") or 0)
    entry = Entry({"a": [1, "2", 3.5], "b": [1, None], "c": "12", "d": math.inf, "e": 1, "f": True}, "r")
    assert (entry.numbers("a"), entry.numbers("b"), entry.numbers("c")) == ([1, 2, 3.5], [], [])
    assert [entry.finite(key) for key in ("d", "e", "f", "gone")] == [None, 1, None, None]


def test_words_are_the_same_for_equal_values() -> None:
    assert [word(value) for value in (2, 2.0, 2.5, True, "a\n\ud800b ", math.inf)] == [
        "2", "2", "2.5", "true", "a  b", "inf"]
    assert words({"a": None, "b": "", "c": 0, "d": [1], "e": {}}) == {"c": "0"}


def test_paths_of_models_lose_what_names_a_user() -> None:
    names = ("org/Llama-3", "/home/bob/m/Llama-3/", "./m/x.gguf", r"C:\u\bob\x", None)
    assert [*map(model_name, names)] == ["org/Llama-3", "Llama-3", "x.gguf", "x", None]
    assert base_name("bob/x.gguf") == "x.gguf"


def test_keys_within_strings_are_not_mentioned() -> None:
    assert mentions(' \n{"a": {"b": 1}}', "a", "b")
    assert not mentions(r'{"a": "\"b\""}', "a", "b")
    assert not mentions('x {"a": 1}', "a")
    assert not mentions("")
