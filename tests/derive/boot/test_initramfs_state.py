from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.boot.initramfs_state import changed_since_boot, initramfs_state
from snapshot.document import Snapshot

from ...pairs import snapshot

NEXT, IMAGE = "6.14", "/boot/initrd.img-6.14"
CONF, ZFS = "/etc/modprobe.d/x.conf", "/lib/modules/6.14/updates/dkms/zfs.ko.zst"
LATER = {"taken": "2026-01-02T00:00:00Z", "uptime_s": 3600, "kernel": NEXT}  # a boot after the file was changed


def host(
    *stale: str, image: str = IMAGE, made: str = "2025-12-31T00:00:00Z", meta: dict[str, Any] | None = None,
    boot: dict[str, Any] | None = None, words: tuple[str, ...] = (), files: tuple[str, ...] = (), **modules: Any,
) -> Snapshot:
    kernels = {NEXT: {"files": {}, "missing": [], "initramfs": {"file": image, "changed": made, "stale": list(stale)}}}
    loader = {"loader": "grub", "next": {"kernel": NEXT, "by": "x"}} if boot is None else boot
    tables = {"modules": {"kernels": kernels} | modules, "boot": loader,
              "cmdline": {"tokens": list(words), "parameters": {}}}
    return snapshot(tables, meta=meta, files=dict.fromkeys(files, "sum"))


def stale(snapshot: Snapshot) -> list[str] | None:
    found: list[str] | None = initramfs_state(snapshot, None).rows[NEXT].get("stale")
    return found


@pytest.mark.parametrize(("path", "counts"), [
    (CONF, True), ("/lib/modprobe.d/y.conf", True), ("/etc/initramfs-tools/modules", True),
    ("/etc/dracut.conf.d/z.conf", True), ("/etc/dracut.conf", True), ("/etc/modules-load.d/a.conf", False),
    ("/etc/modules", False), ("/lib/modules/6.14/updates/dkms/nvidia.ko", False), (ZFS, False),
])
def test_which_files_are_in_an_image(path: str, counts: bool) -> None:
    assert stale(host(path)) == ([path] if counts else None)


@pytest.mark.parametrize("word", ["root=ZFS=rpool/ROOT/pve-1", "boot=zfs", "root=zfs:AUTO"])
def test_zfs_is_in_that_of_a_root_on_zfs(word: str) -> None:
    assert stale(host(ZFS, words=(word,))) == [ZFS]


def test_a_boot_has_tested_what_is_older() -> None:
    assert stale(host(CONF, meta=LATER, files=(CONF,))) is None
    assert "unknown" not in initramfs_state(host(CONF, meta=LATER, files=(CONF,)), None).rows[NEXT]
    assert stale(host(CONF, meta=LATER | {"uptime_s": 86400}, files=(CONF,))) == [CONF]
    assert stale(host(CONF, meta=LATER | {"kernel": "6.8"}, files=(CONF,))) == [CONF]
    assert stale(host(CONF, meta=LATER, made="2026-01-01T23:30:00Z", files=(CONF,))) == [CONF]


@pytest.mark.parametrize("meta", [LATER, {"kernel": NEXT}, LATER | {"taken": None}])
def test_whether_a_boot_tested_it_is_not_known(meta: dict[str, Any]) -> None:
    files = () if meta == LATER else (CONF,)
    row = initramfs_state(host(CONF, meta=meta, files=files), None).rows[NEXT]
    assert "stale" not in row and row["unknown"]["stale"]["source"] == CONF


def option(file: str = CONF) -> dict[str, Any]:
    return {"files": {"value": "1", "origin": {"file": file, "line": 1, "text": ""}}}


@pytest.mark.parametrize(("modules", "only"), [
    ({"options": {"nvidia": {"a": option()}, "nvidia_uvm": {"b": option()}}}, True),
    ({"options": {"nvidia": {"a": option()}, "zfs": {"b": option()}}}, False),
    ({"options": {"nvidia": {"a": option()}, "zfs": {"b": option("/etc/modprobe.d/z.conf")}}}, True),
    ({"options": {"nvidia": {"a": option()}},
      "blacklist": {"nouveau": {"origin": {"file": CONF, "line": 2, "text": ""}}}}, False),
    ({}, False),
])
def test_options_of_nvidia_alone(modules: dict[str, Any], only: bool) -> None:
    assert initramfs_state(host(CONF, **modules), None).rows[NEXT]["options_only"] is only


@pytest.mark.parametrize(("more", "commands"), [
    ({}, ["update-initramfs -u -k 6.14"]),
    ({"image": "/boot/initramfs-6.14.img"}, ["dracut --force /boot/initramfs-6.14.img 6.14"]),
    ({"boot": {"loader": "systemd-boot", "esps": {"A": {"configured": True}}, "next": {"kernel": NEXT, "by": "x"}}},
     ["update-initramfs -u -k 6.14", "proxmox-boot-tool refresh"]),
])
def test_how_it_is_made_anew(more: dict[str, Any], commands: list[str]) -> None:
    assert initramfs_state(host(CONF, **more), None).rows[NEXT]["refresh"] == commands


def test_no_row_without_image_or_loader() -> None:
    assert not initramfs_state(host(CONF, boot={}), None).rows
    assert not initramfs_state(host(CONF, boot={"loader": "grub", "next": {"kernel": "6.8", "by": "x"}}), None).rows


def test_the_next_kernel_or_its_image_is_unread() -> None:
    kernels = {NEXT: {"files": {}, "missing": [], "initramfs": {"file": IMAGE, "changed": "x", "stale": []}}}
    tables: dict[str, dict[str, Any]] = {"modules": {"kernels": kernels}, "boot": {"loader": "grub"}}
    found = initramfs_state(snapshot(tables, unread={"boot": [["next"]]}), None)
    assert not found.rows and found.unknown[0]["why"] == "EACCES"


@pytest.mark.parametrize(("meta", "files", "newer"), [
    (LATER, (CONF,), False), (LATER | {"uptime_s": 200_000}, (CONF,), True), (LATER, (), None), ({}, (CONF,), None),
])
def test_whether_a_file_was_changed_in_this_boot(
    meta: dict[str, Any], files: tuple[str, ...], newer: bool | None
) -> None:
    assert changed_since_boot(host(CONF, meta=meta, files=files), CONF) is newer
