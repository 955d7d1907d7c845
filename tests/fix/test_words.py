"""Commands taken apart, and what a word stands for."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.fix.words import comment, literal, pieces, quote, spelled


@pytest.mark.parametrize(("word", "text"), [
    ("a", "a"), ("'a b'", "a b"), ('"a b"', "a b"), (r"a\ b", "a b"), ("'a'\"'\"'b'", "a'b"), (r'"\$x"', "$x"),
    (r'"a\b"', r"a\b"), ("'$x'", "$x"), ("a~", "a~"), ("", ""), ("'*'", "*"),
    ("$x", None), ("`x`", None), ('"$(x)"', None), ("a*", None), ("~", None), ("[a]", None),
    ("a?", None), ("'\0'", None),
])
def test_literal(word: str, text: str | None) -> None:
    assert literal(word) == text


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_what_is_quoted_is_literal(text: str) -> None:
    assert literal(quote(text)) == text


@given(st.text(alphabet="ab '\"\\$`*~[]\n;&|<>#(){}", max_size=12))
def test_what_is_literal_is_what_a_shell_makes_of_it(text: str) -> None:
    found = pieces(text)
    if not found or len(found) > 1 or found[0].redirects or None in map(literal, found[0].words):
        return
    words = [literal(word) or "" for word in found[0].words]
    script = f"set -f; printf '%s\\0' {' '.join(found[0].words)}"
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.split("\0")[:-1] == words


@pytest.mark.parametrize("command", [
    "a; b", "a & b", "a\nb", "(a)", "a # b", "'a", "a >", "", " ", "a && ", "a || | b"])
def test_no_pieces(command: str) -> None:
    assert pieces(command) is None


def test_pieces() -> None:
    found = pieces("grep -q 'a|b' f | cat || echo x >> /etc/y")
    assert found is not None
    assert [(piece.joint, piece.words, piece.redirects) for piece in found] == [
        ("", ("grep", "-q", "'a|b'", "f"), ()), ("|", ("cat",), ()), ("||", ("echo", "x"), ((">>", "/etc/y"),))]


@pytest.mark.parametrize(("command", "text"), [
    ("cat /sys/*/type", "cat /sys/*/type"), ("ls 'a b'", "ls 'a b'"), ("ls 2>/dev/null", "ls 2>/dev/null"),
    ("ls > x", None), ("ls $x", None), ("ls `x`*", None),
])
def test_spelled(command: str, text: str | None) -> None:
    found = pieces(command)
    assert found is not None
    assert spelled(found[0]) == text


@given(st.text())
def test_a_comment_is_nothing_but_comment(text: str) -> None:
    assert all(line.startswith("#") for line in comment(text).split("\n"))
    assert not {*comment(text)} & {*"\r\x1b\0\x85\u2028\u202e"}
