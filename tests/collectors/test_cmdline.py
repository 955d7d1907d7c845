"""The kernel command line: quoting, repeats, the end of the kernel's part, and what must never be stored."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors import cmdline
from snapshot.collectors.cmdline import pair, parse
from snapshot.collectors.secrets import REDACTED
from snapshot.sections.cmdline import Cmdline

from .fake import MemoryHost, gather


@pytest.mark.parametrize(
    ("token", "name", "value"),
    [
        ("quiet", "quiet", None),
        ("x=", "x", ""),
        ('a="x y"', "a", "x y"),
        ('"a=x y"', "a", "x y"),
        ('"a b"', "a b", None),
        ("a='x", "a", "'x"),
        ('a=x"y z"', "a", 'x"y z"'),
        ('a="x"y', "a", 'x"y'),
        ('a="x y', "a", "x y"),
        ("=x", "=x", None),
        ("=x=y", "=x", "y"),
        ("a=b=c", "a", "b=c"),
        (r"initrd=\EFI\p\initrd.img", "initrd", r"\EFI\p\initrd.img"),
    ],
)
def test_quoting_is_the_kernels(token: str, name: str, value: str | None) -> None:
    assert pair(token) == (name, value)
    assert parse(token).tokens == [token]


def test_names_are_joined_over_both_spellings_and_repeats_keep_their_order() -> None:
    found = parse("a-b=1 audit a_b=2 audit=1 console=tty0 console=ttyS0\n")
    assert found.parameters == {"a_b": ["1", "2"], "audit": [True, "1"], "console": ["tty0", "ttyS0"]}
    assert found.tokens == ["a-b=1", "audit", "a_b=2", "audit=1", "console=tty0", "console=ttyS0"]
    assert found.init_arguments is None


def test_blanks_of_any_kind_and_newlines_part_tokens() -> None:
    assert parse("  a\tb=1 \r\n c \v\f d\n").tokens == ["a", "b=1", "c", "d"]


def test_what_stands_behind_the_dashes_is_not_the_kernels() -> None:
    found = parse('quiet x="a -- b" -- panic=-1 nvme.y=2 --')
    assert found.parameters == {"quiet": [True], "x": ["a -- b"]}
    assert found.init_arguments == ["panic=-1", "nvme.y=2", "--"]
    assert found.tokens[2:4] == ["--", "panic=-1"]


def test_dashes_with_nothing_behind_them_are_told_from_none() -> None:
    assert parse("quiet --").init_arguments == []


@pytest.mark.parametrize(
    "token",
    [
        "ip=192.0.2.1::192.0.2.254", "nameserver=192.0.2.53", "rd.luks.key=hunter2", "luks.options=hunter2",
        "rd.luks.uuid=hunter2", "systemd.setenv=A=hunter2", "systemd.set_credential=a:hunter2",
        "systemd.set-credential-binary=a:hunter2", "foo.password=hunter2", "PASSWD=hunter2", '"my.token=a b"',
        "client_secret=hunter2", '"a\nb.token=hunter2"', "api-key=hunter2", "x.psk=hunter2",
        "sysctl.net.ipv4.tcp_fastopen_key=hunter2", "pass=hunter2", "pwd=hunter2", "auth=hunter2", "ROOTPW=hunter2",
        "inst.rootpw=hunter2",
    ],
)
def test_a_secret_keeps_its_name_and_loses_its_value(token: str) -> None:
    name, value = pair(token)
    found = parse(f"quiet {token} ro")
    assert found.tokens == ["quiet", f"{name}={REDACTED}", "ro"]
    assert found.parameters[name.replace("-", "_")] == [REDACTED]
    assert value is not None and value not in str(found.table())


@pytest.mark.parametrize(
    "token", ["KEYTABLE=us", "secretmem.enable=1", "vconsole.keymap=de", "zip=1", "monkey=1", "iommu=pt", "auth=",
              "arm-smmu.disable_bypass=1", "sysctl.net.sctp.auth_enable=1"]
)
def test_a_setting_that_only_sounds_secret_is_kept(token: str) -> None:
    assert parse(token).tokens == [token]


def test_logins_within_addresses_are_dropped() -> None:
    found = parse("inst.ks=https://bob:hunter2@example.org/ks netroot=iscsi:bob:hunter2@192.0.2.1::3260")
    assert "hunter2" not in str(found.table())
    assert found.parameters["inst.ks"] == [f"https://{REDACTED}@example.org/ks"]


def test_a_login_in_a_word_without_a_value_is_no_name() -> None:
    found = parse("http://bob:hunter2@example.org/ --token hunter2 quiet")
    assert list(found.parameters) == [f"http://{REDACTED}@example.org/", "__token", REDACTED, "quiet"]


def test_passwords_among_options_are_dropped() -> None:
    found = parse("rootflags=username=bob,password=hunter2,vers=3 x=key=hunter2")
    assert found.tokens == [f"rootflags=username=bob,password={REDACTED},vers=3", f"x=key={REDACTED}"]
    assert "hunter2" not in str(found.table())


def test_the_word_behind_a_secret_option_of_init_is_dropped() -> None:
    found = parse("-- --token hunter2 --user bob --password --quiet token plain")
    assert found.init_arguments == [
        "--token", REDACTED, "--user", "bob", "--password", "--quiet", "token", "plain",
    ]


def test_an_empty_line_has_no_tokens_and_is_no_fault() -> None:
    found, reading = gather(cmdline, MemoryHost({"/proc/cmdline": "\n"}))
    assert found == Cmdline(tokens=[], parameters={})
    assert reading.unreads == []


@pytest.mark.parametrize(
    ("files", "why"), [({}, "ENOENT"), ({"/proc/cmdline": OSError(errno.EACCES, "")}, "EACCES")]
)
def test_a_line_that_cannot_be_read_makes_the_section_unknown(files: dict[str, OSError], why: str) -> None:
    _, reading = gather(cmdline, MemoryHost(dict(files)))
    assert [(unread.path, unread.why) for unread in reading.unreads] == [((), why)]


@given(st.text(st.characters(codec=None), max_size=300) | st.text('a="-  \n', max_size=60))
def test_any_text_is_a_command_line(text: str) -> None:
    found = parse(text)
    count = sum(map(len, found.parameters.values()))
    behind = found.init_arguments
    assert len(found.tokens) == count + (0 if behind is None else 1 + len(behind))


@given(st.lists(st.text('ab="', min_size=1).filter(lambda t: t.count('"') % 2 == 0), max_size=9))
def test_tokens_with_closed_quotes_come_back_as_they_were_joined(tokens: list[str]) -> None:
    assert parse(" ".join(tokens)).tokens == tokens


def test_a_huge_line_is_read_in_one_pass() -> None:
    assert len(parse('a="' + "x " * 500_000).tokens) == 1
    assert len(parse("a=1 " * 100_000).parameters["a"]) == 100_000


def _corpus(corpus: Path, name: str) -> Cmdline:
    return parse((corpus / "cmdline" / f"{name}.txt").read_text())


def test_corpus_repeats_and_flags(corpus: Path) -> None:
    found = _corpus(corpus, "insights-cmdline_v1").parameters
    assert found["audit"] == [True, "1"]
    assert (found["hugepagesz"], found["hugepages"]) == (["1073741824"], ["50"])


def test_corpus_newlines_within(corpus: Path) -> None:
    found = _corpus(corpus, "insights-cmdline_grub2_ab").parameters
    assert found["BOOT_IMAGE"] == ["/vmlinuz-3.10.0-327.36.3.el7.x86_64"]
    assert len(found["rd.lvm.lv"]) == 2


def test_corpus_backslashes_and_consoles(corpus: Path) -> None:
    found = _corpus(corpus, "gardenlinux-6.18.33-iommu-pt").parameters
    assert found["initrd"] == [r"\Default\6.18.33-amd64\initrd"]
    assert found["iommu"] == ["pt"]
    assert len(found["console"]) == 2


@pytest.mark.parametrize(
    ("name", "parameter", "values"),
    [
        ("rhcos4-vm", "console", ["tty0", "ttyS0,115200n8"]),
        ("threadripper5955wx-ubuntu2204", "iommu", ["soft"]),
        ("hwloc-128arm-2pa2n8cluster4co", "ip", [REDACTED]),
        ("hwloc-nvidia-dgx-gb10", "console", ["tty0", "tty0", "ttyS0,921600"]),
        ("hwloc-32intel64-2p8co2t+8ve", "crashkernel", ["auto"]),
        ("hwloc-memorysidecaches", "ro", [True]),
        ("stelline-doc-13", "amd_iommu", ["off"]),
        ("stelline-doc-15", "pci", ["realloc=off"]),
    ],
)
def test_corpus_facts(corpus: Path, name: str, parameter: str, values: list[str | bool]) -> None:
    assert _corpus(corpus, name).parameters[parameter] == values
