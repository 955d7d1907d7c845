"""Debian's order of versions; each row was checked with dpkg --compare-versions."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.sections.debversion import order, release_order

RISING = [
    "0~", "0", "0.0", "1.0~rc1-1", "1.0~rc1-2", "1.0", "1.0-1~deb12u1", "1.0-1", "1.0-1a", "1.0-1+b1",
    "1.0-1.1", "1.0-9", "1.0-10", "1.0a-1", "1.0+b", "1.0.1", "1.2", "1.10", "99", "1:0.1", "2:0",
]
RELEASES = [
    "5.15.158-2-pve", "6.1.0-9-amd64", "6.1.0-57-amd64", "6.8.12-9-pve", "6.8.12-10-pve", "6.12.95+deb12",
    "6.14.0-rc1", "6.14.0-rc10", "6.14.0", "6.14.0-33-generic", "6.14.11-1-pve", "7.0.0-3-pve",
]
SAME = [("1.0", "1.0-0"), ("0:1", "1"), ("1.01", "1.1"), ("1.", "1.0"), ("", "0")]
TEXT = st.text(alphabet="01239azAZ.+-:~", max_size=12)


@pytest.mark.parametrize(("older", "newer"), list(pairwise(RISING)))
def test_versions_rise(older: str, newer: str) -> None:
    assert order(older) < order(newer)


def test_parts_without_number_are_in_the_order_of_the_manual() -> None:
    assert sorted(["", "a", "~", "~~a", "~~"], key=order) == ["~~", "~~a", "~", "", "a"]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_versions_that_are_equal(one: str, other: str) -> None:
    assert order(one) == order(other)


def test_kernel_releases_rise() -> None:
    assert [b for _, b in sorted((release_order(r), r) for r in {*RELEASES})] == RELEASES


def test_any_text_has_an_order() -> None:
    assert order("1." + "9" * 100_000) < order("1." + "9" * 100_001)
    assert order("²:²") != order("\udcff")


@given(TEXT, TEXT, TEXT)
def test_the_order_is_total(a: str, b: str, c: str) -> None:
    low, middle, high = sorted([a, b, c], key=order)
    assert order(low) <= order(middle) <= order(high)
    assert order(low) <= order(high)
