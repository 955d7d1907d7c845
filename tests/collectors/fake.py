"""A host in memory for collector tests, and ``gather``, which runs one collector on it.

    host = MemoryHost({"/proc/sys/kernel/tainted": "0\n", "/boot/": OSError(errno.EACCES, "denied")})
    found, reading = gather(kernel, host)

A key of FILES that ends in / is a directory (its value is ignored unless it is an error). An OSError as a
value is what reading or listing that path raises; what lies below and is not given raises it too. stat(2) of
such a path works, as it does for a file of mode 0600; an OSError in NODES is what stat(2) raises.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from types import ModuleType

from snapshot.collectors.base import Reading
from snapshot.host.base import Command, FileType, Host, Result, Session, Source, Stat
from snapshot.sections.base import Model

Content = bytes | str | OSError
Names = list[str]  # within the class, list is its method
SESSION = Session(taken_ns=1_700_000_000_000_000_000, uid=0, capabilities="000001ffffffffff", hostname="host")


def node(
    kind: FileType, major: int = 0, minor: int = 0, mode: int = 0o666, *, uid: int = 0, gid: int = 0,
    size: int = 0,
) -> Stat:
    """A Stat for NODES."""
    return Stat(kind, major, minor, mode, uid, gid, size, mtime_ns=0)


class MemoryHost(Host):
    """A file system of dicts. Directories above a path exist without being given."""

    source: Source = "live"

    def __init__(
        self,
        files: Mapping[str, Content] | None = None,
        links: Mapping[str, str] | None = None,
        nodes: Mapping[str, Stat | OSError] | None = None,
        results: Mapping[str, Result | str] | None = None,
        session: Session = SESSION,
        lacks: str = "",
    ) -> None:
        """RESULTS is by the words of the command joined by a blank; a str is a stdout with exit code 0.

        /proc and /sys are there, if with nothing of use in them, but for those that LACKS names.
        """
        self.session = session
        self.files = {_trim(path): _bytes(content) for path, content in (files or {}).items()}
        self.links, self.nodes, self.results = dict(links or {}), dict(nodes or {}), dict(results or {})
        self.ran: list[Command] = []
        self.children: dict[str, set[str]] = {"": set()}
        for top, name in {"/proc": "/self", "/sys": "/dev"}.items():
            if top not in lacks.split():
                self._plant(top + name, directory=True)
        for path in files or {}:
            self._plant(path.rstrip("/"), directory=path.endswith("/"))
        for path in (*self.links, *self.nodes):
            self._plant(path, directory=False)

    def _plant(self, path: str, directory: bool) -> None:
        if directory:
            self.children.setdefault(path, set())
        while path:
            parent, _, name = path.rpartition("/")
            self.children.setdefault(parent, set()).add(name)
            path = parent

    def read(self, path: str, limit: int = 64 << 20) -> bytes:
        """As Host.read."""
        real = self._resolve(path)
        content = self.files.get(real, b"")
        if isinstance(content, OSError):
            raise content
        if real in self.children:
            raise _error(errno.EISDIR, path)
        if len(content) > limit:
            raise _error(errno.EFBIG, path)
        return content

    def list(self, path: str) -> Names:
        """As Host.list."""
        real = self._resolve(path)
        content = self.files.get(real)
        if isinstance(content, OSError):
            raise content
        if real not in self.children:
            raise _error(errno.ENOTDIR, path)
        return sorted(self.children[real])

    def readlink(self, path: str) -> str:
        """As Host.readlink."""
        real = self._resolve(path, follow=False)
        if real not in self.links:
            raise _error(errno.EINVAL, path)
        return self.links[real]

    def stat(self, path: str, follow: bool = True) -> Stat:
        """As Host.stat."""
        real = self._resolve(path, follow)
        given = self.nodes.get(real)
        if isinstance(given, OSError):
            raise given
        if given is not None:
            return given
        if real in self.links:
            return node("link", mode=0o777, size=len(self.links[real]))
        if real in self.children:
            return node("directory", mode=0o755)
        content = self.files.get(real, b"")
        if isinstance(content, OSError):
            return node("file", mode=0o600)
        return node("file", mode=0o644, size=len(content))

    def glob(self, pattern: str) -> Names:
        """As Host.glob."""
        found = [""]
        for part in pattern.strip("/").split("/"):
            found = [f"{top}/{name}" for top in found for name in self._matches(top, part)]
        return sorted(found)

    def _matches(self, top: str, part: str) -> Names:
        if not set("*?") & set(part):
            return [part] if self._exists(f"{top}/{part}") else []
        wanted = re.compile("".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in part), re.DOTALL)
        try:
            names = self.list(top or "/")
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                return []
            raise
        return [n for n in names if wanted.fullmatch(n) and (part[0] == "." or n[0] != ".")]

    def _exists(self, path: str) -> bool:
        try:
            self._resolve(path, follow=False)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                return False
            raise
        return True

    def walk(
        self, top: str, skip: frozenset[str] = frozenset(), prune: Callable[[str], bool] = lambda _: False
    ) -> Iterator[tuple[str, bytes | OSError]]:
        """As Host.walk."""
        try:
            names = self.list(top)
        except OSError as error:
            yield top, error
            return
        for path in (f"{top.rstrip('/')}/{name}" for name in names):
            broken = isinstance(self.nodes.get(path), OSError)
            kind = "" if broken else self.stat(path, follow=False).type
            if kind == "directory" and not prune(path):
                yield from self.walk(path, skip, prune)
            elif kind == "file" and path not in skip:
                yield path, self._content(path)

    def _content(self, path: str) -> bytes | OSError:
        try:
            return self.read(path)
        except OSError as error:
            return error

    def run(self, commands: Sequence[Command]) -> Mapping[Command, Result]:
        """As Host.run; a command that is not in RESULTS is not found."""
        self.ran += commands
        return {command: self._result(command) for command in commands}

    def _result(self, command: Command) -> Result:
        result = self.results.get(" ".join(command.argv), Result(None, why="not-found"))
        return Result(0, result.encode()) if isinstance(result, str) else result

    def _resolve(self, path: str, follow: bool = True) -> str:
        done, rest, hops = "", _parts(path), 0
        while rest:
            name = rest.pop(0)
            if name == "..":
                done = done.rpartition("/")[0]
                continue
            here = f"{done}/{name}"
            self._enter(done, name, path)
            if here in self.links and (rest or follow):
                hops += 1
                if hops > 40:
                    raise _error(errno.ELOOP, path)
                target = self.links[here]
                done = "" if target.startswith("/") else done
                rest[:0] = _parts(target)
            else:
                done = here
        return done

    def _enter(self, directory: str, name: str, path: str) -> None:
        content = self.files.get(directory)
        if name in self.children.get(directory, ()):
            return
        if isinstance(content, OSError):
            raise content
        raise _error(errno.ENOENT if directory in self.children else errno.ENOTDIR, path)


def gather(module: ModuleType, host: Host) -> tuple[Model, Reading]:
    """What the collector MODULE makes of HOST, and its reading; all that it touches must be in its READS."""
    reading = Reading(host, module.READS)
    collected = module.collect(reading)
    found = _answered(collected, reading) if isinstance(collected, Generator) else collected
    assert isinstance(found, Model)
    assert type(found).model_validate(found.table()) == found
    return found, reading


def _answered(
    steps: Generator[tuple[Command, ...], Mapping[Command, Result], Model], reading: Reading
) -> Model:
    try:
        commands = next(steps)
        while True:
            for command in commands:
                assert any(_covers(d, command.argv) for d in reading.reads.commands), command.argv
            commands = steps.send(reading.host.run(commands))
    except StopIteration as end:
        found: Model = end.value
        return found


def _covers(declared: tuple[str, ...], argv: tuple[str, ...]) -> bool:
    if declared[-1] == "*":
        return argv[: len(declared) - 1] == declared[:-1]
    return argv == declared


def _trim(path: str) -> str:
    return path.rstrip("/")


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _bytes(content: Content) -> bytes | OSError:
    return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content


def _error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)
