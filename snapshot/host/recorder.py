"""Writes what was asked of a host and what it answered, as a recorded root.

Layout, below the root of the folder or archive::

    proc/... sys/... etc/...      the content of each file read, at the path that was asked for (no links)
    commands/ID/argv.json         the words of a command; ID is Command.id, ~2, ~3 ... where two are the same
    commands/ID/stdout stderr     what it said
    commands/ID/exit_code         a decimal number; no such file when it did not run to its end
    commands/ID/why               only then: not-found, denied, timeout or output-limit
    recorded.json                 the tables below

``recorded.json`` is {format: 1, session: {taken_ns, uid, capabilities, hostname}} and, each by absolute
path: ``nodes`` {type, major, minor, mode, uid, gid, size, mtime_ns} of stat(2), and ``linknodes`` the same
of lstat(2) where that is a link; ``links`` the target text of readlink(2); ``lists`` the names in a
directory, where the files of the recording would give others; ``errors`` {read|list|readlink|stat|lstat:
errno name}, where the recording would give another; ``unwalked``, by the top of a walk, the paths that a
replay would give and this walk did not: what lies behind a link on the host, or a top without any file.
``asked`` has, for each section that was taken, the patterns of what it may read: what they do not cover is
unknown (``asked``). Without it all that is missing counts as not there.
``/commands`` and ``/recorded.json`` of the host itself are not recorded.

Each question is asked once; asked again it gets the first answer, so that a take and its recording agree.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ..errors import SnapError
from . import destination
from .answers import Answers, Walk
from .base import LIMIT, NOT_RECORDED, NOT_THERE, Command, Host, Names, Prune, Result, Stat, Walked, checked, failure
from .tree import Memory

_K = TypeVar("_K")
_V = TypeVar("_V")


class Recorder(Host):
    """HOST, and a note of each answer; ``close`` writes it to DEST, a new or empty folder or new archive.

    It does so only after ``complete``: a take that raised or was interrupted leaves no recording. One that is HELD is
    not written before ``revise`` has said how.
    """

    def __init__(self, host: Host, dest: str, held: bool = False) -> None:
        self._host, self._dest, self._answers = host, dest, Answers()
        self.source, self.session = host.source, host.session
        self._complete = self._closed = False
        self._held = held
        self._change: Callable[[Memory], Memory] = lambda recording: recording
        try:
            destination.prepare(dest)
        except OSError as error:
            raise SnapError(f"{dest}: {error.strerror or error}") from None

    def asks(self, section: str, paths: Sequence[str]) -> bool:
        """As Host.asks."""
        answered = self._host.asks(section, paths)
        if answered:
            self._answers.asked[section] = self._host.answerable(paths)
        return answered

    def read(self, path: str, limit: int = LIMIT) -> bytes:
        """As Host.read."""
        path, reads = checked(path), self._answers.reads
        known = reads.get(path)
        if isinstance(known, OSError) and known.errno == errno.EFBIG:
            del reads[path]  # the limit may be higher now
        content = _once(reads, path, lambda: self._host.read(path, limit))
        if len(content) > limit:
            raise failure(errno.EFBIG, path)
        return content

    def list(self, path: str) -> Names:
        """As Host.list."""
        path = checked(path)
        return _once(self._answers.lists, path, lambda: self._listed(path)).copy()

    def _listed(self, path: str) -> Names:
        names = self._host.list(path)  # which a recording may refuse where it answers a glob
        known = self._answers.globbed
        return _once(known, path, lambda: names) if path in known else names

    def lister(self, pattern: str) -> Callable[[str], Names]:
        """As Host.lister."""
        lists, ask = self._answers.lists, self._host.lister(pattern)

        def names(path: str) -> Names:
            listed = lists.get(path)
            refused = isinstance(listed, OSError) and listed.errno == NOT_RECORDED
            known = self._answers.globbed if listed is None or refused else lists
            return _once(known, path, lambda: ask(path))

        return names

    def answerable(self, paths: Sequence[str]) -> Names:
        """As Host.answerable."""
        return self._host.answerable(paths)

    def readlink(self, path: str) -> str:
        """As Host.readlink."""
        path = checked(path)
        return _once(self._answers.links, path, lambda: self._host.readlink(path))

    def stat(self, path: str, follow: bool = True) -> Stat:
        """As Host.stat."""
        path = checked(path)
        self._answers.whether.discard(path)
        return self._stat(path, follow)

    def _stat(self, path: str, follow: bool) -> Stat:
        return _once(self._answers.stats, (path, follow), lambda: self._host.stat(path, follow))

    def exists(self, path: str) -> bool:
        """As Host.exists. The node is noted only where the recording would not show that it is there."""
        path, stats = checked(path), self._answers.stats
        if (path, False) not in stats and (path, True) not in stats:
            self._answers.whether.add(path)
        try:
            self._stat(path, follow=False)
        except OSError as error:
            if error.errno not in NOT_THERE:
                raise
            return False
        return True

    def walk(self, top: str, skip: frozenset[str] = frozenset(), prune: Prune = lambda _: False) -> Walked:
        """As Host.walk. One that is not taken to its end leaves no more than the files that it gave."""
        answers, walk = self._answers, Walk(checked(top), skip, prune)
        for path, content in self._host.walk(top, skip, prune):
            folder = isinstance(content, OSError) and (path == walk.top or self._is_directory(path))
            walk.given[path] = folder
            if isinstance(content, OSError) and folder:
                answers.lists[path] = content
            else:
                content = answers.reads.setdefault(path, content)
            yield path, content
        answers.walks.append(walk)

    def _is_directory(self, path: str) -> bool:
        try:
            return self._host.stat(path, follow=False).type == "directory"
        except OSError:
            return False

    def run(self, commands: Sequence[Command]) -> Mapping[Command, Result]:
        """As Host.run."""
        results = self._answers.results
        results.update(self._host.run([command for command in commands if command not in results]))
        return {command: results[command] for command in commands}

    def revise(self, change: Callable[[Memory], Memory]) -> None:
        """Says what to write in place of the recording: what CHANGE makes of it."""
        self._held, self._change = False, change

    def complete(self) -> None:
        """As Host.complete."""
        self._complete = True

    def close(self) -> None:
        """Writes the recording, once, if it is complete, and closes the host. SnapError when it cannot be written."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._complete and not self._held:
                destination.write(self._change(self._answers.recording(self.session)), self._dest)
        except OSError as error:
            raise SnapError(f"{self._dest}: {error.strerror or error}") from None
        finally:
            self._host.close()


def _once(known: dict[_K, _V | OSError], question: _K, ask: Callable[[], _V]) -> _V:
    """The first answer."""
    if question not in known:
        try:
            known[question] = ask()
        except OSError as error:
            known[question] = error
    answer = known[question]
    if isinstance(answer, OSError):
        raise answer.with_traceback(None)
    return answer
