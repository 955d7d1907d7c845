from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.boot.cmdline_next import cmdline_next

from ...pairs import snapshot
from ...recordings import taken
from .test_kernel_tokens import cmdline

GRUB, KERNEL = "/etc/default/grub", "/etc/kernel/cmdline"
CFG, ENTRIES = "/boot/grub/grub.cfg", "AAAA-1111/loader/entries"


def entry(*words: str, menu: str = CFG, **more: Any) -> dict[str, Any]:
    """Section boot: one entry with WORDS, which comes next."""
    one = {"linux": "/vmlinuz-6.14", "kernel": "6.14", "words": list(words),
           "origin": {"file": menu, "line": 7, "text": " ".join(("linux /vmlinuz", *words))}} | more
    return {"next": {"kernel": "6.14", "entry": "e", "menu": menu, "by": "default"},
            "menus": {menu: {"default": "e", "entries": {"e": one}}}}


def file(path: str, *words: str, used: bool | None = True) -> dict[str, Any]:
    key = "default-grub" if path == GRUB else "kernel-cmdline"
    text = f'GRUB_CMDLINE_LINUX_DEFAULT="{" ".join(words)}"' if path == GRUB else " ".join(words)
    origins = [{"file": path, "line": 6, "text": 'GRUB_CMDLINE_LINUX=""'}] if path == GRUB else []
    configured = {"words": list(words), "origins": [*origins, {"file": path, "line": 9, "text": text}]}
    return {key: configured | ({} if used is None else {"used": used})}


def rows(now: tuple[str, ...], boot: dict[str, Any], *files: dict[str, Any]) -> dict[str, dict[str, Any]]:
    configured = {key: value for one in files for key, value in one.items()}
    found = cmdline_next(snapshot({"cmdline": cmdline(*now), "boot": boot | {"configured": configured}}), None)
    assert not found.unknown
    return found.rows


def test_from_now_to_next() -> None:
    now = ("BOOT_IMAGE=/vmlinuz-6.8", "root=/dev/sda1", "ro", "quiet", "iommu=pt", "hugepages=1")
    found = rows(now, entry("root=/dev/sda1", "ro", "quiet", "amd-pstate=active", "hugepages=2"))
    assert {name: row["state"] for name, row in found.items()} == {
        "root": "kept", "ro": "kept", "quiet": "kept", "amd_pstate": "added", "hugepages": "changed",
        "iommu": "removed"}
    assert (found["hugepages"]["now"], found["hugepages"]["next"]) == ("hugepages=1", "hugepages=2")
    assert found["amd_pstate"]["token"] == "amd-pstate=active" and found["iommu"]["token"] == "iommu=pt"
    assert found["hugepages"] == found["hugepages"] | {"file": CFG, "line": 7, "kernel": "6.14", "tuning": True}
    assert not any({"assumed", "applied", "configured"} & row.keys() for row in found.values())


def test_an_edit_that_was_not_applied() -> None:
    found = rows(("ro", "iommu=pt"), entry("root=x", "ro", "iommu=pt", "mitigations=off"),
                 file(GRUB, "quiet", "mitigations=auto", "amd_pstate=active"))
    assert {name: row.get("applied") for name, row in found.items()} == {
        "root": None, "ro": None, "iommu": False, "mitigations": False, "amd_pstate": False, "quiet": None}
    pstate = found["amd_pstate"]
    assert (pstate["state"], pstate["configured"], pstate["file"], pstate["line"]) == (
        "absent", "amd_pstate=active", GRUB, 9)
    assert "now" not in pstate and not pstate["wrong_file"]


def test_all_applied() -> None:
    found = rows(("ro", "iommu=pt"), entry("root=x", "ro", "iommu=pt", "$vt_handoff"), file(GRUB, "iommu=pt", "quiet"))
    assert found["iommu"]["applied"] and found["iommu"]["state"] == "kept"
    assert not any(name.startswith("$") for name in found)


def test_repeats_and_their_order_count() -> None:
    words = ("hugepagesz=1G", "hugepages=4", "hugepagesz=2M", "hugepages=8")
    found = rows(words, entry(*words, menu=ENTRIES), file(KERNEL, *words[2:], *words[:2]))
    assert found["hugepages"]["applied"] is False and found["hugepages"]["next"] == "hugepages=4 hugepages=8"


def test_the_wrong_file_for_the_loader() -> None:
    boot = entry("root=x", "quiet", menu=ENTRIES)
    found = rows(("root=x", "quiet"), boot, file(KERNEL, "root=x", "quiet"),
                 file(GRUB, "quiet", "splash", "amd_pstate=active", used=False))
    assert [name for name, row in found.items() if row["wrong_file"]] == ["amd_pstate"]
    assert found["amd_pstate"] == found["amd_pstate"] | {
        "state": "absent", "file": GRUB, "line": 9, "elsewhere": {
            "words": "amd_pstate=active", "file": GRUB, "line": 9,
            "text": 'GRUB_CMDLINE_LINUX_DEFAULT="quiet splash amd_pstate=active"'}}
    assert "applied" in found["amd_pstate"] and "configured" not in found["amd_pstate"]


def test_what_stands_in_both_files_is_in_the_right_one() -> None:
    boot = entry("iommu=pt", menu=ENTRIES)
    found = rows((), boot, file(KERNEL, "iommu=pt"), file(GRUB, "iommu=pt", used=False))
    assert not found["iommu"]["wrong_file"] and found["iommu"]["applied"]


def test_another_value_in_the_unused_file() -> None:
    found = rows((), entry("iommu=off"), file(GRUB, "iommu=off"), file(KERNEL, "iommu=pt", used=False))
    assert found["iommu"]["wrong_file"] and found["iommu"]["file"] == GRUB
    assert found["iommu"]["elsewhere"]["words"] == "iommu=pt"


@pytest.mark.parametrize("boot", [entry("ro", menu="/boot/loader/entries"), entry("ro", "single", recovery=True)])
def test_entries_that_are_not_made_from_the_file_are_not_held_against_it(boot: dict[str, Any]) -> None:
    found = rows((), boot, file(GRUB, "iommu=pt"), file(KERNEL, "mitigations=off", used=False))
    assert not any("applied" in row or row["wrong_file"] for row in found.values())


HIDDEN = {"next": {"kernel": "6.14", "by": "newest"}, "loader": "systemd-boot", "proxmox": {},
          "esps": {"AAAA-1111": {"configured": True}}}


def test_an_entry_that_cannot_be_seen_is_taken_as_the_file_has_it() -> None:
    found = rows(("initrd=\\x", "root=x", "iommu=pt"), HIDDEN, file(KERNEL, "root=x", "mitigations=off"),
                 file(GRUB, "quiet", used=False))
    assert {name: row["state"] for name, row in found.items()} == {
        "root": "kept", "mitigations": "added", "iommu": "removed", "quiet": "absent"}
    assert all(row["assumed"] and "applied" not in row for row in found.values())


def test_grub_adds_the_plain_words_itself() -> None:
    boot = {"next": {"kernel": "6.14", "by": "newest"}, "loader": "grub"}
    found = rows(("root=x", "ro", "iommu=pt"), boot, file(GRUB, "quiet"))
    assert {name: row["state"] for name, row in found.items()} == {
        "root": "kept", "ro": "kept", "quiet": "added", "iommu": "removed"}


def test_without_a_file_proxmox_takes_the_running_words() -> None:
    found = rows(("root=x", "iommu=pt"), HIDDEN)
    assert {row["state"] for row in found.values()} == {"kept"} and found["iommu"]["assumed"]


@pytest.mark.parametrize(
    ("tables", "unread"),
    [
        ({"cmdline": cmdline("ro"), "boot": {}}, {"boot": [["next"]]}),
        ({"cmdline": {"tokens": [], "parameters": {}}, "boot": HIDDEN}, {"cmdline": [["tokens"]]}),
        ({"cmdline": cmdline("ro"), "boot": {"next": {"kernel": "6.14", "by": "x"}}}, {}),
    ],
)
def test_missing_evidence_is_unknown(tables: dict[str, Any], unread: dict[str, list[list[str]]]) -> None:
    found = cmdline_next(snapshot(tables, unread=unread), None)
    assert not found.rows and [u["subject"] for u in found.unknown] == [""]


def test_recorded_hosts() -> None:
    before = cmdline_next(taken("pve-epyc-before.tar.xz"), None).rows
    added = {row["token"] for row in before.values() if row["state"] == "added"}
    assert added == {"amd_pstate=active", "processor.max_cstate=1"}
    assert not any(row["wrong_file"] for row in before.values())
    for name in ("ubuntu-gpu.tar.xz", "pve-epyc-after.tar.xz"):
        rows_of = cmdline_next(taken(name), None).rows.values()
        assert all(row["state"] in ("kept", "absent") and row.get("applied", True) for row in rows_of)
