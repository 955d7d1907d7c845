"""Values as the kernel writes them, one file each."""

from __future__ import annotations

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors import kernel_values
from snapshot.collectors.base import Reading, Reads
from snapshot.collectors.kernel_values import (
    each_cpu,
    online,
    parse_cpus,
    parse_list,
    parse_switch,
    parse_word,
    parse_words,
    value,
)
from snapshot.errors import ParseError

from .fake import Content, MemoryHost

CPU = kernel_values.CPU
DENIED = PermissionError(errno.EACCES, "denied")


def reading(files: dict[str, Content]) -> Reading:
    return Reading(MemoryHost(files), Reads(paths=("/**",)))


def test_switches() -> None:
    assert [parse_switch(text) for text in ("1", "Y", "enabled", "0", "false")] == [True, True, True, False, False]


def test_lists() -> None:
    assert [parse_cpus(text) for text in ("", "(null)", "0-2,7", "250-251")] == [[], [], [0, 1, 2, 7], [250, 251]]


@pytest.mark.parametrize("text", ["3-1", "0-99999", "a", "0;1", "0,\0", "1," * 40000])
def test_what_is_no_list(text: str) -> None:
    with pytest.raises(ParseError):
        parse_cpus(text)


@given(st.text())
def test_any_text_is_a_value_or_a_parse_error(text: str) -> None:
    for parse in (parse_switch, parse_word, parse_words, parse_cpus, parse_list):
        try:
            parse(text)
        except ParseError as error:
            assert str(error)


def test_an_empty_file_is_no_value_and_a_missing_one_is_no_fact() -> None:
    view = reading({"/sys/a": "\n", "/sys/b": DENIED})
    assert [value(view, parse_word, f"/sys/{name}", name) for name in "abc"] == [None, None, None]
    assert [(u.path, u.why) for u in view.unreads] == [(("a",), "nothing in it"), (("b",), "EACCES")]


def test_cpus_are_online_by_the_list_or_by_their_folders() -> None:
    assert online(reading({f"{CPU}/online": "0-1,4\n"})) == [0, 1, 4]
    folders: dict[str, Content] = {f"{CPU}/cpu{name}/uevent": "" for name in ("10", "2", "freq", "idle", "x1")}
    assert online(reading(folders)) == [2, 10]
    nothing = reading({})
    assert online(nothing, "online") == []
    assert [(u.path, u.why) for u in nothing.unreads] == [(("online",), "shows no CPU")]


def test_one_bad_cpu_is_noted_once_and_costs_no_other() -> None:
    view = reading({"/sys/0": "1\n", "/sys/1": DENIED, "/sys/2": "x\n", "/sys/3": "1\n"})
    found = each_cpu(view, {cpu: f"/sys/{cpu}" for cpu in range(5)}, parse_switch, "boost")
    assert found == {0: True, 3: True}
    assert [(u.path, u.source, u.why) for u in view.unreads] == [(("boost",), "/sys/1", "EACCES")]
