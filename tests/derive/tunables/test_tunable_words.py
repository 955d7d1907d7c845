from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.derive.tunables.tunable_words import ASSUMED, RUNNING, SAME_LINE, Words, next_kernel, next_words, pair

from ..tuned import cmdline, host, origin

GRUB = origin("/boot/grub/grub.cfg", 120, "linux /boot/vmlinuz-6.14.11-1-pve root=x vm=1")


def words(*line: str) -> Words:
    return Words((word, {"file": RUNNING, "line": 1}, "") for word in line)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("quiet", ("quiet", None)),
        ("a-b=c-d", ("a_b", "c-d")),
        ('a="x y"', ("a", "x y")),
        ('"a=x y"', ("a", "x y")),
        ("a=b=c", ("a", "b=c")),
        ("a=", ("a", "")),
        ("=a", ("=a", None)),
        ("", ("", None)),
        ("sq='a", ("sq", "'a")),
    ],
)
def test_pair(word: str, found: tuple[str, str | None]) -> None:
    assert pair(word) == found


@given(st.text())
def test_any_text_is_a_word(word: str) -> None:
    pair(word)


def test_last_word_counts_and_names_fold() -> None:
    line = words("transparent-hugepage=always", "quiet", "transparent_hugepage=never")
    assert line.last("transparent_hugepage") == "never" and line.last("nosuch") is None and line.last("quiet") == ""
    taken = line.taken("transparent_hugepage")
    assert [(word.value, word.origin["text"]) for word in taken] == [
        ("always", "transparent-hugepage=always"),
        ("never", "transparent_hugepage=never"),
    ]
    assert line.taken("quiet") == [] and line.taken("quiet", lambda value: "1")[0].value == "1"


def test_behind_the_dashes_kmod_finds_parameters_and_the_kernel_nothing() -> None:
    line = words("a=1", "--", "hugepages=5", "zfs.zfs_arc_max=7")
    assert [name for name, _ in line.ordered] == ["a", "zfs.zfs_arc_max"]
    assert [(module, name, word.value) for module, name, word in line.parameters()] == [("zfs", "zfs_arc_max", "7")]


def test_sysctls_of_the_command_line() -> None:
    line = words(
        "sysctl.vm.swappiness=10", "sysctl/net/core/x=1", "sysctl.net/core/rmem_max=5", "sysctl.vm.x", "sysctl.=1"
    )
    assert [(key, word.value) for key, word in line.sysctls()] == [
        ("vm.swappiness", "10"),
        ("net.core.x", "1"),
        ("net.core.rmem_max", "5"),
    ]


def boot(**more: Any) -> dict[str, Any]:
    entry = {"linux": "/boot/vmlinuz", "words": ["root=x", "vm=1"], "origin": GRUB}
    return {
        "menus": {"/boot/grub/grub.cfg": {"entries": {"six": entry}}},
        "next": {"kernel": "6.14.11-1-pve", "entry": "six", "menu": "/boot/grub/grub.cfg", "by": "default"},
    } | more


def test_next_words_are_those_of_the_entry_that_comes() -> None:
    found = next_words(host(boot=boot(), cmdline=cmdline("now=1")))
    assert found.last("vm") == "1" and found.last("now") is None
    assert found.get("vm")[0].origin == {"file": "/boot/grub/grub.cfg", "line": 120, "text": "vm=1"}
    assert next_kernel(host(boot=boot())) == "6.14.11-1-pve" and next_kernel(host()) == "6.8.12-9-pve"


def test_without_the_entry_the_file_that_it_is_made_from_stands_in() -> None:
    line = origin("/etc/kernel/cmdline", 1, "root=x processor.max_cstate=1")
    files = {
        "kernel-cmdline": {"words": ["root=x", "processor.max_cstate=1"], "used": True, "origins": [line]},
        "default-grub": {"words": ["quiet"], "used": False, "origins": [origin("/etc/default/grub", 5, "quiet")]},
    }
    chosen = {"kernel": "6.14.11-1-pve", "by": "newest kernel in /boot"}
    found = next_words(host(boot={"configured": files, "next": chosen}, cmdline=cmdline("now=1")))
    word = found.get("processor.max_cstate")[0]
    assert word.assumes == ASSUMED and word.origin["file"] == "/etc/kernel/cmdline" and found.last("now") is None
    assert next_words(host(boot={"configured": files}, cmdline=cmdline("now=1"))).last("now") == "1"


def test_without_either_the_running_line() -> None:
    word = next_words(host(cmdline=cmdline("now=1"))).get("now")[0]
    assert word.origin == {"file": RUNNING, "line": 1, "text": "now=1"} and word.assumes == SAME_LINE
