"""The host of dicts behaves as the interface says, so that collector tests prove something."""

from __future__ import annotations

import errno
from types import ModuleType

import pytest

from snapshot.collectors.base import Reading, Reads, UndeclaredError
from snapshot.sections.os import Os

from .fake import MemoryHost, gather, node

DENIED = PermissionError(errno.EACCES, "denied")
HOST = MemoryHost(
    {"/a/b": "x", "/a/.hidden": b"", "/boot/": DENIED, "/secret": DENIED, "/empty/": b"", "/big": b"12345"},
    links={"/l": "a", "/a/up": "../secret", "/loop": "loop", "/dangling": "/nowhere"},
    nodes={"/dev/null": node("char", 1, 3), "/dev/bad": OSError(errno.EIO, "bad")},
)


def failure(call: str, path: str) -> str:
    with pytest.raises(OSError) as caught:
        getattr(HOST, call)(path)
    return errno.errorcode[caught.value.errno or 0]


@pytest.mark.parametrize(("call", "path", "name"), [
    ("read", "/nope", "ENOENT"), ("read", "/a/b/c", "ENOTDIR"), ("read", "/a", "EISDIR"),
    ("read", "/loop", "ELOOP"),
    ("read", "/secret", "EACCES"), ("read", "/a/up", "EACCES"), ("read", "/dangling", "ENOENT"),
    ("list", "/boot", "EACCES"), ("list", "/a/b", "ENOTDIR"), ("glob", "/boot/v*", "EACCES"),
    ("stat", "/boot/v", "EACCES"), ("stat", "/dev/bad", "EIO"), ("readlink", "/a", "EINVAL"),
])
def test_failures_keep_their_number(call: str, path: str, name: str) -> None:
    assert failure(call, path) == name


def test_what_is_there_is_found() -> None:
    assert HOST.read("/l/b") == b"x"
    assert HOST.list("/l/") == [".hidden", "b", "up"]
    assert HOST.list("/empty") == []
    assert HOST.readlink("/dangling") == "/nowhere"
    assert HOST.stat("/dangling", follow=False).type == "link"
    assert HOST.stat("/dev/null") == node("char", 1, 3)
    assert HOST.stat("/secret").type == "file"


def test_globs_match_within_a_part_and_no_hidden_name() -> None:
    assert HOST.glob("/a/*") == ["/a/b", "/a/up"]
    assert HOST.glob("/a/.*") == ["/a/.hidden"]
    assert HOST.glob("/?/b") == ["/a/b", "/l/b"]
    assert HOST.glob("/nope/*") == HOST.glob("/a/b/*") == []


def test_a_walk_gives_files_and_errors_and_follows_no_link() -> None:
    walked = dict(HOST.walk("/", frozenset({"/big"}), lambda path: path == "/empty"))
    assert walked == {"/a/b": b"x", "/a/.hidden": b"", "/boot": DENIED, "/secret": DENIED}


def test_too_much_is_refused() -> None:
    with pytest.raises(OSError, match="File too large"):
        HOST.read("/big", limit=4)


def test_reading_what_is_not_declared_fails() -> None:
    module = ModuleType("module")

    def collect(reading: Reading) -> Os:
        return Os(id=reading.text("/b", "id"))

    module.__dict__.update(READS=Reads(("/a",)), collect=collect)
    with pytest.raises(UndeclaredError):
        gather(module, MemoryHost())
