"""Reads what can block in the kernel, in a child process that the parent can leave behind.

signal(7), socketpair(2). A process in state D does not die and cannot be waited for, and a thread in state
D would keep the whole process from ending. So the child holds nothing of the parent's but one socket, and
one that does not answer is killed and forgotten. A message is a JSON value and bytes, each behind its
length. A question names files, and each file has an answer of its own, sent as soon as it is known: so what many
files tell costs one question, and the one that hangs costs only itself.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import struct
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NoReturn

from ..records import asdict
from . import syscalls
from .base import LIMIT, Names, Stat, failure

_LENGTHS = struct.Struct(">QQ")  # of the JSON value, of the bytes
_LOST_AT_MOST = 2  # children, for one pattern
_AT_ONCE = 1 << 16  # bytes that are received with one call, where so many are there
_Answer = tuple[Any, bytes]


class _Link:
    """One end of the socket. TimeoutError at a LIMIT, a value of time.monotonic(); EOFError when the other is gone."""

    def __init__(self, end: socket.socket) -> None:
        self.end, self._got = end, bytearray()

    def send(self, value: object, content: bytes, limit: float | None = None) -> None:
        """Sends one message."""
        self._patience(limit)
        text = json.dumps(value).encode()
        self.end.sendall(_LENGTHS.pack(len(text), len(content)) + text + content)

    def receive(self, limit: float | None = None) -> tuple[Any, bytes]:
        """One message."""
        of_text, of_content = _LENGTHS.unpack(self._take(_LENGTHS.size, limit))
        return json.loads(self._take(of_text, limit)), self._take(of_content, limit)

    def _take(self, size: int, limit: float | None) -> bytes:
        while len(self._got) < size:
            self._patience(limit)
            part = self.end.recv(min(max(size - len(self._got), _AT_ONCE), 1 << 20))
            if not part:
                raise EOFError
            self._got += part
        taken = bytes(self._got[:size])
        del self._got[:size]
        return taken

    def _patience(self, limit: float | None) -> None:
        if limit is not None:
            self.end.settimeout(max(limit - time.monotonic(), 0.001))


class Reader:
    """The calls of ``syscalls``, each answered by the child within ANSWER_S seconds, else ETIMEDOUT.

    WHERE, the first argument of each, is what the path has in common with others that would hang with it:
    after two lost children every further call there is ETIMEDOUT at once. So is any call after UNTIL, a value
    of time.monotonic().
    """

    def __init__(self, answer_s: float, until: float) -> None:
        self._answer_s, self._until = answer_s, until
        self._pid = 0
        self._link: _Link | None = None
        self._lost: dict[str, int] = {}
        self._left: list[int] = []

    def read(self, where: str, path: str, limit: int = LIMIT) -> bytes:
        """As syscalls.read."""
        return self._ask(where, path, "read", limit)[1]

    def heads(self, where: str, paths: Iterable[str], size: int) -> dict[str, bytes | OSError]:
        """As syscalls.head, of each path, or its error."""
        answers = self._answers(where, paths, "head", size)
        return {path: one if isinstance(one, OSError) else one[1] for path, one in answers.items()}

    def names(self, where: str, path: str) -> Names:
        """As syscalls.names."""
        found: Names = self._ask(where, path, "names", None)[0]
        return found

    def target(self, where: str, path: str) -> str:
        """As syscalls.target."""
        found: str = self._ask(where, path, "target", None)[0]
        return found

    def stat(self, where: str, path: str, follow: bool = True) -> Stat:
        """As syscalls.stat."""
        return Stat(*self._ask(where, path, "stat", follow)[0])

    def _ask(self, where: str, path: str, call: str, argument: object) -> _Answer:
        answer = self._answers(where, (path,), call, argument)[path]
        if isinstance(answer, OSError):
            raise answer
        return answer

    def _answers(self, where: str, paths: Iterable[str], call: str, argument: object) -> dict[str, _Answer | OSError]:
        """The answer for each path, or its error."""
        found: dict[str, _Answer | OSError] = {}
        left = deque(dict.fromkeys(paths))
        while left:
            if self._lost.get(where, 0) >= _LOST_AT_MOST or time.monotonic() >= self._until:
                return found | {path: failure(errno.ETIMEDOUT, path) for path in left}
            try:
                link = self._link or self._fork()
            except OSError as error:
                return found | dict.fromkeys(left, error)
            try:
                link.send((call, [*left], argument), b"", self._limit())
                while left and time.monotonic() < self._until:
                    (number, value), content = link.receive(self._limit())
                    path = left.popleft()
                    found[path] = failure(number, path) if number else (value, content)
                if left:  # the time is over, and answers are still on their way
                    self._leave()
            except (OSError, EOFError) as error:
                self._lost[where] = self._lost.get(where, 0) + 1
                self._leave()
                path = left.popleft()
                found[path] = failure(errno.ETIMEDOUT if isinstance(error, TimeoutError) else errno.EIO, path)
            except BaseException:  # an interrupt: the answer on its way must not be taken for the next one's
                self._leave()
                raise
        return found

    def _limit(self) -> float:
        return min(time.monotonic() + self._answer_s, self._until)

    def _fork(self) -> _Link:
        ours, theirs = socket.socketpair()
        try:
            pid = os.fork()
        except OSError:
            ours.close()
            theirs.close()
            raise
        if not pid:
            _child(_Link(theirs))
        theirs.close()
        self._pid, self._link = pid, _Link(ours)
        return self._link

    def _leave(self) -> None:
        """Kills the child and does not wait: in state D it cannot die."""
        if self._link is not None:
            self._link.end.close()
            self._link = None
            os.kill(self._pid, signal.SIGKILL)
            self._left.append(self._pid)
        self._left = [pid for pid in self._left if not _gone(pid)]

    def close(self) -> None:
        """Ends the child."""
        self._leave()
        for _ in range(20):
            if not self._left:
                return
            time.sleep(0.002)
            self._leave()


def _gone(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def _child(link: _Link) -> NoReturn:
    """The child's life. Whatever ends it, the parent's exit handlers and unwritten buffers stay untouched."""
    try:
        _detach(link.end.fileno())
        with suppress(EOFError):
            while True:
                (call, paths, argument), _ = link.receive()
                for path in paths:
                    link.send(*_answer(call, path, argument))
    finally:
        os._exit(0)


def _detach(fd: int) -> None:
    """Keeps only FD of the parent's: a terminal or pipe left open would make `snap take -o - | cat` hang."""
    os.closerange(0, fd)
    os.closerange(fd + 1, os.sysconf("SC_OPEN_MAX"))
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _answer(call: str, path: str, argument: Any) -> tuple[tuple[int, object], bytes]:
    """The error number, or 0 and a value, and bytes."""
    try:
        if call == "read":
            return (0, None), syscalls.read(path, argument)
        if call == "head":
            return (0, None), syscalls.head(path, argument)
        if call == "names":
            return (0, syscalls.names(path)), b""
        if call == "target":
            return (0, syscalls.target(path)), b""
        found = syscalls.stat(path, argument)
        return (0, list(asdict(found).values())), b""
    except OSError as error:
        return (error.errno or errno.EIO, None), b""
