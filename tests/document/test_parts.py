"""The cut of a text: to parse its parts says the same as to parse the whole, whatever the text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapshot import tomlio
from snapshot.document import parts
from snapshot.errors import FormatError

from ..test_tomlio import tables

KEYS = st.from_regex(r"[a-z][a-z0-9_-]{0,5}", fullmatch=True)
HEADERS = [
    "[a]", "[b]", "[[a]]", "[a.c]", "[[b.c]]", '[a."x]y"]', '["a"]', "[ a ]", "[1]", "[1],", "[a] # [", "[a",
]
PAIRS = [
    "k = 1", 'k = "v"', 'k = "[a]"', "k = []", "k = [", "k = [1,", "]", "],", "    [", "    ],", "    1,",
    "        2,", '    "]",', "    { x = 1 },", "    { x = [", "    { x = {", "    { x = 'y' },",
    "    {", "}", "{",
    "    []", "k = {", 'k = """', '"""', "k = '''", "'''", "k = '", 'k = "', 'x = "\\"', "# [a]", "#\x00", "",
    "    ", "\t[a]", "k = 1 [", 'k = "" [', 'k = """"""', "l.m = 2", '"q r" = 3', "k = 1\r", "k = [\u0085[a]",
    "\u2028[a]",
]


def _both(text: str) -> tuple[Any, Any]:
    """What the whole and what the parts say, None for a fault."""
    return _parsed([text]), _parsed([text[start:end] for start, end in parts.cut(text).values()])


def _parsed(texts: list[str]) -> Any:
    whole: dict[str, Any] = {}
    try:
        for text in texts:
            whole |= tomlio.loads(text, "f")
    except FormatError:
        return None
    return whole


@settings(max_examples=600)
@given(st.lists(st.sampled_from(HEADERS) | st.sampled_from(PAIRS), max_size=14))
def test_the_parts_of_a_hostile_text_say_what_the_whole_says(lines: list[str]) -> None:
    text = "".join(line + "\n" for line in lines)
    if parts.cut(text):
        whole, cut = _both(text)
        assert whole == cut


@given(st.dictionaries(KEYS, tables, max_size=4), st.data())
def test_the_parts_of_a_spoilt_text_say_what_the_whole_says(sections: Any, data: st.DataObject) -> None:
    text = "\n".join(tomlio.dumps({key: table}) for key, table in sections.items())
    at = data.draw(st.integers(0, len(text)))
    drop = data.draw(st.integers(0, 3))
    new = data.draw(st.sampled_from(["", "[", "]", '"', "\n", "{", "#", "\\", "=", "'"]))
    text = text[:at] + new + text[at + drop:]
    if parts.cut(text):
        whole, cut = _both(text)
        assert whole == cut


@given(st.dictionaries(KEYS, tables, min_size=1, max_size=4))
def test_written_text_is_cut_at_each_key(sections: dict[str, Any]) -> None:
    text = "# head\n\n" + "\n".join(tomlio.dumps({key: table}) for key, table in sections.items())
    found = parts.cut(text)
    if found:  # arrays of arrays of tables and the like are left to the full parse
        assert {k: tomlio.loads(text[a:b], "f")[k] for k, (a, b) in found.items()} == sections


@pytest.mark.parametrize("table", [
    {"x": [1, 2.5, "a]", True]}, {"x": [[1, 2], [3, 4]]}, {"x": [{"a": 1, "b": []}]}, {"x": []}, {},
    {"x": {}}, {"x": [{"a": "[y]", "b": {"c": 1}}]}, {"x": [{"a": ["long" * 30]}, {"a": ["b"]}]},
    {'"[x]"\n': "\udcff[\n["},
])
def test_the_forms_that_sections_have_are_cut(table: dict[str, Any]) -> None:
    text = tomlio.dumps({"one": table}) + "\n" + tomlio.dumps({"two": {"x": 1}})
    assert [*parts.cut(text)] == ["one", "two"]
    assert _both(text) == ({"one": table, "two": {"x": 1}},) * 2


@pytest.mark.parametrize("text", [
    "", "a = 1\n", "a = 1\n[b]\n", "[a]\n[b]\n[a.c]\n", '["a"]\n', "[a]\r\n", "[a]",
    "[a]\nx = '''\n[b]\n'''\n", "[a]\nx = [\n[1]\n]\n", "[a]\nx = 1", "[a]\n x = 1\n", "a\n",
    "[a]\nx = [\n    [\n]\n[b]\n]\n",
])
def test_any_other_form_is_left_to_the_full_parse(text: str) -> None:
    assert parts.cut(text) == {}


def test_the_comment_above_belongs_to_the_first_part() -> None:
    assert parts.cut("#\x00\n[a]\n[b]\n") == {"a": (0, 7), "b": (7, 11)}


def test_a_large_text_is_cut_without_depth_or_backtracking() -> None:
    text = "[a]\n" + "x = [\n    1,\n]\n" * 100_000
    assert parts.cut(text) == {"a": (0, len(text))}
    assert parts.cut(text + "!\n") == {}
