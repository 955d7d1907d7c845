"""What ethtool says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.parts.net import CHANNELS, COALESCING, FEATURES, RINGS
from snapshot.collectors.base import Reading, Reads
from snapshot.collectors.net_ethtool import commands, parse_coalescing, parse_features, parse_limits, understand
from snapshot.errors import ParseError
from snapshot.host.base import Result

from .fake import MemoryHost


def test_rings_and_channels_are_those_that_have_a_maximum() -> None:
    assert parse_limits(RINGS.format(name="eth0", ring=1024)) == ({"rx": 1024, "tx": 1024}, {"rx": 8192, "tx": 8192})
    assert parse_limits(CHANNELS.format(name="eth0")) == ({"combined": 8}, {"combined": 63})
    old = RINGS.format(name="eth0", ring=512).replace("n/a", "0")
    assert parse_limits(old) == ({"rx": 512, "tx": 512}, {"rx": 8192, "tx": 8192})
    assert parse_limits(old.replace("\n", "\r\n")) == parse_limits(old)


def test_coalescing_has_two_values_in_a_line() -> None:
    found = parse_coalescing(COALESCING)
    assert found["adaptive-rx"] == found["cqe-mode-rx"] == "on"
    assert (found["cqe-mode-tx"], found["tx-usecs"], found["tx-frames"]) == ("off", 8, 128)
    assert "rx-usecs-irq" not in found


def test_what_an_adaptive_driver_moves_is_no_setting() -> None:
    assert not {"rx-usecs", "rx-frames"} & set(parse_coalescing(COALESCING))
    assert parse_coalescing(COALESCING.replace("RX: on  TX: off", "RX: off  TX: off"))["rx-usecs"] == 8


def test_a_feature_that_nobody_can_switch_is_left_out() -> None:
    found = parse_features(FEATURES)
    assert (found["rx-checksumming"], found["hw-tc-offload"]) == (True, False)
    assert not {"tx-checksum-ipv4", "rx-gro-hw"} & set(found)


@pytest.mark.parametrize("text", ["", "Ring parameters for eth0:\n", RINGS[:60], "\0" * 100, "\udcff" * 1000])
def test_what_is_no_answer_is_refused(text: str) -> None:
    for parse in (parse_limits, parse_coalescing, parse_features):
        with pytest.raises(ParseError):
            parse(text)


@given(st.text(alphabet="RX: on/offPre-set maximums:\n\t128[]"))
def test_only_parse_errors_are_raised(text: str) -> None:
    for parse in (parse_limits, parse_coalescing, parse_features):
        try:
            parse(text)
        except ParseError:
            continue


@pytest.mark.parametrize(("result", "why"), [
    (Result(None, why="timeout"), "timeout"), (Result(0, b"junk"), "no maximums and current settings: 'junk'"),
    (Result(1, stderr=b"netlink error: No such device\n"), "netlink error: No such device"), (Result(1), "exit code 1"),
])
def test_an_answer_that_fails_is_unknown(result: Result, why: str) -> None:
    reading = Reading(MemoryHost(), Reads())
    assert understand(reading, commands("eth0")[0], result, ("interfaces", "x")) == {}
    assert {u.path[-1]: u.why for u in reading.unreads} == {"rings": why, "ring_maximums": why}


def test_what_the_driver_does_not_have_does_not_exist() -> None:
    reading = Reading(MemoryHost(), Reads())
    said = Result(80, stderr=b"netlink error: Operation not supported\n")
    assert (understand(reading, commands("eth0")[0], said, ("interfaces", "x")), reading.unreads) == ({}, [])
