"""/etc/default/grub, read as the shell would and never run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors.grub_default import command_line, lines, parse, variables


def value(text: str, name: str = "GRUB_X") -> str | None:
    return parse([("/etc/default/grub", text)])[name].value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("GRUB_X=0", "0"), ('GRUB_X="a b"', "a b"), ("GRUB_X='a $b `c`'", "a $b `c`"), ("GRUB_X=", ""),
        ('GRUB_X="a"b\'c d\'', "abc d"), ("GRUB_X=a\\ b", "a b"), ('GRUB_X="a \\"b\\" \\x"', 'a "b" \\x'),
        ("  export GRUB_X=1", "1"), ("GRUB_X=1 # note", "1"), ("GRUB_X=a#b", "a#b"), ("GRUB_X=#a", "#a"),
        ("GRUB_X=1;", "1"), ('GRUB_X=""', ""),
        ('GRUB_X="a \\\nb"', "a b"), ("GRUB_X=1\r\n", "1"), ('A=1\nGRUB_X="$A ${A}2"', "1 12"),
        ('GRUB_X="$GRUB_NONE a"', " a"),
        ('GRUB_X="a"\nGRUB_X+=" b"', "a b"), ('GRUB_X="$GRUB_X b"', " b"), ("GRUB_X=1\nGRUB_X=2", "2"),
        ("GRUB_X=`ls`", None), ("GRUB_X=$(ls)", None), ('GRUB_X="${A:-b}"', None), ('GRUB_X="$A"', None),
        ("GRUB_X=1 ls", None), ("GRUB_X='a", None), ('GRUB_X="a', None), ("GRUB_X=a&&b", None),
        ("GRUB_X=1\n[ -f /x ] && GRUB_X=2", None), ("if true; then\nGRUB_X=1\nfi", None),
        ("if true; then GRUB_X=1; fi", None),
        ("if true; then\nA=1\nfi\nGRUB_X=1", "1"), ('A=`ls`\nGRUB_X="$A b"', None), ("GRUB_X=`ls`\nGRUB_X+=a", None),
        ("for a in b; do :; done\nGRUB_X=1", "1"),
    ],
)
def test_values(text: str, told: str | None) -> None:
    assert value(text) == told


def test_the_command_line_and_where_it_comes_from() -> None:
    found = parse([
        ("/etc/default/grub", 'GRUB_CMDLINE_LINUX="root=x"\n# x\nGRUB_CMDLINE_LINUX_DEFAULT="quiet a=\'b c\'"\n'),
        ("/etc/default/grub.d/50-x.cfg", 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT iommu=pt"\n'),
    ])
    told = command_line(found)
    assert told is not None
    assert told[0] == ["root=x", "quiet", "a='b", "c'", "iommu=pt"]
    assert [(o.file, o.line) for o in told[1]] == [
        ("/etc/default/grub", 1), ("/etc/default/grub", 3), ("/etc/default/grub.d/50-x.cfg", 1),
    ]
    assert command_line(parse([("/f", "GRUB_CMDLINE_LINUX=$(x)")])) is None
    assert command_line(parse([("/f", "GRUB_DEFAULT=0")])) == ([], [])


def test_secrets_and_other_variables_are_not_shown() -> None:
    text = 'TOKEN=hunter2\nGRUB_CMDLINE_LINUX="a rd.luks.key=hunter2 b"\nGRUB_Y="x$(password=hunter2)"\n'
    found = variables(parse([("/f", text)]))
    assert "hunter2" not in repr(found)
    assert list(found) == ["GRUB_CMDLINE_LINUX", "GRUB_Y"]
    assert found["GRUB_CMDLINE_LINUX"].value == "a rd.luks.key=<redacted> b"


@given(st.text(alphabet=st.sampled_from("GRUB_X=\"'\\$`{}() ab;#\n&|+if")))
def test_any_text_is_survived(text: str) -> None:
    found = parse([("/f", text)])
    variables(found)
    command_line(found)
    list(lines(text))


def test_a_huge_file_is_read() -> None:
    assert len(parse([("/f", "GRUB_X=1\n" * 50_000 + 'GRUB_Y="' + "a" * 1_000_000 + '"')])) == 2


def test_files_of_the_corpus(corpus: Path) -> None:
    folder = corpus / "default-grub"
    found = {path.name: parse([("/etc/default/grub", path.read_text())]) for path in sorted(folder.iterdir())}
    told = command_line(found["puget-wrx90-2xRTX6000Ada.txt"])
    assert told is not None
    assert {"amd_iommu=off", "iommu=pt", "hugepages=8", "rcu_nocb_poll"} <= set(told[0])
    rhcos = found["rhcos4.txt"]
    assert rhcos["GRUB_DEFAULT"].value == "saved"
    assert rhcos["GRUB_CMDLINE_LINUX"].value is None and rhcos["GRUB_DISTRIBUTOR"].value is None
    assert {name: len(settings) for name, settings in found.items()} == {
        "puget-wrx90-2xRTX6000Ada.txt": 6, "rhcos4.txt": 8,
    }
