"""/proc/cpuinfo."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors.cpuinfo import parse
from snapshot.errors import ParseError

X86 = """\
processor\t: {}
vendor_id\t: AuthenticAMD
cpu family\t: 26
model\t\t: 2
model name\t: AMD EPYC 9575F 64-Core Processor
stepping\t: 1
microcode\t: 0xb002147
cpu MHz\t\t: 3300.000
flags\t\t: fpu vme: de

"""


def test_an_x86_machine() -> None:
    found = parse("".join(X86.format(n) for n in range(2)))
    assert found.names == dict.fromkeys((0, 1), "AMD EPYC 9575F 64-Core Processor")
    assert (found.vendors[0], found.families[0], found.models[0], found.steppings[0]) == ("AuthenticAMD", 26, 2, 1)
    assert found.microcode == {0: "0xb002147", 1: "0xb002147"}


def test_carriage_returns_do_no_harm() -> None:
    assert parse(X86.format(0).replace("\n", "\r\n")) == parse(X86.format(0))


def test_a_mixed_revision_shows() -> None:
    found = parse(X86.format(0) + X86.format(1).replace("0xb002147", "0xb002140"))
    assert found.microcode == {0: "0xb002147", 1: "0xb002140"}


def test_arm_has_numbers_in_each_block_or_in_one_for_all() -> None:
    each = "processor\t: {}\nCPU implementer\t: 0x41\nCPU part\t: 0xd8{}\n\n"
    names = parse(each.format(0, 7) + each.format(1, 5)).names
    assert names == {0: "ARM implementer 0x41 part 0xd87", 1: "ARM implementer 0x41 part 0xd85"}
    once = "Processor\t: v7\nprocessor\t: 0\n\nprocessor\t: 1\n\nCPU implementer\t: 0x41\nCPU part\t: 0xc09\n"
    assert set(parse(once).names.values()) == {"ARM implementer 0x41 part 0xc09"}


def test_power_has_a_cpu_and_its_machine_model_is_no_number() -> None:
    found = parse("processor\t: 8\ncpu\t\t: POWER9\n\ntimebase\t: 512000000\nmodel\t\t: 8335-GTH\n")
    assert (found.names, found.models) == ({8: "POWER9"}, {})


@pytest.mark.parametrize("text", [
    "", "\0" * 9, "x 1 2 3\n" * 9, "processor: x\n", "processor\t: 0\n\nprocessor\t: 0\nmodel name: a\n" * 2,
    X86.format(0) * 2, X86.format("9" * 5000),
])
def test_what_is_no_cpuinfo(text: str) -> None:
    with pytest.raises(ParseError):
        parse(text)


@given(st.text() | st.lists(st.sampled_from(X86.splitlines()), max_size=20).map("\n".join))
def test_any_text_is_processors_or_a_parse_error(text: str) -> None:
    try:
        parse(text)
    except ParseError as error:
        assert str(error)


def test_the_files_of_the_corpus(corpus: Path) -> None:
    files = {p.name: parse(p.read_text()) for p in sorted(corpus.glob("cpuinfo/*"))}
    assert {name: (len(f.names), sorted(set(f.names.values()))[-1]) for name, f in files.items()} == {
        "hwloc-128arm-2pa2n8cluster4co.txt": (128, "ARM implementer 0x48 part 0xd01"),
        "hwloc-nvidia-dgx-gb10.txt": (20, "ARM implementer 0x41 part 0xd87"),
        "jc-1.txt": (1, "Intel(R) Core(TM) i5-7360U CPU @ 2.30GHz"),
    }
