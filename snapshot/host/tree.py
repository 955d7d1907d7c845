"""What a recording lies in: a folder, or files held in memory. No link is followed; ``recorded`` does that.

A path here is real: each component but the last is a directory, none is a link. The root is the empty
string.
"""

from __future__ import annotations

import errno
from typing import Protocol

from . import syscalls
from .base import FileType, Names, Source, Stat, failure

SIGNS = {"recorded.json", "proc", "sys", "etc", "dev", "usr", "var", "run", "boot"}  # a root has one of them
DIRECTORY = Stat("directory", 0, 0, 0o755, 0, 0, 0, 0)


class Tree(Protocol):
    """Files by real path; every failure is an OSError."""

    source: Source

    def kind(self, path: str) -> FileType:
        """The type that stat tells."""

    def stat(self, path: str) -> Stat:
        """What lstat(2) says."""

    def names(self, path: str) -> Names:
        """The names in a directory."""

    def kinds(self, path: str) -> dict[str, FileType]:
        """Name -> type of what is in a directory."""

    def plain(self, path: str, limit: int) -> bytes | None:
        """The content of a file; None for a link, what is none, and what cannot be looked at. EFBIG likewise."""

    def data(self, path: str, limit: int) -> bytes:
        """The content of what was seen to be a file. EFBIG beyond LIMIT bytes."""

    def target(self, path: str) -> str:
        """The text of a link."""

    def below(self, name: str) -> Tree:
        """The tree whose root is the directory NAME of this root."""


class Folder:
    """A folder on disk."""

    source: Source = "directory"

    def __init__(self, root: str) -> None:
        self._root = root

    def kind(self, path: str) -> FileType:
        """As Tree.kind."""
        return syscalls.kind(self._root + path)

    def stat(self, path: str) -> Stat:
        """As Tree.stat."""
        return syscalls.stat(self._root + path, follow=False)

    def names(self, path: str) -> Names:
        """As Tree.names."""
        return syscalls.names(self._root + path)

    def kinds(self, path: str) -> dict[str, FileType]:
        """As Tree.kinds."""
        return syscalls.kinds(self._root + path)

    def plain(self, path: str, limit: int) -> bytes | None:
        """As Tree.plain."""
        return syscalls.plain(self._root, path, limit)

    def data(self, path: str, limit: int) -> bytes:
        """As Tree.data."""
        return syscalls.stored(self._root, path, limit)

    def target(self, path: str) -> str:
        """As Tree.target."""
        return syscalls.target(self._root + path)

    def below(self, name: str) -> Tree:
        """As Tree.below."""
        return Folder(f"{self._root}/{name}")


class Memory:
    """Files in memory. A directory is there as soon as something is put below it."""

    source: Source = "archive"

    def __init__(self) -> None:
        self.stats: dict[str, Stat] = {"": DIRECTORY}
        self._names: dict[str, dict[str, None]] = {"": {}}
        self._data: dict[str, bytes] = {}
        self._targets: dict[str, str] = {}
        self._root = ""

    def put(self, path: str, stat: Stat, data: bytes = b"", target: str = "") -> None:
        """Adds or replaces. ENOTDIR below something that is no directory, EISDIR over a directory."""
        if path in self._names:
            if stat.type != "directory":
                raise failure(errno.EISDIR, path)
        else:
            self._plant(path)
        self.stats[path] = stat
        if stat.type == "directory":
            self._names.setdefault(path, {})
        self._data.pop(path, None)
        self._targets.pop(path, None)
        if stat.type == "file":
            self._data[path] = data
        elif stat.type == "link":
            self._targets[path] = target

    def _plant(self, path: str) -> None:
        """Enters PATH into its directory, made where missing."""
        name, missing = path, []
        parent = ""
        while name:
            parent, _, last = name.rpartition("/")
            missing.append((parent, last))
            if parent in self.stats:
                break
            name = parent
        if self.stats[parent].type != "directory":
            raise failure(errno.ENOTDIR, path)
        for parent, last in reversed(missing):
            self.stats.setdefault(parent, DIRECTORY)
            self._names.setdefault(parent, {})[last] = None

    def kind(self, path: str) -> FileType:
        """As Tree.kind."""
        return self.stat(path).type

    def stat(self, path: str) -> Stat:
        """As Tree.stat."""
        found = self.stats.get(self._root + path)
        if found is None:
            raise failure(errno.ENOENT, path)
        return found

    def names(self, path: str) -> Names:
        """As Tree.names."""
        found = self._names.get(self._root + path)
        if found is None:
            raise failure(errno.ENOTDIR if self._root + path in self.stats else errno.ENOENT, path)
        return sorted(found)

    def kinds(self, path: str) -> dict[str, FileType]:
        """As Tree.kinds."""
        return {name: self.stats[f"{self._root}{path}/{name}"].type for name in self.names(path)}

    def plain(self, path: str, limit: int) -> bytes | None:
        """As Tree.plain."""
        return self.data(path, limit) if self._root + path in self._data else None

    def data(self, path: str, limit: int) -> bytes:
        """As Tree.data."""
        found = self._data.get(self._root + path)
        if found is None:
            raise failure(errno.ENOENT, path)
        if len(found) > limit:
            raise failure(errno.EFBIG, path)
        return found

    def target(self, path: str) -> str:
        """As Tree.target."""
        found = self._targets.get(self._root + path)
        if found is None:
            raise failure(errno.EINVAL, path)
        return found

    def below(self, name: str) -> Tree:
        """As Tree.below."""
        inner = Memory()
        inner.__dict__.update(self.__dict__, _root=f"{self._root}/{name}")
        return inner


def rooted(tree: Tree) -> Tree | None:
    """The tree, or the single folder in it that holds the root, as archives are often made; else None."""
    names = tree.names("")
    if SIGNS & set(names):
        return tree
    if len(names) != 1 or tree.stat(f"/{names[0]}").type != "directory":
        return None
    return tree.below(names[0]) if SIGNS & set(tree.names(f"/{names[0]}")) else None
