"""Errors in the kernel log."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors.nvidia_events import GREP, from_boot, parse_events

LOST_AT_PROBE = ("NVRM: The NVIDIA GPU 0000:b3:00.0\n"
                 "               NVRM: (PCI ID: 10de:26b5) installed in this system has\n"
                 "               NVRM: fallen off the bus and is not responding to commands.\n")


@pytest.mark.parametrize(("line", "address", "found"), [
    ("NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=x, Timeout after 6s", "0000:9b:00.0", {"xid": {"119": 1}}),
    ("NVRM: Xid (PCI:00000001:9b:00): 31, x", "0001:9b:00.0", {"xid": {"31": 1}}),
    ("NVRM: GPU 0000:01:00.0: GPU has fallen off the bus.", "0000:01:00.0", {"off_bus": 1}),
    (LOST_AT_PROBE, "0000:b3:00.0", {"off_bus": 1}),
    ("NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x25:0x40:1238)", "0000:01:00.0", {"init_failed": 1}),
    ("pcieport 0000:00:02.0: AER: Corrected error received: id=0010", "0000:00:02.0", {"aer_correctable": 1}),
    ("pcieport 0000:00:02.0: AER: Uncorrected (Fatal) error received: id=0010", "0000:00:02.0", {"aer_fatal": 1}),
    ("pcieport 0000:00:02.0: AER: Multiple Uncorrected (Non-Fatal) error received: 0000:02:00.0", "0000:02:00.0",
     {"aer_nonfatal": 1}),
    ("pcieport 0000:40:01.1: AER: Correctable error message received from 0000:41:00.0", "0000:41:00.0",
     {"aer_correctable": 1}),
])
def test_lines(line: str, address: str, found: dict[str, object]) -> None:
    events = parse_events(f"Linux version 6\n{line}\nmore\n")
    assert {key: event.table() for key, event in events.items()} == {address: found}
    assert re.search(GREP, line.split("\n")[-2] if "\n" in line else line)


def test_counts_are_by_device_and_code() -> None:
    one, other = "NVRM: Xid (PCI:0000:01:00): 79, x\n", "NVRM: Xid (PCI:0000:01:00): 13, x\n"
    events = parse_events(one * 2 + other + one.replace("01:", "02:"))
    assert {key: found.table() for key, found in events.items()} == {
        "0000:01:00.0": {"xid": {"13": 1, "79": 2}}, "0000:02:00.0": {"xid": {"79": 1}}}


def test_where_the_log_begins() -> None:
    assert from_boot("Linux version 6.8.12-9-pve (x)\n")
    assert not from_boot("NVRM: loading, on Linux version 6\n")


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    parse_events(text)
    parse_events(f"NVRM: Xid (PCI:0000:01:00): {text}, x\nNVRM: GPU 0000:01:00.0: {text}")


def test_logs_of_the_corpus(corpus: Path) -> None:
    def of(name: str) -> dict[str, dict[str, object]]:
        return {key: found.table() for key, found in parse_events((corpus / "dmesg" / name).read_text()).items()}

    assert of("gpud-xid-119.log")["0000:9b:00.0"]["xid"] == {"119": 5}
    assert of("xid79-after-aer-fatal-k80.txt") == {
        "0000:00:02.0": {"aer_correctable": 1, "aer_fatal": 1}, "0000:02:00.0": {"xid": {"79": 1}}}
    assert of("fallen-off-bus-without-xid.txt") == {"0000:b3:00.0": {"off_bus": 1}}
    assert of("i7-8750h-xid31-fragment.syslog.txt")["0000:01:00.0"]["xid"] == {"31": 1}
    assert of("threadripper5955wx-ubuntu2204.full.txt") == {}
