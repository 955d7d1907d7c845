from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.boot.cmdline_files import cmdline_files
from snapshot.derive.boot.cmdline_words import cmdline_words
from snapshot.derive.facts import Derived
from snapshot.document import Snapshot

from ...pairs import snapshot
from .test_cmdline_next import ENTRIES, GRUB, KERNEL, entry, file
from .test_kernel_tokens import cmdline


def host(*words: str, boot: dict[str, Any] | None = None, unread: dict[str, list[list[str]]] | None = None) -> Snapshot:
    return snapshot({"cmdline": cmdline(*words), "boot": boot or {}}, unread=unread)


def asking(*words: str, loader: str = "grub") -> dict[str, Any]:
    """Section boot of a loader, and a file that asks for WORDS."""
    return {"loader": loader, "configured": file(GRUB if loader == "grub" else KERNEL, *words)}


def lost(then: tuple[str, ...], now: tuple[str, ...]) -> dict[str, str]:
    rows = cmdline_words(host(*now), host(*then)).rows
    return {name: row["lost"] for name, row in rows.items() if "lost" in row}


@pytest.mark.parametrize(("then", "now", "gone"), [
    (("iommu=pt", "x=1"), ("x=1",), {"iommu": "iommu=pt"}),
    (("amd-pstate=active",), ("amd_pstate=active",), {}),
    (("hugepages=64",), ("hugepages=4",), {"hugepages": "hugepages=64"}),
    (("console=tty0", "console=ttyS0"), ("console=ttyS0", "console=tty0"), {}),
    (("a=1", "a=1"), ("a=1",), {"a": "a=1"}), (('a="x y"',), ('"a=x y"',), {}), (("a",), ("a=",), {"a": "a"}),
    (("BOOT_IMAGE=/a", "initrd=x", "root=/dev/a", "ro", "quiet"), (), {}), (("--", "a=1"), (), {}),
    ((), ("a=1",), {}),
])
def test_what_is_lost(then: tuple[str, ...], now: tuple[str, ...], gone: dict[str, str]) -> None:
    assert lost(then, now) == gone


def test_alone_nothing_is_lost() -> None:
    assert cmdline_words(host("iommu=pt"), None).rows == {"iommu": {"name": "iommu", "now": "iommu=pt"}}


@pytest.mark.parametrize(("before", "after", "asked"), [
    (asking("iommu=pt"), asking(), True), (asking("iommu=pt"), asking("iommu=pt"), False),
    (asking(), asking(), False), ({}, asking(), False), (asking("iommu=pt"), {}, False),
])
def test_whether_a_file_asked_for_it(before: dict[str, Any], after: dict[str, Any], asked: bool) -> None:
    row = cmdline_words(host(boot=after), host("iommu=pt", boot=before)).rows["iommu"]
    assert row["as_asked"] is asked


def test_the_line_that_asked_and_what_brings_it_back() -> None:
    row = cmdline_words(host(boot=asking()), host("iommu=pt", boot=asking("iommu=pt"))).rows["iommu"]
    assert (row["file"], row["line"]) == (GRUB, 9) and row["durable"][-1] == "update-grub"
    kept = cmdline_words(host(boot=asking("iommu=pt")), host("iommu=pt")).rows["iommu"]
    assert kept["durable"] == ["update-grub"] and kept["asked"] == "iommu=pt"
    assert "durable" not in cmdline_words(host(), host("iommu=pt")).rows["iommu"]


def test_a_side_that_could_not_be_read() -> None:
    gap = {"cmdline": [["tokens"]]}
    assert cmdline_words(host(unread=gap), host()).unknown[0]["why"] == "EACCES"
    row = cmdline_words(host("a=1"), host(unread=gap)).rows["a"]
    assert row["unknown"] == {"lost": {"source": "/src", "why": "EACCES"}} and "lost" not in row


def files(*now: str, boot: dict[str, Any], **configured: Any) -> dict[str, dict[str, Any]]:
    found = cmdline_files(host(*now, boot=boot | {"configured": configured}), None)
    assert not found.unknown
    return found.rows


def test_a_file_whose_words_are_in_the_entry() -> None:
    boot = entry("root=x", "iommu=pt") | {"loader": "grub"}
    row = files("iommu=pt", boot=boot, **file(GRUB, "quiet", "iommu=pt"))[GRUB]
    assert row["applied"] and not {"not_applied", "left_over", "lost", "now"} & row.keys()


def test_a_file_whose_words_are_not() -> None:
    boot = entry("root=x", "hugepages=4", "mitigations=off") | {"loader": "grub"}
    row = files(boot=boot, **file(GRUB, "hugepages=8", "iommu=pt"))[GRUB]
    assert (row["applied"], row["not_applied"], row["left_over"], row["now"]) == (
        False, "hugepages=8 iommu=pt", "hugepages=4 mitigations=off", ["update-grub"])


def test_another_order_is_said_without_words() -> None:
    words = ("hugepagesz=1G", "hugepages=4", "hugepagesz=2M", "hugepages=8")
    boot = entry(*words) | {"loader": "grub"}
    row = files(boot=boot, **file(GRUB, *words[2:], *words[:2]))[GRUB]
    assert row["applied"] is False and not {"not_applied", "left_over"} & row.keys()


def test_entries_that_cannot_be_seen_tell_nothing() -> None:
    boot = {"loader": "systemd-boot", "next": {"kernel": "6.14", "by": "newest"}}
    assert "applied" not in files(boot=boot, **file(KERNEL, "root=x", "iommu=pt"))[KERNEL]


def test_words_in_a_file_that_the_loader_does_not_use() -> None:
    boot = entry("root=x", menu=ENTRIES) | {"loader": "systemd-boot", "esps": {"A": {"configured": True}}}
    rows = files(boot=boot, **file(KERNEL, "root=x"), **file(GRUB, "quiet", "iommu=pt", used=False))
    assert (rows[GRUB]["lost"], rows[GRUB]["right_file"]) == ("iommu=pt", KERNEL)
    assert rows[GRUB]["now"] == ["sed -i '1s|$| iommu=pt|' /etc/kernel/cmdline", "proxmox-boot-tool refresh"]
    assert not {"lost", "no_root", "unused_lines"} & rows[KERNEL].keys()


@pytest.mark.parametrize(("words", "lines", "managed", "told"), [
    (["iommu=pt"], None, True, {"no_root": "root="}), (["root=x"], 2, True, {"unused_lines": 2}),
    (["iommu=pt"], 2, False, {}),  # kernel-install reads all lines, and adds root= itself
])
def test_the_first_line_of_proxmox(words: list[str], lines: int | None, managed: bool, told: dict[str, Any]) -> None:
    boot = {"loader": "systemd-boot", "next": {"kernel": "6.14", "by": "newest"},
            "esps": {"A": {"configured": managed}}}
    configured = file(KERNEL, *words)
    configured["kernel-cmdline"] |= {"unused_lines": lines} if lines else {}
    row = files(boot=boot, **configured)[KERNEL]
    assert {key: row[key] for key in ("no_root", "unused_lines") if key in row} == told


def test_a_host_without_a_loader_and_one_that_could_not_be_read() -> None:
    gap = {"boot": [["next"]]}
    configured = {"configured": file(GRUB, "iommu=pt")}
    assert cmdline_files(host(boot=configured, unread=gap), None) == Derived()
    found = cmdline_files(host(boot={"loader": "grub", **configured}, unread=gap), None)
    assert not found.rows and found.unknown[0]["why"] == "EACCES"
