"""How a collector sees the host: declared reads, unread facts and provenance.

A ``Reading`` is one section's view of the host. It refuses undeclared paths, remembers which facts could not be read
and why, and lists the configuration files that were read, for the snapshot's ``[files]``.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import cache

from ..host.base import NOT_MOUNTED, NOT_THERE, WORDS, Command, Host, Names, Result, Stat
from ..host.patterns import Patterns
from ..host.tops import Tops
from ..records import field, record
from ..sections.base import Model

FactPath = tuple[str, ...]
CONFIG_LIMIT = 1 << 20  # bytes of a configuration file: nobody writes a longer one by hand
CONFIG_LINES = 10_000
Content = bytes | OSError  # within Reading, bytes is its method
Collected = Model | Generator[tuple[Command, ...], Mapping[Command, Result], Model]


@record(frozen=True)
class Reads:
    """All that a collector may touch. In a path * stands for one component (or part of it), ** for any depth."""

    paths: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()  # argv, where a last word * stands for any further words
    root: str = ""  # what root adds, one sentence; empty when it adds nothing


@record(frozen=True)
class Collector:
    """A section's name, what it reads and how."""

    name: str
    reads: Reads
    collect: Callable[[Reading], Collected]


@record(frozen=True)
class Unread:
    """A fact path that is unknown, with everything below it; WHY is an errno name, timeout, or a few words."""

    path: FactPath
    source: str
    why: str


@record(frozen=True)
class File:
    """A configuration file that was read."""

    size_bytes: int
    mtime_ns: int | None
    sha256: str


def why(error: OSError) -> str:
    """The word for an error in an outcome: its errno name, timeout, not-recorded or not-mounted."""
    if error.errno == errno.ETIMEDOUT:
        return "timeout"
    return WORDS.get(error.errno or 0, "error")


def decode(data: bytes) -> str:
    """Bytes of the machine as text: UTF-8, other bytes kept as surrogates."""
    return data.decode("utf-8", "surrogateescape")


class UndeclaredError(RuntimeError):
    """A collector touched what its READS do not name: a fault of ours, never of the machine."""


@record()
class Reading:
    """One section's view of the host. TOPS is the same for all sections of a take."""

    host: Host
    reads: Reads
    unreads: list[Unread] = field(default_factory=list)
    files: dict[str, File] = field(default_factory=dict)
    tops: Tops | None = None
    _patterns: Patterns = field(init=False)
    _tops: Tops = field(init=False)

    def __post_init__(self) -> None:
        self._patterns = patterns(self.reads.paths)
        self._tops = self.tops or Tops(self.host)

    def bytes(self, path: str, *fact: str, limit: int = 64 << 20) -> bytes | None:
        """The content; None when the file is not there, or, noted as unread under FACT, when it cannot be read."""
        self._declared(path)
        try:
            return self.host.read(path, limit)
        except OSError as error:
            self._failed(error, path, fact)
            return None

    def attempt(self, path: str, limit: int = 64 << 20) -> Content:
        """The content, or the error, which is not noted: for a fact that may have another source."""
        self._declared(path)
        try:
            return self.host.read(path, limit)
        except OSError as error:
            return self._tops.judged(error, path)

    def heads(self, paths: Sequence[str], size: int) -> Mapping[str, Content]:
        """As attempt, of the first SIZE bytes of each path."""
        for path in paths:
            self._declared(path)
        heads = self.host.heads(paths, size)
        return {p: self._tops.judged(one, p) if isinstance(one, OSError) else one for p, one in heads.items()}

    def text(self, path: str, *fact: str, limit: int = 64 << 20) -> str | None:
        """As bytes, decoded, trailing newline and NUL bytes dropped."""
        data = self.bytes(path, *fact, limit=limit)
        return None if data is None else decode(data).replace("\0", "").rstrip("\n")

    def config(self, path: str, *fact: str) -> str | None:
        """As text, whole, of a configuration file, which is listed in the snapshot's files; one too long is unread."""
        data = self.attempt(path, CONFIG_LIMIT)
        if isinstance(data, OSError):
            if data.errno == errno.EFBIG:
                self.unread(fact, path, f"larger than {CONFIG_LIMIT >> 20} MiB")
            else:
                self._failed(data, path, fact)
            return None
        try:
            mtime: int | None = self.host.stat(path).mtime_ns
        except OSError:
            mtime = None
        self.files[path] = File(len(data), mtime, hashlib.sha256(data).hexdigest())
        if max(data.count(b"\n"), data.count(b"\r")) > CONFIG_LINES:
            self.unread(fact, path, f"more than {CONFIG_LINES} lines")
            return None
        return decode(data)

    def list(self, path: str, *fact: str) -> Names:
        """The names in a directory, sorted; none when it is not there, or (noted) cannot be listed."""
        self._declared(path)
        try:
            return self.host.list(path)
        except OSError as error:
            self._failed(error, path, fact)
            return []

    def glob(self, pattern: str, *fact: str) -> Names:
        """The paths that match; none (noted) when a directory on the way cannot be listed."""
        self._declared(pattern)
        try:
            found = self.host.glob(pattern)
        except OSError as error:
            self._failed(error, pattern, fact)
            return []
        if not found and self._tops.lacks(pattern):
            self.unread(fact, pattern, WORDS[NOT_MOUNTED])
        return found

    def readlink(self, path: str, *fact: str) -> str | None:
        """The target text; None when there is no such link, or (noted) it cannot be read."""
        self._declared(path)
        try:
            return self.host.readlink(path)
        except OSError as error:
            if error.errno != errno.EINVAL:
                self._failed(error, path, fact)
            return None

    def stat(self, path: str, *fact: str, follow: bool = True) -> Stat | None:
        """What stat(2) says; None when there is nothing, or (noted) it cannot be told."""
        self._declared(path)
        try:
            return self.host.stat(path, follow)
        except OSError as error:
            self._failed(error, path, fact)
            return None

    def walk(
        self, top: str, skip: frozenset[str] = frozenset(), prune: Callable[[str], bool] = lambda _: False
    ) -> Iterator[tuple[str, Content]]:
        """As Host.walk; TOP has to be declared with a trailing /**."""
        self._declared(f"{top}/**")
        for path, content in self.host.walk(top, skip, prune):
            yield path, self._tops.judged(content, path) if isinstance(content, OSError) else content

    def unread(self, path: Sequence[str], source: str, reason: str) -> None:
        """Notes that the facts at and below PATH are unknown."""
        self.unreads.append(Unread(tuple(path), source, reason))

    def settle(self, known: bool, source: str, reason: str, *fact: str) -> None:
        """Ends the search for a FACT of several sources: forgets their errors if KNOWN, else notes it."""
        if known:
            self.unreads = [u for u in self.unreads if u.path != fact]
        elif all(u.path != fact for u in self.unreads):
            self.unread(fact, source, reason)

    def depends(self, fact: FactPath, *others: FactPath) -> None:
        """What makes FACT unknown, noted so far, makes OTHERS unknown, which are worked out from it."""
        for noted in [u for u in self.unreads if u.path == fact]:
            for other in others:
                self.unread(other, noted.source, noted.why)

    def unread_together(self, source: str, reason: str, *facts: str) -> None:
        """Notes FACTS of one source as unread, for the error noted for one of them, else for REASON."""
        noted = [u.why for u in self.unreads if len(u.path) == 1 and u.path[0] in facts]
        for fact in facts:
            self.settle(False, source, (noted or [reason])[0], fact)

    def _failed(self, error: OSError, source: str, fact: FactPath) -> None:
        error = self._tops.judged(error, source)
        if error.errno not in NOT_THERE:
            self.unread(fact, source, why(error))

    def _declared(self, path: str) -> None:
        if not self._patterns.cover(path):
            raise UndeclaredError(f"{path} is read but not declared")


patterns = cache(Patterns)  # of a section, by what it declares
