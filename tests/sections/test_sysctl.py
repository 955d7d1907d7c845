"""Whether a value is what a file says, in every spelling that the kernel takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.sections.sysctl import agrees


@pytest.mark.parametrize(("value", "written"), [
    (16, "16"), (16, "0x10"), (16, "0X10"), (8, "010"), (0, "0"), (0, "00"), (-1, "-1"), (-16, "-0x10"), (5, " 5\t"),
    ("3 4 1 7", "3"), ("3 4 1 7", "3 4"), ("3 4 1 7", "3\t4  1 7"), ("3 4 1 7", "0x3 04"),
    ("4096 131072", "4096\n131072"),
    ("18446744073709551615", "0xffffffffffffffff"), ("/sbin/modprobe", "/sbin/modprobe"), ("|/h %p  %u", "|/h %p %u"),
    ("", ""), ("1-5,7", "1-5,7"), ("fq", "fq"),
])
def test_the_same(value: int | str, written: str) -> None:
    assert agrees(value, written)


@pytest.mark.parametrize(("value", "written"), [
    (16, "10"), (10, "0x10"), (10, "010"), (1, "1_0"), (10, "1_0"), (1, "+1"), (8, "08"), (0, "0x"),
    (1, ""), (1, "1 2"),
    ("3 4 1 7", "4"), ("3 4 1 7", "3 5"), ("3 4 1 7", "3 4 1 7 0"), ("3 4 1 7", ""), ("fq codel", "fq"), ("a", "A"),
    ("1-5,7", "1"), (1, "1\xa0"), (1, "١"), (5, "- 5"), (3, "3.0"), (1, "0b1"),
])
def test_not_the_same(value: int | str, written: str) -> None:
    assert not agrees(value, written)


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(0, 9))
def test_each_spelling_of_a_number(number: int, other: int) -> None:
    sign = "-" if number < 0 else ""
    for written in (f"{number}", f"{sign}{abs(number):#x}", f"{sign}0{abs(number):o}"):
        assert agrees(number, written) and agrees(f"{number} {other}", written)
        assert not agrees(number + 1, written)


@given(st.text(), st.text())
def test_any_text(value: str, written: str) -> None:
    assert agrees(value, value)
    assert agrees(value, written) in (True, False)
