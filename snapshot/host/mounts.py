"""Where paths lead, and which mounts on the way can hang, from /proc/self/mountinfo.

proc(5), path_resolution(7). A FUSE, NFS or automount point can hang whoever looks at it, also by stat(2) and
through a link from elsewhere. So links are read one component at a time, and none beyond such a point. What
is on the root file system's own device cannot hang without the machine, nor can the kernel's own file
systems; every other mount is foreign. Of several mounts on one point the last one listed covers the others.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection

from ..regexes import regex
from . import syscalls
from .base import Names

_MOUNTINFO = "/proc/self/mountinfo"
_KERNEL = frozenset(
    b"binfmt_misc bpf cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs fusectl hugetlbfs mqueue proc "
    b"pstore ramfs securityfs selinuxfs sysfs tmpfs tracefs".split()
)
_MAX_LINKS = 40
_ESCAPE = regex(rb"\\([0-3][0-7]{2})")


def foreign(mountinfo: bytes) -> frozenset[str]:
    """The mount points that can hang. What is no line of a mount is left out."""
    mounts: dict[bytes, tuple[bytes, bytes]] = {}
    for line in mountinfo.split(b"\n"):
        before, _, after = line.partition(b" - ")
        words = before.split(b" ")
        if len(words) > 5:
            mounts[words[4]] = words[2], after.split(b" ")[0]
    own = mounts.get(b"/", (b"", b""))[0]
    points = [point for point, (device, kind) in mounts.items() if device != own and kind not in _KERNEL]
    return frozenset(os.fsdecode(_ESCAPE.sub(lambda found: bytes([int(found[1], 8)]), p)) for p in points)


def here() -> frozenset[str]:
    """Those of this machine; all of it is one when the kernel does not tell."""
    try:
        return foreign(syscalls.read(_MOUNTINFO))
    except OSError:
        return frozenset("/")


class Ways:
    """Follows paths. POINTS are foreign mounts; BLOCKS names what else a path without links may hang with."""

    def __init__(self, points: Collection[str], blocks: Callable[[str], str]) -> None:
        self._points, self._blocks = points, blocks
        # No link of sysfs leaves it: its thousands of files need no look.
        self._sysfs = not any(f"{point}/".startswith("/sys/") for point in points)
        self._folders: set[str] = set()  # seen to be safe and no links

    def hangs(self, path: str, follow: bool = True) -> str:
        """What PATH, in its plain form, may hang with; empty when it is safe to look at."""
        if "/" in self._points:
            return "/"
        if self._sysfs and path.startswith("/sys/"):
            return ""
        done, rest, links = "", path.split("/")[::-1], 0
        while rest and links <= _MAX_LINKS:
            name = rest.pop()
            if name in ("", ".", ".."):
                done = done.rpartition("/")[0] if name == ".." else done
                continue
            step = f"{done}/{name}"
            where, target = self._look(step, bool(rest), follow)
            if target is None:
                return where
            if target:
                links += 1
                rest.extend(target.split("/")[::-1])
            done = step if not target else "" if target.startswith("/") else done
        return ""

    def below(self, top: str) -> Names:
        """The foreign mounts below TOP."""
        return [point for point in self._points if point.startswith(f"{top.rstrip('/')}/")]

    def _look(self, step: str, folder: bool, follow: bool) -> tuple[str, str | None]:
        """What STEP may hang with, and the text of the link there: empty for none, None when the way ends."""
        if step in self._folders:
            return "", ""
        if where := step if step in self._points else self._blocks(step):
            return where, None
        if not folder and not follow:
            return "", ""
        try:
            return "", os.readlink(step)
        except OSError as error:
            if error.errno != errno.EINVAL:
                return "", None  # the kernel gets no further either
        if folder:
            self._folders.add(step)
        return "", ""
