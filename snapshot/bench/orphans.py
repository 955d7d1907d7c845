"""Descendants of a benchmark that left its process group, such as a server that called setsid(2), and their end.

PR_SET_CHILD_SUBREAPER, prctl(2); wait(2); /proc/PID/stat, proc(5). While benchmarks run, this process stands in for
init: a descendant whose parent ends becomes its child, and so do that one's children when it is ended. Only children
are ended, whose ids nobody else can have before they are waited for. Those that are left alone stay children.

Whose child an orphan was, nothing tells. So this is done only where it can be nobody's but a benchmark's: not in a
process that has other children, nor in process 1, which gets the orphans of all. There, and where there is no such
prctl or /proc, what left the group lives on; as does everywhere what a daemon (docker, systemd) started on request.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, suppress

from ..records import record

SET_CHILD_SUBREAPER, GET_CHILD_SUBREAPER = 36, 37  # linux/prctl.h
WITHIN_S = 5.0  # how long processes may take to end that were killed
LOOK_S = 0.02
_ENDED = os.WEXITED | os.WNOHANG | os.WNOWAIT  # which child has ended, if one has; it stays to be waited for


@record(frozen=True)
class Orphans:
    """The orphans of benchmarks. Where they do not come to this process, nothing is done and none is counted."""

    ours: bool = False

    def living(self) -> set[int]:
        """The children of this process, among them the orphans that came to it."""
        return _children() if self.ours else set()

    def reap(self, but: int = 0) -> None:
        """Waits for those that have ended, as init would; BUT is waited for by somebody else."""
        with suppress(ChildProcessError):  # there is no child
            while self.ours and (ended := os.waitid(os.P_ALL, 0, _ENDED)) and ended.si_pid != but:
                os.waitpid(ended.si_pid, os.WNOHANG)

    def end(self, but: Set[int]) -> int:
        """Kills all except BUT, and what comes to this process by their end; how many are left after 5 s."""
        until = time.monotonic() + WITHIN_S
        while left := self.living() - but:
            for pid in left:
                _kill(pid)
            if time.monotonic() >= until:
                break
            time.sleep(LOOK_S)
        return len(left)


@contextmanager
def adopted() -> Iterator[Orphans]:
    """While it is entered, orphans of what this process starts come to it, if that can be and they are told apart."""
    subreaper = _subreaper()
    if subreaper is None or not _alone():
        yield Orphans()
        return
    before = subreaper(True)
    try:
        yield Orphans(ours=True)
    finally:
        subreaper(before)
        Orphans(ours=True).reap()


def _kill(pid: int) -> None:
    """Kills a child, or waits for it if it has ended; what is no child of ours, or more than we may kill, stays."""
    with suppress(ChildProcessError, PermissionError):
        if os.waitpid(pid, os.WNOHANG) == (0, 0):
            os.kill(pid, signal.SIGKILL)


def _children() -> set[int]:
    found, own = set(), b"%d" % os.getpid()
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # it may have ended
            behind_name = file.read().rpartition(b")")[2]  # which may hold blanks and brackets
            if behind_name.split()[1] == own:
                found.add(int(name))
    return found


def _alone() -> bool:
    """Whether every child from now on is one that this process started or an orphan of such."""
    if os.getpid() == 1 or os.path.realpath("/proc/self") != f"/proc/{os.getpid()}":  # none, or of another namespace
        return False
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:  # children that end are gone, and their ids free
        return False
    try:
        os.waitid(os.P_ALL, 0, _ENDED)
    except ChildProcessError:
        return True
    return False


def _subreaper() -> Callable[[bool], bool] | None:
    """What sets whether this process is a subreaper and returns whether it was; None where there is no such thing."""
    try:
        from ctypes import CDLL, byref, c_int, c_ulong

        prctl = CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return None
    was = c_int()

    def subreaper(on: bool) -> bool:
        prctl(GET_CHILD_SUBREAPER, byref(was), c_ulong(), c_ulong(), c_ulong())
        prctl(SET_CHILD_SUBREAPER, c_ulong(on), c_ulong(), c_ulong(), c_ulong())
        return bool(was.value)

    return subreaper if prctl(GET_CHILD_SUBREAPER, byref(was), c_ulong(), c_ulong(), c_ulong()) == 0 else None
