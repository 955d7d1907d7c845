"""Any text is survived by every parser: it says what it makes of it or raises ParseError, and in bounded time."""

from __future__ import annotations

import pkgutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from inspect import isfunction
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapshot import collectors
from snapshot.collectors.base import CONFIG_LIMIT, CONFIG_LINES, decode
from snapshot.errors import ParseError

from .parsers import PARSERS, encode

OTHER = str.maketrans("0123456789ynYN", "1234567890nyNY")  # makes a text contradict itself
SECONDS = 10  # of the process's own time, a hundred times what the slowest needs
WORDS = (
    b"99999999999999999999999", b"-1", b"1e999", b"0x", "\u0663\u00b2".encode(), b"\xff\xfe", b"\0" * 9, b"=", b":",
    b",", b"\t", b"\n\n", b"[]", b"%n", b"N/A", "\u2028\u0085\x1c".encode(),
)


@contextmanager
def bounded() -> Iterator[None]:
    """Fails what takes longer, also within one call of the re module."""
    def late(_number: int, _frame: FrameType | None) -> None:
        pytest.fail("it hangs")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def parsed(name: str, sample: str) -> object:
    """What the parser says, or its ParseError, whose text has to say something and be short enough for a line."""
    module, function = name.split(" ")[0].rstrip(",").split(".")
    parse = getattr(import_module(f"snapshot.collectors.{module}"), function)
    try:
        with bounded():
            found = PARSERS[name].call(parse, sample)
            return list(found) if isinstance(found, Iterator) else found
    except ParseError as error:
        assert 0 < len(str(error)) < 1000
        return error


def test_every_parser_is_in_the_table() -> None:
    known = {name.split(" ")[0].rstrip(",") for name in PARSERS}
    for found in pkgutil.iter_modules(collectors.__path__):
        module = import_module(f"snapshot.collectors.{found.name}")
        for name, value in vars(module).items():
            if isfunction(value) and value.__module__ == module.__name__ and name.split("_")[0] == "parse":
                assert f"{found.name}.{name}" in known


@pytest.mark.parametrize("name", PARSERS)
def test_a_good_sample_is_understood(name: str) -> None:
    found = parsed(name, PARSERS[name].sample)
    assert found and not isinstance(found, ParseError), found


@pytest.mark.parametrize("name", PARSERS)
def test_what_is_empty_cut_doubled_or_of_another_system(name: str) -> None:
    sample = PARSERS[name].sample
    step = max(len(sample) // 60, 1)
    for text in ("", "\n", "\0", decode(bytes(range(256)) * 16), sample.replace("\n", "\r\n"), sample + sample,
                 sample + sample.translate(OTHER), sample.upper(), sample[::-1], sample.replace("\n", "\r"),
                 "\ufeff" + sample, "\n".join(sample), *(sample[:end] for end in range(0, len(sample), step))):
        parsed(name, text)


@pytest.mark.parametrize("name", PARSERS)
def test_what_is_huge(name: str) -> None:
    for unit in ("a", "\0", "9", " ", "[", '"', "="):
        parsed(name, unit * CONFIG_LIMIT)
    lines = PARSERS[name].sample.splitlines(keepends=True)
    for unit in ("\n", "a=b\n", lines[len(lines) // 2].rstrip("\n") + "\n"):
        parsed(name, unit * min(CONFIG_LINES, CONFIG_LIMIT // len(unit)))


@pytest.mark.parametrize("name", PARSERS)
def test_what_is_nested(name: str) -> None:
    sample = PARSERS[name].sample
    for opening in ("[", "{", "(", "<a>", '{"a":', "- ", "submenu a {\n", "if x\n", "a.", "$(", "'", "\\"):
        parsed(name, opening * 20_000)
        parsed(name, sample + opening * 2_000 + sample)


@pytest.mark.parametrize("name", PARSERS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_what_is_damaged(name: str, data: st.DataObject) -> None:
    sample = encode(PARSERS[name].sample)
    for _ in range(data.draw(st.integers(1, 3))):
        start, end = sorted((data.draw(st.integers(0, len(sample))), data.draw(st.integers(0, len(sample)))))
        patch = data.draw(st.one_of(st.binary(max_size=8), st.sampled_from(WORDS), st.just(sample[start:end] * 2)))
        sample = sample[:start] + patch + sample[end:]
    parsed(name, decode(sample))
