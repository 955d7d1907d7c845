"""Whether the kernel's own file systems are there."""

from __future__ import annotations

import errno
from collections.abc import Mapping

import pytest

from snapshot.host.base import NOT_MOUNTED, failure
from snapshot.host.tops import Tops

from ..collectors.fake import MemoryHost

GONE = failure(errno.ENOENT, "/x")


@pytest.mark.parametrize(("files", "found"), [
    ({}, (NOT_MOUNTED, NOT_MOUNTED)), ({"/sys/": "", "/proc/": ""}, (NOT_MOUNTED, NOT_MOUNTED)),
    ({"/sys/kernel/": ""}, (errno.ENOENT, NOT_MOUNTED)), ({"/sys/module/x/version": "1"}, (errno.ENOENT, NOT_MOUNTED)),
    ({"/proc/uptime": "1"}, (NOT_MOUNTED, errno.ENOENT)),
    ({"/sys/": failure(errno.EACCES, "/sys")}, (errno.ENOENT, NOT_MOUNTED)),
])
def test_what_is_missing_in_one_that_is_not_there_is_not_absent(
    files: Mapping[str, str | OSError], found: tuple[int, int]
) -> None:
    tops = Tops(MemoryHost(files, lacks="/proc /sys"))
    assert tuple(tops.judged(GONE, path).errno for path in ("/sys/class/x", "/proc/x")) == found
    assert tops.judged(GONE, "/etc/x") is tops.judged(GONE, "/system") is tops.judged(GONE, "/") is GONE


def test_other_errors_stay_and_cost_no_look() -> None:
    class Blind(MemoryHost):
        def exists(self, path: str) -> bool:
            raise AssertionError(path)

    for number in (errno.EACCES, errno.EIO, errno.EINVAL):
        assert Tops(Blind()).judged(failure(number, "/sys/x"), "/sys/x").errno == number


def test_it_is_looked_for_once() -> None:
    class Counting(MemoryHost):
        asked = 0

        def exists(self, path: str) -> bool:
            self.asked += 1
            return path == "/sys/kernel"

    host = Counting()
    tops = Tops(host)
    assert not any(tops.lacks(f"/sys/{n}") for n in range(9)) and host.asked == 1
