"""The commands of a shell script and what decides whether they run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.errors import ParseError
from snapshot.sections.shell import Condition, Loop, assigned, steps
from snapshot.sections.shell_tokens import substitutions, tokens


@pytest.mark.parametrize(("text", "found"), [
    ("a 'b c' \"d $(e 'f)')\" g\\ h # i", [["a", "'b c'", "\"d $(e 'f)')\"", "g\\ h"]]),
    ("a;b&c|d\ne", [["a"], ["b"], ["c"], ["d"], ["e"]]),
    ("A=(1 2) b ${c:-d e} $((1 + 2)) `f g`", [["A=(1 2)", "b", "${c:-d e}", "$((1 + 2))", "`f g`"]]),
    ("cat <<'E' <<-F\nx\nE\n\ty\n\tF\nz", [["cat"], ["z"]]),
    ("[[ -e a && b < c ]] && d", [["[[", "-e", "a", "&&", "b", "<", "c", "]]"], ["d"]]),
    ("((i++)); let x", [["((i++))"], ["let", "x"]]), ("a \\\n b", [["a", "b"]]), ("", []), ("done; } fi", []),
    ("diff <(a b) <(c)", [["diff", "<(a b)", "<(c)"]]),
])
def test_words(text: str, found: list[list[str]]) -> None:
    assert [list(step.words) for step in steps(text)] == found


def test_redirections_and_pipes() -> None:
    (one, two) = steps("echo 1 2>/dev/null >>/x|tee /y <<<z")
    assert [(r.sign, r.word) for r in one.redirects] == [("2>", "/dev/null"), (">>", "/x")]
    assert [(r.sign, r.word) for r in two.redirects] == [("<<<", "z")]
    assert two.piped == one and one.piped is None


def test_what_a_command_stands_in() -> None:
    text = "for d in a 'b c'; do\n if x; then y; elif z; then :; else w; fi\ndone\nexit 0\nv"
    within = {step.words[0]: step.within for step in steps(text)}
    loop = Loop("d", ("a", "'b c'"), "for d in a 'b c'", 1)
    assert within == {
        "x": (loop,), "y": (loop, Condition("if x", 2)), "z": (loop, Condition("else of if x", 2)),
        ":": (loop, Condition("if z", 2)), "w": (loop, Condition("else of if z", 2)), "exit": (),
        "v": (Condition("exit 0", 4, never=True),)}


@pytest.mark.parametrize(("text", "last"), [
    ("a && b", ["a &&"]), ("a || b", ["a ||"]), ("true && b", []), ("true && x && b", ["x &&"]), ("a; b", []),
    ("a & b", []), ("a | x && b", ["x &&"]), ("a || true && b", []), ("a && { x; b; }", ["a &&"]), ("(a; b)", []),
    ("while a; do b; done", ["while a"]), ("while :; do b; done", []), ("until a; do b; done", ["until a"]),
    ("case x in y|z) a;; *) b; esac", ["case x"]), ("select d in a; do b; done", ["select d"]),
    ("for d; do b; done", ["for d"]), ("for ((i=0; i<3; i++)); do b; done", ["for ((i=0; i<3; i++))"]),
    ("f() { return; }; b", []), ("f() { exit; }; f; b", ["f may exit"]), ("f() { exit; }; a && f; b", ["a && f"]),
    ("a || return 1; b", []), ("if a; then exec c; fi; b", ["if a: exec c"]),
    ("function f { b; }", ["f()"]), ("f ()\n{\nb\n}", ["f()"]), ("f() { b; }; f", []),
])
def test_conditions(text: str, last: list[str]) -> None:
    found = [step for step in steps(text) if step.words == ("b",)]
    assert [block.text for block in found[-1].within] == last


def test_assignments() -> None:
    (first, second, third, fourth, fifth) = steps("A=1 B='2 3'; export C=$A D; E+=x; F=1 cmd; read -r G H")
    assert [list(assigned(step)) for step in (first, second, third, fourth, fifth)] == [
        [("A", "1"), ("B", "'2 3'")], [("C", "$A")], [("E", None)], [], [("G", None), ("H", None)]]


def test_commands_within_words() -> None:
    word = "\"a $(b $(c)) `d`\" '$(e)' $((1+1)) \\$(f"
    assert list(substitutions(word)) == ["b $(c)", "d"]


@pytest.mark.parametrize("text", ["'a", 'a "b', "$(a", "${a", "`a", "((a", "$(" * 40 + ")" * 40, "if a; then " * 60])
def test_what_is_not_closed_or_too_deep_is_an_error(text: str) -> None:
    with pytest.raises(ParseError):
        steps(text)


@given(st.text(alphabet="af \n;&|(){}[]<>'\"`$\\#=!1\t") | st.text())
def test_any_text_is_survived(text: str) -> None:
    try:
        found = steps(text)
        assert all(step.line <= step.end for step in found)
        assert all(token.text for token in tokens(text))
        for step in found:
            assert all(isinstance(inner, str) for word in step.words for inner in substitutions(word))
    except ParseError:
        return
