"""Expressions that compile when they are used do what compiled ones do, and all of ours compile."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import snapshot
from snapshot.regexes import Regex, regex


def ours(value: Any, depth: int = 3) -> Iterator[Regex]:
    """The expressions in a value of a module: itself, or in tables and lists."""
    if isinstance(value, Regex):
        yield value
    elif depth and isinstance(value, dict | list | tuple | set):
        for part in value.values() if isinstance(value, dict) else value:
            yield from ours(part, depth - 1)


def test_every_expression_of_the_package_compiles() -> None:
    names = [name for _, name, _ in pkgutil.walk_packages(snapshot.__path__, "snapshot.")]
    found = [one for name in names if "__main__" not in name for one in ours(list(vars(import_module(name)).values()))]
    assert len(found) > 300
    for one in found:
        assert one.groups >= 0


def test_it_answers_as_the_compiled_one() -> None:
    mine, theirs = regex(r"(?P<a>x+)y?", re.IGNORECASE), re.compile(r"(?P<a>x+)y?", re.IGNORECASE)
    assert [m.groupdict() for m in mine.finditer("XXy x")] == [m.groupdict() for m in theirs.finditer("XXy x")]
    assert (mine.pattern, mine.flags, mine.sub("-", "axy")) == (theirs.pattern, theirs.flags, "a-")
    data = regex(rb"\d+").search(b"a12")
    assert data and data[0] == b"12"


def test_a_wrong_expression_is_an_error_when_it_is_used() -> None:
    wrong = regex("(")
    with pytest.raises(re.error):
        wrong.match("x")
