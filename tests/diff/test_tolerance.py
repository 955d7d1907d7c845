"""How far numbers may move: amounts, units, zero, what is no number."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.diff.tolerance import SUFFIXES, UNITS, Tolerance, own_unit

MIB = 1 << 20


def within(amount: str | int | float, before: Any, after: Any, *path: str) -> bool:
    """The answer, which does not depend on the direction."""
    tolerance = Tolerance.parse("memory", amount)
    answer = tolerance.within(path or ("total",), before, after)
    assert tolerance.within(path or ("total",), after, before) is answer
    return answer


@pytest.mark.parametrize(("amount", "before", "after", "path", "answer"), [
    ("1%", 100, 101, "x", True), ("1%", 100, 102, "x", False), ("5%", 100, 95, "x", True),
    ("5 %", -100, -95, "x", True),
    ("5%", -1, 1, "x", False), ("0.1%", 1000, 1001, "x", True), ("1%", 1.0, 1.005, "x", True), ("10%", 1, 1, "x", True),
    ("2", 10, 12, "x", True), ("2", 10, 13, "x", False), (2, 0, 2, "x", True), (0.5, 1.0, 1.5, "x", True),
    ("0", 1, 2, "x", False),
    ("0.1", 0.1, 0.2, "x", True), ("64 MiB", 0, 64 * MIB, "total_bytes", True),
    ("64MiB", 0, 64 * MIB + 1, "total_bytes", False),
    ("1 MiB", 0, 1024, "size_kb", True), ("1 GiB", 0, 1024, "size_mib", True),
    ("5 W", 300_000, 305_000, "limit_mw", True),
    ("5 W", 300_000, 305_001, "limit_mw", False), ("250 us", 0, 250, "latency_us", True),
    ("250 µs", 0, 251, "latency_us", False),
    ("1 ms", 0, 1000, "window_us", True), ("100 MHz", 0, 100_000, "max_khz", True), ("1 GHz", 0, 1001, "sm_mhz", False),
    ("8 GT/s", 8.0, 16.0, "speed_gts", True), ("1 GT/s", 4000, 4800, "speed_mts", True),
    ("1 Gbit/s", 1, 1001, "speed_mbps", True),
])
def test_amounts_and_units(amount: str, before: Any, after: Any, path: str, answer: bool) -> None:
    assert within(amount, before, after, path) is answer


def test_from_zero_is_no_matter_of_percent() -> None:
    assert not within("100%", 0, 1) and not within("1000%", 0.0, 1e-9) and within("1", 0, 1)


@pytest.mark.parametrize(("before", "after"), [
    (float("nan"), 1.0), (float("inf"), 1.0), (float("inf"), float("-inf")), (True, False), (1, 1.0), (1, True),
    ("5", 5), ("a", "b"),
    ([1, 2], [1, 2, 3]), ([1], [1.0]), ([], []), ({"a": 1}, {"a": 1}), ("1  2", "1 2"), ("", ""), ("0x10", "0x11"),
])
def test_what_is_no_number_or_of_another_type_is_within_nothing(before: Any, after: Any) -> None:
    assert not within("1000000", before, after) and not within("100%", before, after)


def test_a_vector_is_within_if_each_number_is() -> None:
    assert within("1%", "88152 117536 176304", "88152 117000 176304")
    assert not within("1%", "88152 117536 176304", "88152 110000 176304")
    assert within("1", [50.0, 0.0], [51.0, 0.0]) and within("1%", [50.0, 0.0], [50.1, 0.0])


@given(st.integers(-9, 9), st.integers(-9, 9), st.sampled_from(["10%", "50%", "100%", "3", "0"]))
def test_neither_side_is_favoured(before: int, after: int, amount: str) -> None:
    answer = within(amount, before, after)
    percent = 100 * abs(before - after) <= float(amount.rstrip("%")) * max(abs(before), abs(after))
    expected = (percent and 0 not in (before, after)) if amount.endswith("%") else abs(before - after) <= int(amount)
    assert answer == (before == after or expected)


@pytest.mark.parametrize(("path", "unit"), [
    (("nodes", "0", "total_bytes"), "B"), (("autosuspend_ms", "0000:01:00.0"), "ms"), (("x",), ""), ((), ""),
    (("zones", "intel-rapl:0", "limits", "long_term", "power_uw"), "uW"), (("values", "vm.dirty_bytes"), "B"),
    (("caches", "L2", "shared_by"), ""),
])
def test_the_unit_is_in_the_last_name_that_has_one(path: tuple[str, ...], unit: str) -> None:
    assert own_unit(path) == unit


def test_every_suffix_is_a_unit() -> None:
    assert {*SUFFIXES.values()} <= UNITS.keys()


def test_a_unit_that_is_not_the_facts_is_within_nothing() -> None:
    assert Tolerance.parse("memory", "1 W").scaled(("total_bytes",)) is None
    assert not within("1 W", 1, 1, "total_bytes") and not within("1 W", 1, 2, "pages")


@pytest.mark.parametrize(("pattern", "amount", "words"), [
    ("memory.total_bytes", "1 W", "memory.total_bytes is in B, which '1 W' is not"),
    ("cpufreq.max_khz", "1 s", "is in kHz"),
    ("memory", "1 kB", "there is no unit 'kB'"), ("memory", "-1", "is no tolerance"),
    ("memory", "1%%", "is no tolerance"),
    ("memory", "", "is no tolerance"), ("memory", "a lot", "is no tolerance"), ("memory", True, "is no tolerance"),
    ("memory", float("nan"), "is no tolerance"), ("memory", float("inf"), "is no tolerance"),
    ("memory", "1e3", "is no tolerance"),
    ("+memory", "1%", "leave the sign out"), ("memry", "1%", "memory?"),
])
def test_an_error_says_what_does_not_go_together(pattern: str, amount: Any, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        Tolerance.parse(pattern, amount)
    assert words in str(caught.value)
