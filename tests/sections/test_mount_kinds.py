"""Which mounts are not listed one by one."""

from __future__ import annotations

import pytest

from snapshot.sections.mount_kinds import left_out_as


@pytest.mark.parametrize(("place", "fstype", "kind"), [
    ("/", "overlay", None), ("/proc", "proc", ""), ("/dev/shm", "tmpfs", None), ("/run", "tmpfs", ""),
    ("/run/lock", "tmpfs", ""),
    ("/tmp", "tmpfs", None), ("/dev/hugepages", "hugetlbfs", None), ("/etc/pve", "fuse", None), ("/x", "autofs", ""),
    ("/var/lib/docker/overlay2/a/merged", "overlay", "containers"), ("/var/lib/docker", "xfs", None),
    ("/var/lib/docker/volumes", "ext4", None), ("/rpool/data/subvol-101-disk-0", "zfs", "guests"),
    ("/models", "ext4", None), ("/home/u/.cache/doc", "fuse.x", "users"), ("/home", "ext4", None),
    ("/snap/core/1", "squashfs", "snaps"), ("/run/user/0", "tmpfs", ""), ("/run/shm", "nfs", None),
])
def test_what_counts(place: str, fstype: str, kind: str | None) -> None:
    assert left_out_as(place, fstype) == kind
