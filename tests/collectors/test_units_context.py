"""What the recorded lines of a script stand in, and the words of their variables."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors.units_context import in_context, interpreter
from snapshot.collectors.units_lines import tuning_lines
from snapshot.collectors.units_udev import parse

SCRIPT = """\
#!/bin/bash
set -e
LIMIT=450
REG="CAP_EXP+8.w"
VALUE=5000
VALUE=4000
[ -x /usr/bin/setpci ] || exit 0
nvidia-smi -pl $LIMIT
for d in $(lspci -Dnd 10de: | cut -d" " -f1); do
    if [ -e "/x" ]; then
        FULL="$REG=$VALUE"
        setpci -s $d $FULL
    fi
done
"""


def told(text: str) -> dict[int, tuple[list[str] | None, dict[str, str] | None]]:
    return {line.origin.line: (line.depends, line.values) for line in in_context(text, tuning_lines(text, "/x"))}


def test_conditions_loops_and_variables() -> None:
    guard = "[ -x /usr/bin/setpci ] || exit 0"
    loop = 'for d in $(lspci -Dnd 10de: | cut -d" " -f1)'
    assert told(SCRIPT) == {
        7: (None, None),
        8: ([guard], {"LIMIT": "450"}),
        12: ([guard, loop, 'if [ -e "/x" ]'], {"FULL": '"$REG=$VALUE"', "REG": '"CAP_EXP+8.w"'}),
    }


@pytest.mark.parametrize(("text", "depends"), [
    ("setpci x\n", None),
    ("exit 0\nsetpci x\n", ["exit 0"]),
    ("exec foo\nsetpci x\n", ["exec foo"]),
    ("exec >/tmp/log\nsetpci x\n", None),
    ("if a; then exit 1; fi\nsetpci x\n", ["if a: exit 1"]),
    ("(exit 1)\nsetpci x\n", None),
    ("a && {\n b || exit\n}\nsetpci x\n", ["b || exit"]),
    ("true &&\nsetpci x\n", None),
    ("a &&\nsetpci x\n", ["a &&"]),
    ("a || \\\nsetpci x\n", None),  # one line: its own text says so
    ("f() {\n setpci x\n}\n", ["f()"]),
    ("f() {\n setpci x\n}\nf\n", None),
    ("f() {\n setpci x\n}\na && f\n", ["f()"]),
    ("f() {\n setpci $1\n}\nf 1\n", ["f()"]),
    ("f() {\n [ $1 ] || return\n setpci x\n}\nf 1\n", ["[ $1 ] || return"]),
    ("die() { exit 1; }\na || die\nsetpci x\n", ["a || die"]),
    ("case $1 in\nstart)\n setpci x;;\nesac\n", ["case $1"]),
    ("while read l\ndo\n setpci $l\ndone\n", ["while read l"]),
    ("while true; do\n setpci x\n sleep 9\ndone\n", None),
    ("if a\nthen b\nelse setpci x\nfi\n", ["else of if a"]),
    ("if a; then b\nelif setpci -q; then c; fi\n", ["else of if a"]),
    ("cat > /x <<EOF\nsetpci x\nEOF\n", ["within a here-document or a quoted text"]),
    ("cat <<-'E'\n\tsetpci x\n\tE\nsetpci y\n", ["within a here-document or a quoted text"]),
    ("su -c '\nsetpci x\n'\n", ["within a here-document or a quoted text"]),
    ("shift\nsetpci $1\n", ["shift"]), ("shift\nsetpci x\n", None), ("set -- a\nsetpci ${1}\n", ["set -- a"]),
    ("set -e -u\nset -o pipefail\nsetpci $1\n", None),
    ("setpci 'x\n", ["not understood: ' is not closed: \"'x\\n\""]),
    ("if curl -u op:hunter2 x; then\nsetpci x\nfi\n", ["if curl -u op:<redacted> x"]),
])
def test_what_a_line_depends_on(text: str, depends: list[str] | None) -> None:
    found = next(iter(told(text).values()))
    assert found[0] == depends


@pytest.mark.parametrize(("text", "values"), [
    ("A=1\nsetpci $A\n", {"A": "1"}), ("A='1 2'\nsetpci ${A}\n", {"A": "'1 2'"}),
    ("export A=1\nsetpci $A\n", {"A": "1"}),
    ("A=${1:-3}\nsetpci $A\n", {"A": "${1:-3}"}), ("A=$(x)\nsetpci $A\n", {"A": "$(x)"}),
    ("A=1\nA=2\nsetpci $A\n", None), ("A=1\nA+=2\nsetpci $A\n", None), ("A=1\nread A\nsetpci $A\n", None),
    ("A=1\n. /etc/x\nsetpci $A\n", None), (". /etc/x\nA=1\nsetpci $A\n", {"A": "1"}),
    ("a && A=1\nsetpci $A\n", None), ("if a; then\nA=1\nsetpci $A\nfi\n", {"A": "1"}),
    ("if a; then A=1; fi\nsetpci $A\n", None), ("setpci $A\nA=1\n", None), ("A=1 true\nsetpci $A\n", None),
    ("TOKEN=hunter2\nsetpci $TOKEN\n", None), ("setpci $UNSET\n", None),
])
def test_the_words_of_variables(text: str, values: dict[str, str] | None) -> None:
    found = [v for _, v in told(text).values()]
    assert found[0 if text.startswith("setpci") else -1] == values


@pytest.mark.parametrize(("text", "name"), [
    ("#!/bin/sh\n", "sh"), ("#!/usr/bin/env -S python3 -u\n", "python3"), ("#! /bin/bash -e\n", "bash"),
    ("setpci\n", ""), ("#!\n", ""), ("", ""), ("#!/usr/bin/env A=1 bash", "bash"),
])
def test_the_interpreter(text: str, name: str) -> None:
    assert interpreter(text) == name


def test_rules_of_udev_that_others_jump_past() -> None:
    text = ('ACTION!="add", GOTO="x"\nA=="1", B=="2", GOTO="y"\nKERNEL=="a", ATTR{x}="1"\nLABEL="x"\n'
            'KERNEL=="b", ATTR{x}="1"\nLABEL="y"\nKERNEL=="c", ATTR{x}="1"\nGOTO="z"\nKERNEL=="d", ATTR{x}="1"\n')
    assert [(rule.match, rule.jumps) for rule in parse(text, "/x")] == [
        (['KERNEL=="a"'], ['ACTION!="add"', 'A=="1", B=="2"']), (['KERNEL=="b"'], ['A=="1", B=="2"']),
        (['KERNEL=="c"'], None), (['KERNEL=="d"'], [""])]


@pytest.mark.parametrize("text", [
    "setpci $(" * 8000, "setpci\n" + "if a; then\n" * 6000, "setpci;" * 9000, "cat <<A\n" * 8000 + "setpci\n",
    "setpci ((((" * 4000, "A=$A\nsetpci $A\n" * 4000, "setpci '" * 8001, "exit || setpci\n" * 4000,
    "f() {\nsetpci\n" * 4000,
])
def test_hostile_text_takes_no_time(text: str) -> None:
    begun = time.process_time()
    in_context(text[:65536], tuning_lines(text[:65536], "/x"))
    assert time.process_time() - begun < 2


@given(st.text(alphabet="af \n;&|(){}[]<>'\"`$\\#=!1\t") | st.text())
def test_any_text_is_survived(text: str) -> None:
    whole = f"{text}\nsetpci $a\n{text}"
    assert len(told(whole)) == len(tuning_lines(whole, "/x"))
