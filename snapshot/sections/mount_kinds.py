"""Which mounts section storage does not list one by one: the kernel's own, and those of guests and containers.

Two rooms ask this: the collector leaves them out, and what is to be mounted is not missed where it would be left out.
"""

from __future__ import annotations

import re

from ..regexes import regex

_KERNEL = {
    "autofs", "bdev", "binder", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs",
    "efivarfs", "fuse.lxcfs", "fusectl", "mqueue", "nfsd", "nsfs", "proc", "pstore", "rpc_pipefs", "securityfs",
    "selinuxfs", "sysfs", "tracefs", "fuse.portal", "fuse.gvfsd-fuse",
}
MEMORY = {"tmpfs", "ramfs"}
_OWN_MEMORY = regex(r"/(?:dev(?!/shm$)|run|sys|proc)(?:/.*)?|/var/lib/(?:lxcfs|nfs/rpc_pipefs)(?:/.*)?", re.DOTALL)
_GUESTS = {
    "containers": regex(
        r"/var/lib/(?:docker|containerd|containers|kubelet|rancher|lxc|lxd|incus)/.*|/run/(?:containerd|docker|k3s)/.*"
        r"|/var/snap/lxd/.*", re.DOTALL
    ),
    "guests": regex(r".*/(?:sub|base)vol-[0-9]+-.*", re.DOTALL),
    "snaps": regex("/snap/.*", re.DOTALL),
    "users": regex("/(?:run/user|home)/.*", re.DOTALL),
}
_DISK = {"ext4", "xfs", "btrfs", "ext3", "nfs", "nfs4", "zfs", "f2fs", "ceph", "cifs"}


def left_out_as(place: str, fstype: str) -> str | None:
    """The kind that a mount is counted as, empty for the kernel's own, which are not; None for one that counts."""
    if fstype in _KERNEL or (fstype in MEMORY and _OWN_MEMORY.fullmatch(place)):
        return ""
    kinds = (kind for kind, pattern in _GUESTS.items() if pattern.fullmatch(place))
    return next((kind for kind in kinds if _is_made(kind, fstype)), None)


def _is_made(kind: str, fstype: str) -> bool:
    """A disk of one's own may be mounted at /var/lib/docker/volumes or below /home."""
    return fstype not in _DISK if kind in ("containers", "users") else True
