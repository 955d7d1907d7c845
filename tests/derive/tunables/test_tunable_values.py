from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.derive.tunables.tunable_setters import matcher
from snapshot.derive.tunables.tunable_values import (
    Value,
    agrees,
    as_live,
    flag,
    kilohertz,
    number,
    parameter_agrees,
    sysctl_agrees,
    text,
)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("10", 10),
        ("-1", -1),
        ("0x1E", 30),
        ("0200000", 65536),
        ("0", 0),
        ("09", None),
        ("ten", None),
        ("", None),
        ("1_0", None),
        ("\u0661", None),
        ("1" * 40, None),
    ],
)
def test_numbers_as_the_kernel_reads_them(written: str, value: int | None) -> None:
    assert number(written) == value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("Y", True),
        ("1", True),
        ("on", True),
        ("ENABLED", True),
        ("true", True),
        ("N", False),
        ("0", False),
        ("off", False),
        ("Disabled", False),
        ("", None),
        ("always", None),
        ("o", None),
    ],
)
def test_switches(written: str, value: bool | None) -> None:
    assert flag(written) is value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("3300000", 3300000),
        ("3.3GHz", 3300000),
        ("2100 MHz", 2100000),
        ("1Thz", 10**9),
        ("fast", None),
        ("", None),
    ],
)
def test_frequencies(written: str, value: int | None) -> None:
    assert kilohertz(written) == value


@pytest.mark.parametrize(
    ("live", "written", "same"),
    [
        (True, "1", True),
        (True, "N", False),
        (False, "off", True),
        (False, "maybe", None),
        (10, "0xa", True),
        (10, "11", False),
        (10, "ten", None),
        (1.5, "1.5", True),
        (1.5, "\x1c1.5\x1f", True),  # what str.strip takes for blanks, float does not
        (2, "2.0", True),
        ("madvise", "madvise", True),
        ("write back", "write  back\n", True),
        ("0x0007", "7", True),
        ("always", "never", False),
        ("0x0007", "y", False),
    ],
)
def test_agrees(live: Value, written: str, same: bool | None) -> None:
    assert agrees(live, written) is same


@pytest.mark.parametrize(
    ("live", "written", "same"),
    [
        (10, "10", True),
        (30, "0x1e", True),
        (65536, "0200000", True),
        (10, "10 # note", True),
        (300006, "300006 7", True),
        (10, "60", False),
        (10, "+10", None),
        (10, "ten", None),
        (10, "", None),
        (10, "#10", None),
        ("4096 131072 6291456", "4096\t131072 6291456", True),
        ("4096 131072 6291456", "4096", True),
        ("4096 131072 6291456", "4096 131072 # keep", True),
        ("4096 131072 6291456", "4096 1", False),
        ("fq_codel", "fq_codel", True),
        ("fq_codel", "pfifo_fast", False),
        ("fq_codel", "fq_codel # x", False),
        ("", "1", False),
    ],
)
def test_sysctls_agree_as_the_kernel_takes_them(live: Value, written: str, same: bool | None) -> None:
    assert sysctl_agrees(live, written) is same


@pytest.mark.parametrize(
    ("live", "written", "same"),
    [
        ("Y", "1", True),
        ("Y", "", True),
        ("N", "Y", False),
        ("N", "0", True),
        ("Y", "maybe", None),
        ("68719476736", "0x1000000000", True),
        ("1,2", "0x1,2", True),
        ("1,2", "1", False),
        ("never", "never", True),
        ("PeerMappingOverride=1;", '"PeerMappingOverride=1;"', True),
        ("(null)", "x", False),
    ],
)
def test_parameters(live: Value, written: str, same: bool | None) -> None:
    assert parameter_agrees(live, written) is same


def test_what_is_written_takes_the_type_of_what_is_there() -> None:
    assert as_live("0x10", 1) == 16 and as_live("Y", False) is True and as_live("always", "never") == "always"
    assert as_live("ten", 1) == "ten" and as_live("10", None) == "10" and as_live("maybe", True) == "maybe"
    assert text(True) == "1" and text(4096) == "4096"


@given(st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False), st.text())
def test_no_text_breaks_a_comparison(live: Value, written: str) -> None:
    for compare in (agrees, sysctl_agrees, parameter_agrees):
        assert compare(live, written) in (True, False, None)
    as_live(written, live)


@pytest.mark.parametrize(
    ("glob", "path", "taken"),
    [
        ("/sys/block/nvme*/queue/scheduler", "/sys/block/nvme0n1/queue/scheduler", True),
        ("/sys/block/*/scheduler", "/sys/block/nvme0n1/queue/scheduler", False),
        ("/sys/cpu/cpu[0-9]/x", "/sys/cpu/cpu7/x", True),
        ("/sys/cpu/cpu[0-9]/x", "/sys/cpu/cpu17/x", False),
        ("/sys/cpu/cpu[!0]/x", "/sys/cpu/cpu1/x", True),
        ("/sys/cpu/cpu[!0]/x", "/sys/cpu/cpu0/x", False),
        ("/sys/cpu/cpu[!0]x", "/sys/cpu/cpu/x", False),
        ("/sys/{a,b}/x", "/sys/b/x", True),
        ("/sys/{a,b}/x", "/sys/c/d/x", False),
        ("/sys/cpu{0..3}/x", "/sys/cpu3/x", True),
        ("/sys/cpu{0..3}/x", "/sys/gpu3/x", False),
        ("/sys/$d/x", "/sys/0000:01:00.0/x", True),
        ("/sys/${dev}/x", "/sys/a/b/x", False),
        ("/sys/$(ls)/x", "/sys/a/x", True),
        ("/sys/a.b", "/sys/aXb", False),
        ("/sys/[z-a]", "/sys/z", False),
        ("/sys/[[a]", "/sys/[", True),
        ("/sys/[", "/sys/[", True),
    ],
)
def test_globs_are_the_shells(glob: str, path: str, taken: bool) -> None:
    assert bool(matcher(glob).fullmatch(path)) is taken


@given(st.text(alphabet="/ab*?[]!^-{},.$()\\|\n\u00e9", max_size=30))
def test_any_text_is_a_glob(glob: str) -> None:
    matcher(glob)
