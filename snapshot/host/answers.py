"""What a host answered, and the recording that gives the same answers again.

The files that were read make a tree; it is replayed against every answer, and what comes out otherwise is
entered in the tables, so that the tables hold no more than the tree cannot say.
"""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import ParamSpec, TypeVar

from ..records import field, record
from .asked import Asked
from .base import NOT_THERE, Command, Host, Names, Prune, Result, Session, Stat
from .recorded import Recorded, folders
from .tables import NAME, Tables
from .tree import Memory

Answer = bytes | Names | str | Stat | OSError
_P = ParamSpec("_P")
_V = TypeVar("_V")
_FILE = Stat("file", 0, 0, 0o644, 0, 0, 0, 0)
_PASSES = 8  # an entry for one answer can change another; two passes are usual


@record()
class Walk:
    """A walk taken to its end; GIVEN says of each path whether it is a directory, given with its error."""

    top: str
    skip: frozenset[str]
    prune: Prune
    given: dict[str, bool] = field(default_factory=dict)


@record()
class Answers:
    """The first answer to each question, by path."""

    reads: dict[str, bytes | OSError] = field(default_factory=dict)
    lists: dict[str, Names | OSError] = field(default_factory=dict)
    links: dict[str, str | OSError] = field(default_factory=dict)
    stats: dict[tuple[str, bool], Stat | OSError] = field(default_factory=dict)  # by path and FOLLOW
    whether: set[str] = field(default_factory=set)  # paths of which only the existence was asked
    globbed: dict[str, Names | OSError] = field(default_factory=dict)  # by a glob: why there is nothing is all one
    walks: list[Walk] = field(default_factory=list)
    results: dict[Command, Result] = field(default_factory=dict)
    asked: dict[str, Names] = field(default_factory=dict)  # by section: what it may read

    def recording(self, session: Session) -> Memory:
        """The files of the recording, recorded.json among them."""
        memory, tables = Memory(), self._tables(session)
        for path, content in self.reads.items():
            if isinstance(content, bytes):
                with suppress(OSError):  # was a file and a directory in turn: the replay will tell
                    memory.put(path, _FILE, content)
        for command, result in self.results.items():
            _put(memory, command, result)
        for _ in range(_PASSES):
            if not self._correct(tables, Recorded(memory, tables)):
                break
        tables.asked = self.asked or None
        memory.put(f"/{NAME}", _FILE, tables.dumps())
        return memory

    def _tables(self, session: Session) -> Tables:
        """What no tree of plain files can say."""
        tables = Tables(session)
        for (path, _), stat in self.stats.items():
            if isinstance(stat, Stat) and path not in self.whether:
                _note(tables, path, "stat", stat)
        tables.links = {path: text for path, text in self.links.items() if isinstance(text, str)}
        return tables

    def _correct(self, tables: Tables, made: Recorded) -> bool:
        """Enters what makes MADE answer as the host did; false when it already does."""
        replay = Asked(made, self.asked) if self.asked else made
        known_and_got = (*self._replayed(replay), *self._globbed(made))
        wrong = [(path, call, known) for path, call, known, got in known_and_got if not _same(known, got)]
        extra = {walk.top: _walked(walk, replay).keys() - walk.given.keys() for walk in self.walks}
        for path, call, known in wrong:
            _note(tables, path, call, known)
        for top, paths in extra.items():
            if paths:
                tables.unwalked[top] = sorted({*paths, *tables.unwalked.get(top, ())})
        return bool(wrong) or any(extra.values())

    def _replayed(self, replay: Host) -> Iterator[tuple[str, str, Answer, Answer | None]]:
        """Each path, call, known answer and replayed answer."""
        for path, content in self.reads.items():
            yield path, "read", content, _ask(replay.read, path, sys.maxsize)
        for path, names in self.lists.items():
            yield path, "list", names, _ask(replay.list, path)
        for path, text in self.links.items():
            yield path, "readlink", text, _ask(replay.readlink, path)
        for (path, follow), stat in self.stats.items():
            got = _ask(replay.stat, path, follow)
            if path not in self.whether or _is_there(stat) != _is_there(got):
                yield path, "stat" if follow else "lstat", stat, got
        for walk in self.walks:
            replayed = _walked(walk, replay)
            for path, folder in walk.given.items():
                known = self.lists[path] if folder else self.reads[path]
                if isinstance(known, OSError):
                    yield path, "list" if folder else "read", known, replayed.get(path)

    def _globbed(self, made: Recorded) -> Iterator[tuple[str, str, Answer, Answer]]:
        """As _replayed, of what globs listed; what a recording may be asked beside them does not matter to them."""
        for path, names in self.globbed.items():
            listed = _ask(made.list, path)
            if not _is_nothing(names) or not _is_nothing(listed):
                yield path, "list", names, listed


def _walked(walk: Walk, replay: Host) -> dict[str, bytes | OSError]:
    return dict(replay.walk(walk.top, walk.skip, walk.prune))


def _ask(call: Callable[_P, _V], *args: _P.args, **kwargs: _P.kwargs) -> _V | OSError:
    try:
        return call(*args, **kwargs)
    except OSError as error:
        return error


def _same(known: Answer, got: Answer | None) -> bool:
    if isinstance(known, OSError) and isinstance(got, OSError):
        return known.errno == got.errno
    return known == got


def _is_there(stat: Stat | OSError) -> bool | int | None:
    """Whether a path exists, or the number of the error that keeps that unknown."""
    if isinstance(stat, OSError):
        return stat.errno not in NOT_THERE and stat.errno
    return True


def _is_nothing(names: Names | OSError) -> bool:
    return names.errno in NOT_THERE if isinstance(names, OSError) else not names


def _note(tables: Tables, path: str, call: str, known: Answer) -> None:
    """Enters an answer. What cannot be kept is ESTALE: it changed while it was recorded."""
    if isinstance(known, Stat):
        (tables.linknodes if known.type == "link" else tables.nodes)[path] = known
    elif isinstance(known, list):
        tables.lists[path] = known
    else:
        number = known.errno if isinstance(known, OSError) else errno.ESTALE
        tables.errors.setdefault(path, {})[call] = number or errno.EIO


def _put(memory: Memory, command: Command, result: Result) -> None:
    folder = next((f for f in folders(command) if f"{f}/argv.json" not in memory.stats), "")
    if not folder:
        return  # replayed as not-recorded
    argv = json.dumps(command.argv) + "\n"
    files = {"argv.json": argv.encode(), "stdout": result.stdout, "stderr": result.stderr}
    if result.exit_code is not None:
        files["exit_code"] = f"{result.exit_code}\n".encode()
    if result.why:
        files["why"] = f"{result.why}\n".encode()
    for name, data in files.items():
        memory.put(f"{folder}/{name}", _FILE, data)
