"""The words of a unit's command line, and what it runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors.units_exec import commands, programs, shell_programs
from snapshot.errors import ParseError


@pytest.mark.parametrize(("line", "words"), [
    ("/bin/true", [["/bin/true"]]),
    ("-@!!/bin/true argv0", [["/bin/true", "argv0"]]),
    ("echo 'a b' \"c d\" e\\sf", [["echo", "a b", "c d", "e f"]]),
    ("sed 's/\\./\\'/' \\t", [["sed", "s/\\./'/", "\t"]]),
    ("echo --x='a b'", [["echo", "--x=a b"]]),
    ("echo $$HOME ${X} %i 100%%", [["echo", "$HOME", "${X}", "%i", "100%"]]),
    ("/bin/a ; /bin/b \\; c", [["/bin/a"], ["/bin/b", ";", "c"]]),
    ("echo '' \"\\\"\"", [["echo", "", '"']]),
    ("", []), ("  \t ", []), ("; ;", []),
])
def test_words(line: str, words: list[list[str]]) -> None:
    assert commands(line) == words


@pytest.mark.parametrize("line", ["sh -c 'x", 'a "b', "'"])
def test_an_open_quote_is_an_error(line: str) -> None:
    with pytest.raises(ParseError, match="not closed"):
        commands(line)


@pytest.mark.parametrize(("words", "runs"), [
    (["/usr/local/sbin/tune", "x"], ["/usr/local/sbin/tune"]),
    (["/bin/bash", "/opt/tune.sh"], ["/opt/tune.sh"]),
    (["/usr/bin/env", "A=1", "python3", "-u", "/opt/tune.py"], ["/opt/tune.py"]),
    (["timeout", "-k", "5", "30s", "/opt/x"], ["/opt/x"]), (["flock", "/run/lock/x", "/opt/x"], ["/opt/x"]),
    (["taskset", "-c", "0-3,8", "/opt/x"], ["/opt/x"]), (["sudo", "-u", "op", "/opt/x"], ["/opt/x"]),
    (["python3", "-c", "import os"], []),
    (["/bin/sh", "-c", "test -x /opt/a && /opt/b; exec /opt/c | cat"], ["/opt/b", "/opt/c", "cat"]),
    (["/bin/sh", "-ec", "(cd /x; /opt/d)"], ["/opt/d"]),
    (["/bin/sh", "-c"], []), ([], []), ([""], []),
])
def test_what_a_command_runs(words: list[str], runs: list[str]) -> None:
    assert programs(words) == runs


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    shell_programs(text)
    programs(text.split())
    try:
        found = commands(text)
    except ParseError:
        return
    assert all(found)
