"""The reads themselves, by direct system calls: regular files only, every errno kept.

open(2), stat(2), scandir(3). A device node is never opened: that alone can load a module or wake a device.
Buffers are one page at first: procfs and sysfs allocate what is asked for, where a large one costs ten
times as much.
"""

from __future__ import annotations

import errno
import os
import stat as mode_bits

from .base import LIMIT, FileType, Prune, Stat, Walked, failure, moment

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_STAYS = _FLAGS | os.O_NOFOLLOW
_DIRECTORY = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY
_PAGE = 4096
_ATTRIBUTES = ("/proc/sys/", "/sys/")  # without device nodes, and without links to any
_SHORT = 2048  # of an attribute a read that leaves half the page free is the end: the rest would be one record
_TYPES: dict[int, FileType] = {
    mode_bits.S_IFREG: "file",
    mode_bits.S_IFDIR: "directory",
    mode_bits.S_IFLNK: "link",
    mode_bits.S_IFCHR: "char",
    mode_bits.S_IFBLK: "block",
    mode_bits.S_IFIFO: "fifo",
    mode_bits.S_IFSOCK: "socket",
}


def read(path: str, limit: int = LIMIT) -> bytes:
    """The content of a regular file, links followed. As Host.read."""
    attribute = path.startswith(_ATTRIBUTES)
    if not attribute:
        found = os.stat(path)
        kind = mode_bits.S_IFMT(found.st_mode)
        if kind != mode_bits.S_IFREG:
            raise failure(errno.EISDIR if kind == mode_bits.S_IFDIR else errno.ENXIO, path)
        if found.st_size > limit:  # of a program that was asked for in case it is a script
            raise failure(errno.EFBIG, path)
    fd = os.open(path, _FLAGS)
    try:
        return _whole(fd, limit, path, attribute)
    finally:
        os.close(fd)


def plain(root: str, path: str, limit: int = LIMIT) -> bytes | None:
    """As ``stored``, if a regular file is there, and no link; else None."""
    try:
        if not mode_bits.S_ISREG(os.lstat(root + path).st_mode):
            return None
    except OSError:
        return None
    return stored(root, path, limit)


def stored(root: str, path: str, limit: int = LIMIT) -> bytes:
    """The content of what was seen to be a regular file, and no link, at PATH below the directory ROOT.

    Its size says where it ends, if it has one; of an attribute a short read does.
    """
    attribute = path.startswith(_ATTRIBUTES)
    fd = os.open(root + path, _STAYS)
    try:
        size = 0 if attribute else os.fstat(fd).st_size
        return os.read(fd, size + 1) if 0 < size < min(_PAGE, limit) else _whole(fd, limit, path, attribute)
    finally:
        os.close(fd)


def head(path: str, size: int) -> bytes:
    """The first SIZE bytes of a file under /sys. As Host.head."""
    fd = os.open(path, _FLAGS)
    try:
        return os.read(fd, size)
    finally:
        os.close(fd)


def _whole(fd: int, limit: int, path: str, attribute: bool) -> bytes:
    """All that can be read. A short read is not the end: a seq_file gives whole records only."""
    first = os.read(fd, _PAGE)
    if attribute and len(first) < _SHORT and len(first) < limit:
        return first
    parts, size = [first], len(first)
    while parts[-1] and size <= limit:
        parts.append(os.read(fd, 16 * _PAGE))
        size += len(parts[-1])
    if size > limit:
        raise failure(errno.EFBIG, path)
    return b"".join(parts)


def names(path: str) -> list[str]:
    """The names in a directory, sorted."""
    return sorted(os.listdir(path))


def target(path: str) -> str:
    """The text of a symbolic link. EINVAL when it is none."""
    return os.readlink(path)


def stat(path: str, follow: bool = True) -> Stat:
    """What stat(2) or lstat(2) says."""
    return of(os.stat(path, follow_symlinks=follow))


def kind(path: str) -> FileType:
    """The type alone, of a link itself."""
    return _TYPES[mode_bits.S_IFMT(os.lstat(path).st_mode)]


def kinds(path: str) -> dict[str, FileType]:
    """Name -> type of what is in a directory, links as such; without a call for each where getdents(2) tells."""
    with os.scandir(path) as found:
        return {entry.name: "file" if entry.is_file(follow_symlinks=False) else _kind(entry) for entry in found}


def _kind(entry: os.DirEntry[str]) -> FileType:
    """Of what is no regular file."""
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "link" if entry.is_symlink() else kind(entry.path)


def of(found: os.stat_result) -> Stat:
    """The part of a stat result that is kept."""
    kind = _TYPES[mode_bits.S_IFMT(found.st_mode)]
    device = found.st_rdev if kind in ("char", "block") else 0
    return Stat(
        kind, os.major(device), os.minor(device), mode_bits.S_IMODE(found.st_mode),
        found.st_uid, found.st_gid, found.st_size, moment(found.st_mtime_ns),
    )  # fmt: skip


def walk(top: str, skip: frozenset[str], prune: Prune) -> Walked:
    """As Host.walk: one open(2) by path a directory, its files by dir_fd."""
    attributes = f"{top}/".startswith(_ATTRIBUTES)
    todo = [top]
    while todo:
        base = todo.pop()
        try:
            fd = os.open(base, _DIRECTORY)
        except OSError as error:
            yield base, error
            continue
        try:
            files = _files(fd, base.rstrip("/"), prune, todo)
            for name, path in files:
                if path not in skip:
                    yield path, _content(name, fd, path, attributes)
        except OSError as error:  # getdents(2) itself can fail
            yield base, error
        finally:
            os.close(fd)


def _files(fd: int, base: str, prune: Prune, todo: list[str]) -> list[tuple[str, str]]:
    """Name and path of each regular file in a directory; its directories go to TODO."""
    files = []
    with os.scandir(fd) as found:
        for entry in found:
            path = f"{base}/{entry.name}"
            if entry.is_file(follow_symlinks=False):
                files.append((entry.name, path))
            elif entry.is_dir(follow_symlinks=False) and not prune(path):
                todo.append(path)
    return files


def _content(name: str, folder: int, path: str, attribute: bool) -> bytes | OSError:
    try:
        fd = os.open(name, _FLAGS, dir_fd=folder)
    except OSError as error:
        return failure(error.errno or errno.EIO, path)
    try:
        return _whole(fd, LIMIT, path, attribute)
    except OSError as error:
        return failure(error.errno or errno.EIO, path)
    finally:
        os.close(fd)
