"""Files of a folder of /sys as facts."""

from __future__ import annotations

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors.addresses import without_addresses
from snapshot.collectors.attributes import Attributes, first_word, flag, integer, marked
from snapshot.collectors.base import Reading, Reads
from snapshot.errors import ParseError

from .fake import MemoryHost


def test_what_is_not_there_does_not_exist_and_what_fails_is_unread() -> None:
    broken, none = OSError(errno.EIO, "broken"), OSError(errno.EINVAL, "no such")
    host = MemoryHost({"/x/a": "7\n", "/x/b": broken, "/x/c": "seven\n", "/x/d": none, "/x/e": "\n", "/x/f": "1\n"})
    reading = Reading(host, Reads(("/x/*",)))
    files = Attributes(reading, "/x", ("items", "x"), (errno.EINVAL,))
    assert [files.integer(name, name) for name in "abcde"] == [7, None, None, None, None]
    assert (files.integer("g", "g"), files.flag("f", "f"), files.text("f", "f")) == (None, True, "1")
    assert {u.path[-1]: u.why for u in reading.unreads} == {"b": "EIO", "c": "no number: 'seven'"}
    assert {u.path[:-1] for u in reading.unreads} == {("items", "x")}


@pytest.mark.parametrize("text", ["", "x", "1_0", "٣", "9" * 19, "0x10", "1.5", "--1"])
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(ParseError):
        integer(text)


def test_choices() -> None:
    assert [marked(text) for text in ("[none] bfq", "mq-deadline [bfq] none", "none")] == ["none", "bfq", "none"]
    assert (flag("0"), flag("1"), flag("2"), first_word("802.3ad 4")) == (False, True, True, "802.3ad")
    for parse, text in ((marked, "a b"), (flag, "-1"), (flag, "Y")):
        with pytest.raises(ParseError):
            parse(text)


@given(st.text())
def test_only_parse_errors_are_raised(text: str) -> None:
    for parse in (integer, flag, marked):
        try:
            parse(text)
        except ParseError:
            continue


@pytest.mark.parametrize(("text", "left"), [
    ("ip route add 192.0.2.0/24 via 198.51.100.1", "ip route add <address>/24 via <address>"),
    ("[2001:db8::1]:/export", "[<address>]:/export"), ("198.51.100.1:/x", "<address>:/x"),
    ("::1 ::ffff:192.0.2.1 fe80::1%eth0", "<address> <address> <address>%eth0"), ("a:192.0.2.1", "a:<address>"),
    ("2001:db8:0:0:0:0:0:1", "<address>"), ("02:00:00:00:00:01 0000:41:00.0", "02:00:00:00:00:01 0000:41:00.0"),
    ("9c63:c003:00d4:20f0 6.8.12-9 1.2.3", "9c63:c003:00d4:20f0 6.8.12-9 1.2.3"),
    ("80:00:02:08:fe:80:00:00:00:00:00:11:22:33:44:55:66:77", "80:00:02:08:fe:80:00:00:00:00:00:11:22:33:44:55:66:77"),
])
def test_ip_addresses_go_and_others_stay(text: str, left: str) -> None:
    assert without_addresses(text) == left
