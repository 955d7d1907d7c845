"""recorded.json: what is kept, and what a wrong one says."""

from __future__ import annotations

import errno
import json
from datetime import UTC, datetime

import pytest

from snapshot.errors import SnapError
from snapshot.host.base import FIRST_NS, LAST_NS, NOT_RECORDED, Session, Stat
from snapshot.host.tables import Tables, loads

ODD = "/a\udcff\x01ä"


def test_everything_survives() -> None:
    tables = Tables(
        Session(1 << 62, 1000, "0" * 16, "h\udcff"),
        {ODD: Stat("char", 1, 2, 0o4755, 3, 4, 5, 6)},
        {ODD: Stat("link", 0, 0, 0o777, 0, 0, 1, 0)},
        {ODD: "../\udcff"},
        {ODD: [ODD, ""]},
        {ODD: {"read": errno.EIO, "list": errno.ETIMEDOUT, "stat": NOT_RECORDED}},
        {"/": [ODD]},
        {"os": ["/etc/*", ODD]},
    )
    text = tables.dumps()
    assert loads(text) == tables
    assert text.isascii()
    assert text == loads(text).dumps()


def test_a_hand_written_one_may_leave_things_out() -> None:
    tables = loads(b'{"nodes": {"/dev/x": {"type": "char", "major": 195}}}')
    assert tables.nodes == {"/dev/x": Stat("char", 195, 0, 0o644, 0, 0, 0, 0)}
    assert tables.session is None
    assert loads(b"{}") == Tables()


@pytest.mark.parametrize(("ns", "kept"), [(1 << 99, LAST_NS), (-(1 << 99), FIRST_NS), (-1, -1)])
def test_a_file_time_is_one_that_a_date_can_hold(ns: int, kept: int) -> None:
    tables = loads(b'{"nodes": {"/a": {"type": "file", "mtime_ns": %d}}}' % ns)
    assert tables.nodes["/a"].mtime_ns == kept
    datetime.fromtimestamp(kept // 10**9, UTC)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"{", "not JSON"),
        (b'{"format": ' + b"1" * 5000 + b"}", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "the file is no table"),
        (b'{"format": 2}', "format 2 is not 1"),
        (b'{"nodes": []}', "nodes is no table"),
        (b'{"links": {"a": "b"}}', "no absolute path"),
        (b'{"links": {"/a": 1}}', "links '/a' is no text"),
        (b'{"lists": {"/a": "b"}}', "is no list"),
        (b'{"lists": {"/a": [1]}}', "is no text"),
        (b'{"nodes": {"/a": {}}}', "type None is none of"),
        (b'{"nodes": {"/a": {"type": []}}}', "is none of"),
        (b'{"nodes": {"/a": {"type": "file", "mode": "0644"}}}', "mode is no whole number"),
        (b'{"nodes": {"/a": {"type": "file", "size": true}}}', "size is no whole number"),
        (b'{"errors": {"/a": {"read": "EWHAT"}}}', "no errno name"),
        (b'{"errors": {"/a": []}}', "is no table"),
        (b'{"session": {"uid": "0"}}', "uid is no whole number"),
        (b'{"session": []}', "session is no table"),
        (b'{"session": {"taken_ns": -1}}', "session taken_ns is not within 0 and"),
        (b'{"session": {"taken_ns": 999999999999999999999}}', "session taken_ns is not within 0 and"),
        (b'{"session": {"uid": 4294967296}}', "session uid is not within 0 and 4294967295"),
        (b'{"nodes": {"/a": {"type": "file", "size": -1}}}', "nodes '/a' size is not within"),
        (b'{"nodes": {"/a": {"type": "char", "major": 99999999999}}}', "nodes '/a' major is not within"),
        (b'{"asked": []}', "asked is no table"),
        (b'{"asked": {"os": "x"}}', "asked 'os' is no list"),
    ],
)
def test_a_wrong_one_is_one_clear_line(text: bytes, says: str) -> None:
    with pytest.raises(SnapError, match=r"recorded\.json") as raised:
        loads(text)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_form_is_stable() -> None:
    assert json.loads(Tables().dumps()) == {
        "errors": {}, "format": 1, "linknodes": {}, "links": {}, "lists": {}, "nodes": {}, "unwalked": {},
    }  # fmt: skip
