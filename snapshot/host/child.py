"""Reads what can block in the kernel, in a child process that the parent can leave behind.

signal(7), socketpair(2). A process in state D does not die and cannot be waited for, and a thread in state
D would keep the whole process from ending. So the child holds nothing of the parent's but one socket, and
one that does not answer is killed and forgotten. A message is a JSON value and bytes, each behind its
length.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import struct
import time
from contextlib import suppress
from typing import Any, NoReturn

from ..records import asdict
from . import syscalls
from .base import LIMIT, Names, Stat, failure

_LENGTHS = struct.Struct(">QQ")  # of the JSON value, of the bytes
_LOST_AT_MOST = 2  # children, for one pattern


class Reader:
    """The calls of ``syscalls``, each answered by the child within ANSWER_S seconds, else ETIMEDOUT.

    WHERE, the first argument of each, is what the path has in common with others that would hang with it:
    after two lost children every further call there is ETIMEDOUT at once. So is any call after UNTIL, a value
    of time.monotonic().
    """

    def __init__(self, answer_s: float, until: float) -> None:
        self._answer_s, self._until = answer_s, until
        self._pid = 0
        self._socket: socket.socket | None = None
        self._lost: dict[str, int] = {}
        self._left: list[int] = []

    def read(self, where: str, path: str, limit: int = LIMIT) -> bytes:
        """As syscalls.read."""
        return self._ask(where, path, "read", limit)[1]

    def head(self, where: str, path: str, size: int) -> bytes:
        """As syscalls.head."""
        return self._ask(where, path, "head", size)[1]

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

    def _ask(self, where: str, path: str, call: str, argument: object) -> tuple[Any, bytes]:
        limit = min(time.monotonic() + self._answer_s, self._until)
        if self._lost.get(where, 0) >= _LOST_AT_MOST or time.monotonic() >= limit:
            raise failure(errno.ETIMEDOUT, path)
        link = self._socket or self._fork()
        try:
            _send(link, [call, path, argument], b"", limit)
            (number, value), content = _receive(link, limit)
        except (OSError, EOFError) as error:
            self._lost[where] = self._lost.get(where, 0) + 1
            self._leave()
            hung = isinstance(error, TimeoutError)
            raise failure(errno.ETIMEDOUT if hung else errno.EIO, path) from None
        except BaseException:  # an interrupt: the answer on its way must not be taken for the next one's
            self._leave()
            raise
        if number:
            raise failure(number, path)
        return value, content

    def _fork(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        try:
            pid = os.fork()
        except OSError:
            ours.close()
            theirs.close()
            raise
        if not pid:
            _child(theirs)
        theirs.close()
        self._pid, self._socket = pid, ours
        return ours

    def _leave(self) -> None:
        """Kills the child and does not wait: in state D it cannot die."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
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


def _send(link: socket.socket, value: object, content: bytes, limit: float | None = None) -> None:
    _patience(link, limit)
    text = json.dumps(value).encode()
    link.sendall(_LENGTHS.pack(len(text), len(content)) + text + content)


def _receive(link: socket.socket, limit: float | None = None) -> tuple[Any, bytes]:
    """One message. EOFError when the other end is gone, TimeoutError at LIMIT."""
    of_text, of_content = _LENGTHS.unpack(_exactly(link, _LENGTHS.size, limit))
    return json.loads(_exactly(link, of_text, limit)), _exactly(link, of_content, limit)


def _patience(link: socket.socket, limit: float | None) -> None:
    if limit is not None:
        link.settimeout(max(limit - time.monotonic(), 0.001))


def _exactly(link: socket.socket, size: int, limit: float | None) -> bytes:
    data = bytearray()
    while len(data) < size:
        _patience(link, limit)
        part = link.recv(min(size - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def _child(link: socket.socket) -> NoReturn:
    """The child's life. Whatever ends it, the parent's exit handlers and unwritten buffers stay untouched."""
    try:
        _detach(link.fileno())
        with suppress(EOFError):
            while True:
                (call, path, argument), _ = _receive(link)
                _send(link, *_answer(call, path, argument))
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
