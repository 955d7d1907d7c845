"""TOML text and plain tables: every fault is one line, every table comes back as it was."""

from __future__ import annotations

import math
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot import tomlio
from snapshot.errors import FormatError

raw_text = st.binary(max_size=12).map(lambda b: b.decode("utf-8", "surrogateescape"))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | raw_text
scalars = texts | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=4) | st.dictionaries(texts, v, max_size=4), max_leaves=12
)
tables = st.dictionaries(texts, values, max_size=5)


@given(tables)
def test_every_table_survives(table: dict[str, Any]) -> None:
    text = tomlio.dumps(table)
    assert tomlio.loads(text.encode(), "f") == table
    assert tomlio.dumps(tomlio.loads(text, "f")) == text
    assert text.endswith("\n") or not table


@given(st.binary(max_size=40))
def test_every_byte_of_a_string_and_a_key_survives(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    back = tomlio.loads(tomlio.dumps({text: [text]}).encode(), "f")
    assert [k.encode("utf-8", "surrogateescape") for k in back] == [data]
    assert back == {text: [text]}


def test_types_survive_that_compare_equal() -> None:
    back = tomlio.loads(tomlio.dumps({"a": True, "b": 1, "c": 1.0, "d": -0.0}), "f")
    assert [type(v) for v in back.values()] == [bool, int, float, float]
    assert math.copysign(1, back["d"]) == -1


def test_nan_and_infinity_survive() -> None:
    back = tomlio.loads(tomlio.dumps({"a": math.nan, "b": -math.inf}), "f")
    assert math.isnan(back["a"])
    assert back["b"] == -math.inf


def test_text_is_the_same_for_every_order_of_keys() -> None:
    one = {"b": {"y": 1, "x": [{"d": 1, "c": 2}]}, "a": 2, "c": {}}
    other = {"c": {}, "a": 2, "b": {"x": [{"c": 2, "d": 1}], "y": 1}}
    assert tomlio.dumps(one) == tomlio.dumps(other)
    assert tomlio.dumps(one) == (
        "a = 2\n\n[b]\nx = [\n    { c = 2, d = 1 },\n]\ny = 1\n\n[c]\n"
    )


def test_a_byte_and_the_character_that_stands_for_it_stay_apart() -> None:
    text = tomlio.dumps({"byte": "\udcff", "char": "\uefff"})
    assert 'byte = "\uefff"' in text
    assert 'char = "\uefee\uefbf\uefbf"' in text
    assert tomlio.loads(text, "f") == {"byte": "\udcff", "char": "\uefff"}


def test_an_escape_in_the_text_means_the_same_as_the_character() -> None:
    assert tomlio.loads('a = "\\uefff"', "f") == {"a": "\udcff"}


@pytest.mark.parametrize(("value", "what"), [
    (None, "NoneType"), (2**63, "beyond 64 bits"), (-(2**63) - 1, "beyond 64 bits"), (b"x", "bytes"),
    ({1: 2}, "the key 1"), ({"x": {None: 2}}, "the key None"), ("\ud800", r"U\+D800"), (object(), "object"),
])
def test_what_toml_cannot_hold_is_refused_with_its_path(value: Any, what: str) -> None:
    with pytest.raises(FormatError, match=what) as error:
        tomlio.dumps({"pci": {"0000:01:00.0": [value]}})
    if "U" not in what:
        assert 'pci."0000:01:00.0"[0]' in str(error.value)


def test_a_table_within_itself_is_refused() -> None:
    table: dict[str, Any] = {}
    table["again"] = table
    with pytest.raises(FormatError, match="100 levels"):
        tomlio.dumps(table)


@pytest.mark.parametrize(("data", "line", "what"), [
    (b"a = 1\nb = \xff\n", 2, "not UTF-8 text: byte 0xff"),
    (b"\xff\xfea\x00=\x001\x00", 1, "not UTF-8"),
    (b"a = 1\nb = 2\x00\n", 2, "not valid TOML"),
    (b"a = 1\r\nb = 'x\ry'\r\n", 2, "not valid TOML"),
    (b"a = 1\n\na = 2\n", 3, "not valid TOML"),
    (b"[a]\nb = 1\n[a]\n", 3, "not valid TOML"),
    (b"a = 1\nb = [\n1,\n", 3, "not valid TOML"),
    (b"a = 1\nb = ", 2, "not valid TOML"),
    (b'a = 1\nb = "\\ud800"\n', 2, "not valid TOML"),
    (b"a = 1\nb = 9223372036854775808\n", 2, "b: an integer beyond 64 bits"),
    (b"a = 1\n[b]\nc = [\n{d = 0xffffffffffffffff},\n]\n", 3, r"b.c\[0\].d: an integer beyond 64 bits"),
    (b"\na = " + b"9" * 5000 + b"\n\n", 2, "an integer beyond 64 bits"),
    (b"a = 1\nb = " + b"[" * 100_000, 1, "nested too deep"),
    (b"\n" + b"[a" + b".a" * 300 + b"]\n", 2, "nested too deep"),
    (b"[" + b"a." * 100_000 + b"a]\n", 1, "nested too deep"),
    ('a = 1\n"é" = 1\n"\uefc3\uefa9" = 2\n'.encode(), 1, "the file: a key stands in it twice"),
])
def test_a_fault_is_one_line_with_name_and_line(data: bytes, line: int, what: str) -> None:
    with pytest.raises(FormatError, match=what) as error:
        tomlio.loads(data, "pre.toml")
    assert str(error.value).startswith(f"pre.toml:{line}: ")
    assert "\n" not in str(error.value)


def test_the_line_counts_from_the_part_that_is_read() -> None:
    with pytest.raises(FormatError, match=r"^f:41: not valid"):
        tomlio.loads("a = 1\nb = \n", "f", lambda: 40)
    with pytest.raises(FormatError, match=r"^f:41: b: an integer"):
        tomlio.loads("a = 1\nb = 9223372036854775808\n", "f", lambda: 40)


def test_the_stdlib_parser_gives_the_same_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tomlio, "_parse", tomllib.loads)
    with pytest.raises(FormatError, match=r"^f:2: not valid TOML: Invalid value$"):
        tomlio.loads("a = 1\nb = x\n", "f")
    with pytest.raises(FormatError, match=r"^f:2: not valid TOML: .*\(at its end\)$"):
        tomlio.loads("a = 1\nb = [", "f")
    with pytest.raises(FormatError, match="nested too deep"):
        tomlio.loads("a = " + "[" * 100_000, "f")


def test_byte_order_mark_and_crlf_are_accepted() -> None:
    assert tomlio.loads(b"\xef\xbb\xbfa = 1\r\n[b]\r\nc = 2\r\n", "f") == {"a": 1, "b": {"c": 2}}
    assert tomlio.loads(b"", "f") == {}


@given(st.binary(max_size=200) | st.text('ab."\'[]{}=,#\n 1\\', max_size=60).map(str.encode))
def test_any_bytes_are_a_table_or_a_format_error(data: bytes) -> None:
    try:
        assert type(tomlio.loads(data, "f")) is dict
    except FormatError as error:
        assert str(error).startswith("f:")
        assert len(str(error).splitlines()) == 1


@pytest.mark.parametrize(("path", "text"), [
    (("sysctl", "values", "vm.swappiness"), 'sysctl.values."vm.swappiness"'),
    (("rows", 3, "x"), "rows[3].x"),
    (("a", ""), 'a.""'),
    (("a", 'b"\n\x9b'), 'a."b\\"\\n\\U0000009b"'),
    ((), ""),
])
def test_a_path_reads_as_toml_spells_it(path: tuple[str | int, ...], text: str) -> None:
    assert tomlio.dotted(path) == text


LINES = '''\
# a comment
top = 1
[a]
x = """
[b]
y = 1
"""
l = [
    1,
    [2], # ]
]

[[a.t]]
k = 1
[[a.t]]
k = 2
inline = { p = 1, q = 2 }
d.e = 5
[b."x.y"]
y = 1
'''


@pytest.mark.parametrize(("path", "line"), [
    (("top",), 2), (("a", "x"), 4), (("a", "l"), 8), (("a", "l", 1, 0), 8), (("a", "t", 0, "k"), 14),
    (("a", "t", 1, "k"), 16), (("a", "t", 1, "inline", "q"), 17), (("a", "t", 1, "d", "e"), 18),
    (("b", "x.y", "y"), 20), (("b", "x.y", "missing"), 19), (("b",), 19), (("none",), None), ((), None),
])
def test_the_line_of_a_key(path: tuple[str | int, ...], line: int | None) -> None:
    assert tomlio.line_of(LINES, path) == line
    assert tomlio.line_of(LINES.replace("\n", "\r\n"), path) == line


def test_the_search_for_a_line_gives_up_on_a_statement_that_may_end_on_any_line() -> None:
    text = "a = 1\nb = [\n" + '"]",\n' * 20_000 + "]\n"
    assert tomlio.line_of(text, ("a",)) == 1
    assert tomlio.line_of(text, ("b",)) is None


@given(tables)
def test_every_key_of_a_table_has_a_line_that_holds_it(table: dict[str, Any]) -> None:
    lines = ["t = 1", *tomlio.dumps({"u": table}).split("\n")]
    for key in table:
        line = tomlio.line_of("\n".join(lines), ("u", key))
        assert line is not None
        assert tomlio.dumps({key: 1}).removesuffix(" = 1\n") in lines[line - 1]
