"""Paths and names that every host treats alike."""

from __future__ import annotations

import errno

import pytest

from snapshot.host.base import Command, checked, component


@pytest.mark.parametrize(
    ("path", "plain"),
    [("/", "/"), ("//", "/"), ("/a/", "/a"), ("/a//b", "/a/b"), ("/a/./b", "/a/b"), ("/.a/..b/.", "/.a/..b")],
)
def test_a_path_has_one_form(path: str, plain: str) -> None:
    assert checked(path) == plain


@pytest.mark.parametrize(
    ("path", "number"),
    [("a", errno.ENOENT), ("", errno.ENOENT), ("/a\0b", errno.ENOENT), ("/\ud800", errno.ENOENT),
     ("/a/../b", errno.EINVAL), ("/..", errno.EINVAL)],
)  # fmt: skip
def test_a_path_that_no_file_can_have_is_an_oserror(path: str, number: int) -> None:
    with pytest.raises(OSError) as raised:
        checked(path)
    assert raised.value.errno == number


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [("*", "a", True), ("*", ".a", False), ("?a", ".a", False), (".*", ".a", True), ("a?c", "abc", True),
     ("a[b]c", "abc", False), ("a[b]c", "a[b]c", True), ("*.conf", "x.conf\n", False), ("*", "a\nb", True)],
)  # fmt: skip
def test_only_star_and_question_mark_are_special(pattern: str, name: str, matches: bool) -> None:
    assert bool(component(pattern)(name)) is matches


def test_the_id_of_a_command_is_a_file_name() -> None:
    assert Command(("lspci", "-vvv", "-D")).id == "lspci-vvv-D"
    assert Command(("x", "--a=/b ä")).id == "x-a__b__"
    long = [Command(("x", "u" * 500, word)).id for word in ("a", "b")]
    assert len(set(long)) == 2
    assert max(map(len, long)) < 255
