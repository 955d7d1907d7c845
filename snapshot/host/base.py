"""The interface of a host. Paths are absolute; every failure is an OSError that keeps its errno.

A path that is asked for and is not there is ENOENT; one that may not be read is EACCES or EPERM; one that
did not answer in time is ETIMEDOUT (the time limit, or a machine that hangs); one that a recording was never
asked for is NOT_RECORDED. Names come as str with surrogateescape. A path with a ``..`` component is EINVAL
on every host: behind a link it means what a recording cannot keep.
"""

from __future__ import annotations

import errno
import os
import posixpath
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Literal

from ..records import record

FileType = Literal["file", "directory", "link", "char", "block", "fifo", "socket"]
Source = Literal["live", "directory", "archive"]
Names = list[str]  # within a class, list is its method
Prune = Callable[[str], bool]
Walked = Iterator[tuple[str, bytes | OSError]]
LIMIT = 64 << 20  # bytes of one file
NOT_THERE = (errno.ENOENT, errno.ENOTDIR)
NOT_RECORDED = 4096  # beyond the kernel's last, 4095: a driver may well say ENODATA of itself
NOT_MOUNTED = 4097  # below /proc or /sys, where there is no such file system
WORDS = {**errno.errorcode, NOT_RECORDED: "not-recorded", NOT_MOUNTED: "not-mounted"}
FIRST_NS, LAST_NS = -62_135_596_800 * 10**9, 253_402_300_799 * 10**9  # the years 1 to 9999: what a date can hold


@record(frozen=True)
class Stat:
    """What lstat(2) says that a collector may need."""

    type: FileType
    major: int  # of the device that the node stands for; 0 for others
    minor: int
    mode: int  # permission bits only
    uid: int
    gid: int
    size: int
    mtime_ns: int


@record(frozen=True)
class Command:
    """A program to run: argv[0] is a bare name looked up on the safe PATH, never a shell line."""

    argv: tuple[str, ...]
    timeout_s: float = 20.0

    @property
    def id(self) -> str:
        """The name of its folder in a recording: words joined by -, other signs _, a long one hashed."""
        text = "-".join(w.lstrip("-") for w in self.argv)
        name = "".join(c if c.isascii() and (c.isalnum() or c in "-._") else "_" for c in text)
        if len(name) <= 120:
            return name
        return f"{name[:100]}-{sha256(repr(self.argv).encode()).hexdigest()[:12]}"


@record(frozen=True)
class Result:
    """What a command said.

    WHY is empty when it ran to its end, else not-found, denied, timeout, output-limit, or not-recorded: the
    recording was made without it, which says nothing about the program.
    """

    exit_code: int | None  # negative: the signal that ended it
    stdout: bytes = b""
    stderr: bytes = b""
    why: str = ""


@record(frozen=True)
class Session:
    """Facts about the take itself, which a recording keeps."""

    taken_ns: int  # nanoseconds since the epoch; 0 when unknown
    uid: int
    capabilities: str  # CapEff of /proc/self/status, 16 hex digits; empty when unknown
    hostname: str  # uname(2) nodename
    redacted: bool = False  # names in the recording are pseudonyms


def failure(number: int, path: str) -> OSError:
    """The OSError of an errno, its subclass chosen by Python as for a system call."""
    own = number in (NOT_RECORDED, NOT_MOUNTED)
    return OSError(number, WORDS[number].replace("-", " ") if own else os.strerror(number), path)


def moment(ns: int) -> int:
    """A file's time, kept within what a date can hold: file systems take any number."""
    return min(max(ns, FIRST_NS), LAST_NS)


def checked(path: str) -> str:
    """PATH without doubled or trailing slashes and ``.``. ENOENT where no file can be, EINVAL with ``..``."""
    if not path.startswith("/") or "\0" in path or not (path.isascii() or _encodable(path)):
        raise failure(errno.ENOENT, path)
    if "/." in path and ".." in path.split("/"):
        raise failure(errno.EINVAL, path)
    if "//" in path or "/." in path or path.endswith("/"):
        return "/" + posixpath.normpath(path).lstrip("/")
    return path


def _encodable(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=1024)
def component(pattern: str) -> Callable[[str], object]:
    """Says whether a name matches one component of a glob: * and ?, never a leading dot."""
    body = "".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern)
    return re.compile(rf"(?!\.){body}" if pattern[:1] in "*?" else body, re.DOTALL).fullmatch


def _names(ask: Callable[[str], Names], path: str) -> Names:
    """What ASK says is in a directory; nothing when it is not there."""
    try:
        return ask(path)
    except OSError as error:
        if error.errno not in NOT_THERE:
            raise
        return []


class Host(ABC):
    """One machine, live or recorded."""

    source: Source
    session: Session

    @abstractmethod
    def read(self, path: str, limit: int = LIMIT) -> bytes:
        """The whole content of a regular file, links followed within the root.

        EFBIG beyond LIMIT bytes, EISDIR for a directory, ENXIO for a device, FIFO or socket, never opened.
        """

    def heads(self, paths: Sequence[str], size: int) -> Mapping[str, bytes | OSError]:
        """The first SIZE bytes of each regular file, all when it has fewer, or its error.

        For files of which each byte costs, and of which many are needed that can block: they are asked for together.
        """
        found: dict[str, bytes | OSError] = {}
        for path in paths:
            try:
                found[path] = self.read(path)[:size]
            except OSError as error:
                found[path] = error
        return found

    @abstractmethod
    def list(self, path: str) -> Names:
        """The names in a directory, sorted."""

    @abstractmethod
    def readlink(self, path: str) -> str:
        """The target text of a symbolic link, as it stands. EINVAL when it is none."""

    @abstractmethod
    def stat(self, path: str, follow: bool = True) -> Stat:
        """Type, numbers, mode and owner; of the link itself when FOLLOW is false."""

    def exists(self, path: str) -> bool:
        """Whether the path is there, if only as a dangling link."""
        try:
            self.stat(path, follow=False)
        except OSError as error:
            if error.errno not in NOT_THERE:
                raise
            return False
        return True

    def glob(self, pattern: str) -> Names:
        """The paths that match, sorted. * and ? match within one component and never a leading dot.

        A directory on the way that cannot be listed raises its OSError, unless that is ENOENT or ENOTDIR.
        """
        paths = [""]
        plain = True
        ask = self.lister(pattern)
        for part in checked(pattern).split("/")[1:]:
            plain = "*" not in part and "?" not in part
            if plain:
                paths = [f"{path}/{part}" for path in paths]
            else:
                match = component(part)
                paths = [f"{path}/{n}" for path in paths for n in _names(ask, path or "/") if match(n)]
        return sorted(filter(self.exists, paths) if plain else paths)

    def lister(self, pattern: str) -> Callable[[str], Names]:
        """What a glob of PATTERN lists directories with: a recording may know their names for that glob alone."""
        del pattern  # of no use to a host that can be asked anything
        return self.list

    @abstractmethod
    def walk(self, top: str, skip: frozenset[str] = frozenset(), prune: Prune = lambda _: False) -> Walked:
        """Every regular file below TOP with its content or its error; links below TOP are not followed.

        SKIP holds absolute paths of files that must not be opened; PRUNE says of a directory's absolute path
        whether to leave it out. A directory that cannot be listed is given with its error, and so is what
        vanishes meanwhile. Order is not defined.
        """

    @abstractmethod
    def run(self, commands: Sequence[Command]) -> Mapping[Command, Result]:
        """Runs the commands side by side and waits for all; never raises for a command's own failure."""

    def asks(self, section: str, paths: Sequence[str]) -> bool:
        """Says what SECTION may read from here on: patterns, where * is one component or a part, ** any depth.

        False when a recording was made without that section.
        """
        del section, paths  # of no use to a host that can be asked anything
        return True

    def answerable(self, paths: Sequence[str]) -> Names:
        """Those of PATHS, patterns, that this host can be asked: all, but for what a recording was made without."""
        return [*paths]

    def complete(self) -> None:  # noqa: B027 - only a recorder needs to know
        """Says that all questions were asked: a recording of less is not kept."""

    def close(self) -> None:  # noqa: B027 - most hosts hold nothing
        """Lets go of what the host holds (a child process, an open archive)."""
