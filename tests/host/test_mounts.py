"""Which mounts are foreign, and that nobody looks beyond one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from snapshot.host import mounts
from snapshot.host.mounts import Ways, foreign

MOUNTINFO = rb"""27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
22 27 0:21 / /proc rw - proc proc rw
40 22 0:30 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw
41 40 0:31 / /proc/sys/fs/binfmt_misc rw - binfmt_misc binfmt_misc rw
50 27 0:50 / /etc/pve rw,nosuid shared:5 - fuse /dev/fuse rw
51 27 254:0 /srv /bound rw master:1 propagate_from:2 - ext4 /dev/vda rw
52 27 254:1 / /boot rw - ext4 /dev/vdb rw
53 27 0:53 / /mnt/a\040b\134c rw - nfs4 box:/x rw
54 22 0:54 /proc/uptime /proc/uptime rw - fuse.lxcfs lxcfs rw
55 27 0:55 / /efi rw - autofs systemd-1 rw
56 27 0:56 / /run rw - tmpfs tmpfs rw
"""


def test_foreign_is_what_is_neither_the_root_device_nor_the_kernels() -> None:
    assert foreign(MOUNTINFO) == {"/etc/pve", "/boot", "/mnt/a b\\c", "/proc/uptime", "/efi"}


def test_an_automount_that_is_mounted_over_is_judged_by_what_covers_it() -> None:
    lines = MOUNTINFO.splitlines(keepends=True)
    assert "/proc/sys/fs/binfmt_misc" in foreign(b"".join(lines[:3]))


@pytest.mark.parametrize("text", [b"", b"\n", b"x", b" - ", b"\xff\0 - \xff", b"1 2 3 4 - fuse x y"])
def test_what_is_no_mount_is_left_out(text: bytes) -> None:
    assert foreign(text) == frozenset()


def test_without_mountinfo_everything_may_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mounts, "_MOUNTINFO", "/nothing")
    assert Ways(mounts.here(), lambda _: "").hangs("/sys/x") == "/"


@pytest.fixture
def ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ways:
    """Ways where /fuse of a folder is foreign and /tree is named; to read a link in either is a failure."""
    top = str(tmp_path)
    for name in ("fuse/in", "tree", "plain/folder"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "plain" / "file").touch()
    links = {
        "plain/to_file": f"{top}/fuse/x", "plain/up": "../fuse", "plain/chain": "folder/../to_file",
        "plain/tree": "../tree/x", "plain/fine": "file", "plain/loop": "loop", "plain/dangling": "nowhere",
        "plain/slash": "folder/",
    }  # fmt: skip
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    readlink = os.readlink

    def careful(path: str) -> str:
        assert not f"{path}/".startswith((f"{top}/fuse/", f"{top}/tree/")), path
        return readlink(path)

    monkeypatch.setattr(os, "readlink", careful)
    return Ways([f"{top}/fuse"], lambda path: "named" if path == f"{top}/tree" else "")


@pytest.mark.parametrize(
    ("name", "follow", "where"),
    [
        ("fuse", True, "fuse"), ("fuse", False, "fuse"), ("fuse/in/x", False, "fuse"), ("fusex", True, ""),
        ("plain/to_file", True, "fuse"), ("plain/to_file", False, ""), ("plain/to_file/x", False, "fuse"),
        ("plain/up", True, "fuse"), ("plain/up/x", False, "fuse"), ("plain/chain", True, "fuse"),
        ("plain/tree", True, "named"), ("plain/fine", True, ""), ("plain/loop", True, ""),
        ("plain/loop/x", True, ""), ("plain/dangling", True, ""), ("plain/slash", True, ""),
        ("plain/nothing/x", True, ""), ("plain/file/x", True, ""), ("x/" * 2000 + "x", True, ""),
    ],
)  # fmt: skip
def test_where_a_path_leads(ways: Ways, tmp_path: Path, name: str, follow: bool, where: str) -> None:
    wanted = f"{tmp_path}/fuse" if where == "fuse" else where
    for _ in range(2):  # what was learned changes nothing
        assert ways.hangs(f"{tmp_path}/{name}", follow) == wanted


def test_sysfs_is_not_looked_at_unless_something_foreign_is_in_it() -> None:
    ways = Ways([], lambda _: "")
    assert ways.hangs("/sys/class/net/lo/mtu") == ""
    assert not ways._folders
    assert Ways(["/sys/kernel"], lambda _: "").hangs("/sys/kernel/x") == "/sys/kernel"
    assert Ways(["/sys"], lambda _: "").hangs("/sys/kernel/x") == "/sys"
