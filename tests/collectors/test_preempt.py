"""The preemption model."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors.preempt import model, options, running_mode

DYNAMIC = "#1 SMP PREEMPT_DYNAMIC PMX 6.8.12-9"
VOLUNTARY = frozenset({"PREEMPT_BUILD", "PREEMPT_DYNAMIC", "PREEMPT_VOLUNTARY"})
LAZY = frozenset({"PREEMPT_DYNAMIC", "PREEMPT_LAZY", "ARCH_HAS_PREEMPT_LAZY"})


@pytest.mark.parametrize(("text", "mode"), [
    ("none voluntary (full) \n", "full"), ("none (voluntary) full lazy \n", "voluntary"),
    ("full (lazy) \n", "lazy"), ("none voluntary full \n", None), ("", None), ("(other)", None),
])
def test_debugfs_marks_the_mode(text: str, mode: str | None) -> None:
    assert running_mode(text) == mode


@pytest.mark.parametrize(("cmdline", "mode"), [
    ("", "voluntary"), ("quiet preempt=full", "full"), ("preempt=full preempt=none", "none"),
    ('"preempt=none"', "none"), ('preempt="full"', "full"), ("preempt=full preempt=nonsense", "full"),
    ("preempt=lazy", "voluntary"), ("xpreempt=full rcupdate.preempt=full", "voluntary"),
    ("a -- preempt=full", "voluntary"),
])
def test_the_command_line_overrides_the_build(cmdline: str, mode: str) -> None:
    assert model("6.8.12-9-pve", DYNAMIC, None, cmdline, VOLUNTARY) == mode


def test_the_running_mode_overrides_both() -> None:
    assert model("6.8.12-9-pve", DYNAMIC, "none", "preempt=full", VOLUNTARY) == "none"


@pytest.mark.parametrize(("release", "asked", "mode"), [
    ("6.14.11-1-pve", "none", "none"), ("7.0.0-3-pve", "none", "lazy"), ("7.0.0-3-pve", "full", "full"),
    ("10.1", "voluntary", "lazy"),
])
def test_since_7_0_only_full_and_lazy_can_be_asked_for(release: str, asked: str, mode: str) -> None:
    assert model(release, DYNAMIC, None, f"preempt={asked}", LAZY) == mode


@pytest.mark.parametrize(("version", "built", "mode"), [
    ("#1 SMP PREEMPT_RT Debian", frozenset(), "rt"),
    ("#1 SMP PREEMPT_RT", frozenset({"PREEMPT_RT", "PREEMPT_LAZY", "PREEMPT_DYNAMIC"}), "rt"),
    ("#1 SMP PREEMPT Debian", frozenset({"PREEMPT_BUILD", "PREEMPT"}), "full"),
    ("#1 SMP PREEMPT Debian", frozenset({"PREEMPT_BUILD", "PREEMPT_LAZY"}), "lazy"),
    ("#1 SMP Debian", frozenset({"PREEMPT_VOLUNTARY"}), "voluntary"),
    ("#1 SMP Debian", frozenset({"PREEMPT_NONE"}), "none"),
    ("#1 SMP Debian", frozenset(), None), ("#1 SMP PREEMPT", frozenset(), None), (DYNAMIC, frozenset(), None),
])
def test_words_alone_tell_only_an_rt_kernel(version: str, built: frozenset[str], mode: str | None) -> None:
    assert model("6.8", version, None, "preempt=lazy", built) == mode


def test_options_are_whole_lines_set_to_y() -> None:
    config = b"CONFIG_PREEMPT_NONE_BUILD=y\n# CONFIG_PREEMPT is not set\nCONFIG_X86_64=y\nCONFIG_PREEMPT=m\n"
    assert options(config) == {"PREEMPT_NONE_BUILD", "X86_64"}
    assert options(gzip.compress(config)) == options(config)


CUT = gzip.compress(b"CONFIG_PREEMPT=y\n", mtime=0)[:20]


@pytest.mark.parametrize("data", [b"", b"\x1f\x8b", b"\x1f\x8bjunk" * 9, CUT])
def test_a_broken_config_tells_nothing(data: bytes) -> None:
    assert not options(data)


def test_a_bomb_is_cut() -> None:
    assert not options(gzip.compress(b"\0" * (17 << 20) + b"\nCONFIG_PREEMPT=y\n"))


@given(st.text(), st.text(), st.text())
def test_any_text_is_survived(release: str, version: str, cmdline: str) -> None:
    mode = model(release, version, running_mode(version), cmdline, LAZY)
    assert mode in {"rt", "none", "voluntary", "full", "lazy"}
