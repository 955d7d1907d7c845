"""A recorded host, from a directory or an archive.

Its layout stands in ``recorder``; a root copied by hand (``cp -a``, ``tar``) reads as well. Paths are
resolved one component at a time within the root (path_resolution(7), as after chroot(2)): an absolute link
starts at the root, ``..`` stops there, and 40 links are a loop. A path that stat was never asked for has
the recording's own mode and owner. Without recorded.json the session is: time unknown, uid 0, capabilities
unknown, host name from /etc/hostname.
"""

from __future__ import annotations

import errno
import json
import os
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence

from ..errors import SnapError
from ..regexes import regex
from .asked import Asked
from .base import (
    LIMIT,
    NOT_THERE,
    Command,
    FileType,
    Host,
    Names,
    Prune,
    Result,
    Session,
    Stat,
    Walked,
    checked,
    failure,
)
from .tables import NAME, Tables, loads
from .tree import DIRECTORY, Folder, Tree, rooted

COMMANDS = "/commands"
_HIDDEN = {COMMANDS, f"/{NAME}"}
_PLAIN = regex(r"\w[\w.:-]*", re.ASCII)  # names of files that need no second look
_MAX_LINKS = 40


def open_host(path: str) -> Host:
    """The recording in a directory or an archive. SnapError when it is neither, or not to be trusted."""
    try:
        tree = rooted(_tree(path))
        if tree is None:
            raise SnapError(f"{path}: holds no recorded root: neither {NAME} nor proc, sys or etc")
        tables = _load(tree, f"{path}: {NAME}")
        host = Recorded(tree, tables)
        return host if tables.asked is None else Asked(host, tables.asked)
    except OSError as error:
        raise SnapError(f"{path}: {error.strerror or error}") from None


def _tree(path: str) -> Tree:
    if os.path.isdir(path):
        return Folder(os.path.abspath(path))
    from . import archive  # its codecs are not needed for a directory

    return archive.load(path)


class Recorded(Host):
    """The host that a tree and its tables describe."""

    def __init__(self, tree: Tree, tables: Tables | None = None) -> None:
        self._tree, self.source = tree, tree.source
        self._tables = tables or _load(tree, NAME)
        self._shadow = Shadow(self._tables)
        self._folders: dict[str, str] = {"": ""}  # path -> the same without links
        self._gone: set[str] = set()  # folders that are not there
        self._directories: set[str] = set()  # real paths that were seen to be directories
        self.session = self._tables.session or self._unknown()

    def _unknown(self) -> Session:
        try:
            name = self.read("/etc/hostname", 4096).decode("utf-8", "surrogateescape").strip()
        except OSError:
            name = ""
        return Session(0, 0, "", name)

    def read(self, path: str, limit: int = LIMIT) -> bytes:
        """As Host.read."""
        folder, _, name = path.rpartition("/")
        plain = name.isidentifier() or _PLAIN.fullmatch(name)
        if plain and folder in self._folders and path not in self._tables.errors:
            real = f"{self._folders[folder]}/{name}"  # as most of thousands are, which is seen without more ado
            if real not in _HIDDEN and (data := self._tree.plain(real, limit)) is not None:
                return data
        real, kind = self._real(path := self._asked(path, "read"))
        if kind != "file":
            raise failure(errno.EISDIR if kind == "directory" else errno.ENXIO, path)
        return self._tree.data(real, limit)

    def list(self, path: str) -> Names:
        """As Host.list."""
        path = self._asked(path, "list")
        if path in self._tables.lists:
            return sorted(self._tables.lists[path])
        real, kind = self._real(path)
        if kind != "directory":
            raise failure(errno.ENOTDIR, path)
        return sorted(self._tables.lists[real] if real in self._tables.lists else self._listed(real))

    def readlink(self, path: str) -> str:
        """As Host.readlink."""
        path = self._asked(path, "readlink")
        if path in self._tables.links:
            return self._tables.links[path]
        folder, _, name = path.rpartition("/")
        if folder in self._folders and name and (real := f"{self._folders[folder]}/{name}") not in _HIDDEN:
            try:
                return self._target(real)
            except OSError as error:
                if error.errno == errno.ENOENT and real not in self._shadow.kinds:
                    raise failure(errno.ENOENT, path) from None
        real, kind = self._real(path, follow=False)
        if kind != "link":
            raise failure(errno.EINVAL, path)
        return self._target(real)

    def stat(self, path: str, follow: bool = True) -> Stat:
        """As Host.stat."""
        path = self._asked(path, "stat" if follow else "lstat")
        known = self._known(path, follow)
        if known is None:
            real, kind = self._real(path, follow)
            known = self._known(real, follow) or self._own(real, kind)
        return known

    def _known(self, path: str, follow: bool) -> Stat | None:
        if not follow and path in self._tables.linknodes:
            return self._tables.linknodes[path]
        return self._tables.nodes.get(path) if follow or path not in self._tables.links else None

    def _own(self, real: str, kind: FileType) -> Stat:
        try:
            return self._tree.stat(real)
        except OSError:
            size = len(self._tables.links.get(real, ""))
            return Stat(kind, 0, 0, 0o777 if kind == "link" else 0o644, 0, 0, size, 0)

    def walk(self, top: str, skip: frozenset[str] = frozenset(), prune: Prune = lambda _: False) -> Walked:
        """As Host.walk."""
        top = checked(top)
        unwalked = frozenset(self._tables.unwalked.get(top, ()))
        todo = [top]
        while todo:
            base = todo.pop()
            try:
                self._asked(base, "list")
                real = self._folder(base)
                kinds = self._kinds(real)
            except OSError as error:
                if base not in unwalked:
                    yield base, error
                continue
            for name in sorted(kinds):
                path = f"{base.rstrip('/')}/{name}"
                if path in unwalked or path in skip:
                    continue
                if kinds[name] == "file":
                    content = self._content(path, f"{real}/{name}")
                    if content is not None:
                        yield path, content
                elif kinds[name] == "directory" and not prune(path):
                    self._folders.setdefault(path, f"{real}/{name}")
                    todo.append(path)

    def _content(self, path: str, real: str) -> bytes | OSError | None:
        """A file of a walk, or its error; None for one that is known, but whose content was never asked for."""
        if path in self._tables.errors and (number := self._tables.errors[path].get("read")) is not None:
            return failure(number, path)
        try:
            return self._tree.data(real, LIMIT)
        except OSError as error:
            return None if error.errno == errno.ENOENT else error

    def run(self, commands: Sequence[Command]) -> Mapping[Command, Result]:
        """As Host.run; what was not recorded is not-recorded."""
        return {command: self._result(command) for command in commands}

    def _result(self, command: Command) -> Result:
        for folder in folders(command):
            try:
                argv = json.loads(_file(self._tree, f"{folder}/argv.json"))
            except OSError:
                break
            except (ValueError, RecursionError):
                continue
            if argv == list(command.argv):
                stdout, stderr = self._part(f"{folder}/stdout"), self._part(f"{folder}/stderr")
                why = self._part(f"{folder}/why").decode("ascii", "replace").strip()
                return Result(_whole(self._part(f"{folder}/exit_code")), stdout, stderr, why)
        return Result(None, why="not-recorded")

    def _part(self, real: str) -> bytes:
        try:
            return _file(self._tree, real)
        except OSError:
            return b""

    def _asked(self, path: str, call: str) -> str:
        """PATH in its plain form. Raises the error that was recorded for it."""
        path = checked(path)
        number = self._tables.errors.get(path, {}).get(call)
        if number is not None:
            raise failure(number, path)
        return path

    def _real(self, path: str, follow: bool = True) -> tuple[str, FileType]:
        """The path without links, and what is there; the links of the folder are looked up once."""
        head, _, name = path.rpartition("/")
        return self._resolve(self._folder(head), [name], path, follow)

    def _folder(self, path: str) -> str:
        if path in self._gone:
            raise failure(errno.ENOENT, path)
        if path not in self._folders:
            known = path
            while known not in self._folders:
                known = known.rpartition("/")[0]
            rest = path[len(known):].split("/")[::-1]
            try:
                real, kind = self._resolve(self._folders[known], rest, path, follow=True)
            except FileNotFoundError:
                self._gone.add(path)
                raise
            if kind != "directory":
                raise failure(errno.ENOTDIR, path)
            self._folders[path] = real
        return self._folders[path]

    def _resolve(self, done: str, rest: Names, path: str, follow: bool) -> tuple[str, FileType]:
        """Goes from the directory DONE down the names of REST, the last one first to be taken."""
        links, kind = 0, DIRECTORY.type
        while rest:
            name = rest.pop()
            if name in ("", ".", ".."):
                done = posixpath.dirname(done).rstrip("/") if name == ".." else done
                continue
            here = f"{done}/{name}"
            kind = self._kind(here)
            if kind == "link" and (rest or follow):
                links += 1
                if links > _MAX_LINKS:
                    raise failure(errno.ELOOP, path)
                target, kind = self._target(here), DIRECTORY.type
                done = "" if target.startswith("/") else done
                rest.extend(target.split("/")[::-1])
            elif rest and kind != "directory":
                raise failure(errno.ENOTDIR, path)
            else:
                done = here
        return done, kind

    def _kind(self, real: str) -> FileType:
        if real in self._directories:
            return "directory"
        if real in _HIDDEN:
            raise failure(errno.ENOENT, real)
        try:
            kind = self._tree.kind(real)
        except OSError as error:
            shown = self._shadow.kinds.get(real)
            if shown is None or error.errno not in NOT_THERE:
                error.filename = real  # not where it lies on this disk
                raise
            kind = shown
        if kind == "directory":
            self._directories.add(real)
        return kind

    def _target(self, real: str) -> str:
        return self._tables.links[real] if real in self._tables.links else self._tree.target(real)

    def _listed(self, real: str) -> Iterable[str]:
        return self._kinds(real) if not real or real in self._shadow.kinds else self._tree.names(real)

    def _kinds(self, real: str) -> dict[str, FileType]:
        """Name -> type of what is in a directory."""
        found = {name: self._shadow.kinds[f"{real}/{name}"] for name in self._shadow.names.get(real, ())}
        try:
            found |= self._tree.kinds(real)
        except OSError as error:
            if real not in self._shadow.kinds or error.errno not in NOT_THERE:
                raise
        return found if real else {name: kind for name, kind in found.items() if f"/{name}" not in _HIDDEN}


class Shadow:
    """What the tables tell of and need not be in the tree: nodes, links, unread files, empty directories."""

    def __init__(self, tables: Tables) -> None:
        self.kinds: dict[str, FileType] = {}
        self.names: dict[str, set[str]] = {}
        for path, calls in tables.errors.items():
            if "list" in calls or "read" in calls:
                folder = "list" in calls or calls["read"] == errno.EISDIR
                self._add(path, "directory" if folder else "file")
        for path in tables.lists:
            self._add(path, "directory")
        for path, stat in (*tables.nodes.items(), *tables.linknodes.items()):
            self._add(path, stat.type)
        for path in tables.links:
            self._add(path, "link")

    def _add(self, path: str, kind: FileType) -> None:
        self.kinds[path.rstrip("/")] = kind
        while path.strip("/"):
            path, _, name = path.rstrip("/").rpartition("/")
            self.names.setdefault(path, set()).add(name)
            self.kinds.setdefault(path, "directory")


def _whole(text: bytes) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def folders(command: Command) -> Names:
    """Where a command may be recorded: commands of the same id are told apart by a number."""
    return [f"{COMMANDS}/{command.id}", *(f"{COMMANDS}/{command.id}~{n}" for n in range(2, 10))]


def _file(tree: Tree, path: str) -> bytes:
    if tree.kind(path) != "file":
        raise failure(errno.ENXIO, path)
    return tree.data(path, LIMIT)


def _load(tree: Tree, name: str) -> Tables:
    try:
        data = _file(tree, f"/{NAME}")
    except OSError as error:
        if error.errno not in NOT_THERE:
            raise
        return Tables()
    return loads(data, name)
