"""A recording in an archive, from .tar, .tar.gz, .tar.xz and .tar.zst.

tar(5). The compression is told by the first bytes, not by the name. Nothing is written to disk while
reading, so a member cannot escape; still one with an absolute name or ``..``, or a hard link to what is not
there, is refused: such an archive was not made by a recorder or by tar of a root. A symbolic link is kept,
and followed within the root only. Device nodes, FIFOs and sockets are kept as facts. Sizes are checked
while reading, so a bomb stops early. An archive without the zero block that ends it is a cut-off one:
missing files would look like missing hardware.
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat as mode_bits
import sys
import tarfile
import zlib
from typing import IO, Any, Protocol

from ..errors import SnapError
from .base import FileType, Stat, moment
from .tree import Memory

SUFFIXES = {".tar": "", ".tar.gz": "gz", ".tgz": "gz", ".tar.xz": "xz", ".tar.zst": "zst"}
MAX_TOTAL = 1 << 30  # bytes, decompressed
MAX_MEMBER = 64 << 20
MAX_MEMBERS = 500_000  # directories that are only implied count as well
_MAX_NAME = 4096
_BLOCK = 512
_MAGIC = {b"\x1f\x8b": "gz", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zst"}
_TYPES: dict[bytes, FileType] = {
    tarfile.SYMTYPE: "link",
    tarfile.CHRTYPE: "char",
    tarfile.BLKTYPE: "block",
    tarfile.FIFOTYPE: "fifo",
    tarfile.DIRTYPE: "directory",
}
_BROKEN = (
    tarfile.TarError, EOFError, ValueError, LookupError, OverflowError, RecursionError,
    zlib.error, lzma.LZMAError,
)  # fmt: skip


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def load(path: str) -> Memory:
    """The files of an archive. SnapError when it is none, is damaged, too large or not to be trusted."""
    if not mode_bits.S_ISREG(os.stat(path).st_mode):  # opening a FIFO would wait, and a pipe cannot be read twice
        raise SnapError(f"{path}: neither a folder nor a regular file; save what a pipe gives as a file first")
    with open(path, "rb") as raw:
        kind = _kind(raw, path)
        broken = (*_BROKEN, _zstd().ZstdError) if kind == "zst" else _BROKEN
        try:
            with _decompressed(raw, kind) as source:
                return _Loader(_Counted(source)).load()
        except _RefusedError as error:
            raise SnapError(f"{path}: {error}") from None
        except (*broken, OSError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise SnapError(f"{path}: damaged or cut off archive: {reason}") from None


def _kind(raw: IO[bytes], path: str) -> str:
    head = raw.read(_BLOCK)
    raw.seek(0)
    for magic, kind in _MAGIC.items():
        if head.startswith(magic):
            return kind
    if head[257:262] == b"ustar" or (path.endswith(".tar") and len(head) == _BLOCK):
        return ""
    raise SnapError(f"{path}: neither a recorded root nor a {', '.join(SUFFIXES)} archive")


def _decompressed(raw: IO[bytes], kind: str) -> Any:
    if kind == "gz":
        return gzip.GzipFile(fileobj=raw, mode="rb")
    if kind == "xz":
        return lzma.LZMAFile(raw)
    return _zstd().ZstdFile(raw) if kind == "zst" else raw


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


class _RefusedError(Exception):
    """Why an archive is not read."""


class _Counted:
    """A stream that stops at MAX_TOTAL bytes, and at MAX_MEMBER between two members."""

    def __init__(self, source: _Readable) -> None:
        self._source, self.total, self.mark = source, 0, 0

    def read(self, size: int, /) -> bytes:
        data = self._source.read(size)
        self.total += len(data)
        if self.total > MAX_TOTAL:
            raise _RefusedError(f"more than {MAX_TOTAL >> 20} MiB when decompressed")
        if self.total - self.mark > MAX_MEMBER + (1 << 20):
            raise _RefusedError(f"a member of more than {MAX_MEMBER >> 20} MiB")
        return data


class _Loader:
    """Reads members one by one into memory."""

    def __init__(self, stream: _Counted) -> None:
        self._stream, self._memory, self._content = stream, Memory(), 0

    def load(self) -> Memory:
        stream: Any = self._stream
        with tarfile.open(fileobj=stream, mode="r|", encoding="utf-8", errors="surrogateescape") as tar:
            while (member := tar.next()) is not None:
                self._stream.mark = self._stream.total
                self._add(tar, member)
                vars(tar)["members"] = []  # else tarfile keeps them all
            if self._stream.total < tar.offset + _BLOCK:
                raise EOFError("no end mark")
        while self._stream.read(1 << 16):  # to the checksum
            self._stream.mark = self._stream.total
        return self._memory

    def _add(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        path = _name(member.name, member.name)
        if not path:
            return
        self._content += member.size
        if member.size > MAX_MEMBER or self._content > MAX_TOTAL or member.issparse():
            raise _RefusedError(f"{member.name[:80]!r} is sparse or too large")
        try:
            self._put(tar, member, path)
        except OSError as error:
            raise _RefusedError(f"{member.name[:80]!r}: {error.strerror}") from None
        if len(self._memory.stats) > MAX_MEMBERS:
            raise _RefusedError(f"more than {MAX_MEMBERS} members")

    def _put(self, tar: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
        if member.islnk():
            original = _name(member.linkname, member.name)
            self._memory.put(path, self._memory.stat(original), self._memory.data(original, MAX_MEMBER))
        elif member.isreg():
            content = tar.extractfile(member)
            self._memory.put(path, _stat(member, "file"), content.read() if content else b"")
        elif member.type in _TYPES:
            self._memory.put(path, _stat(member, _TYPES[member.type]), target=member.linkname)


def _name(name: str, member: str) -> str:
    """The path of a member."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name or len(name) > _MAX_NAME:
        raise _RefusedError(f"{member[:80]!r} has or links to a name that is absolute, too long or leads out")
    return "".join(f"/{part}" for part in parts)


def _stat(member: tarfile.TarInfo, kind: FileType) -> Stat:
    device = kind in ("char", "block")
    major, minor = (member.devmajor, member.devminor) if device else (0, 0)
    size = len(os.fsencode(member.linkname)) if kind == "link" else member.size
    if not all(0 <= number < 1 << 32 for number in (major, minor, member.uid, member.gid)):
        raise _RefusedError(f"{member.name[:80]!r} has a number of owner or device that is out of range")
    mtime_ns = moment(int(member.mtime * 10**9))
    return Stat(kind, major, minor, member.mode & 0o7777, member.uid, member.gid, size, mtime_ns)


def save(memory: Memory, dest: str) -> None:
    """Writes an archive, mode 0600: the same files give the same bytes. An error leaves it half."""
    kind = next(kind for suffix, kind in SUFFIXES.items() if dest.endswith(suffix))
    fd = os.open(dest, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as raw:
        _write(memory, raw, kind)


def _write(memory: Memory, raw: IO[bytes], kind: str) -> None:
    with _compressed(raw, kind) as packed, tarfile.open(
        fileobj=packed, mode="w|", format=tarfile.GNU_FORMAT, encoding="utf-8", errors="surrogateescape"
    ) as tar:
        for path in sorted(memory.stats, key=os.fsencode):
            if path:
                _pack(tar, memory, path)


def _pack(tar: tarfile.TarFile, memory: Memory, path: str) -> None:
    member = tarfile.TarInfo(path[1:])
    if memory.stat(path).type == "directory":
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(member)
    else:
        data = memory.data(path, sys.maxsize)
        member.size, member.mode = len(data), 0o644
        tar.addfile(member, io.BytesIO(data))


def _compressed(raw: IO[bytes], kind: str) -> Any:
    if kind == "gz":
        return gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)
    if kind == "xz":
        return lzma.LZMAFile(raw, "wb")
    return _zstd().ZstdFile(raw, "w") if kind == "zst" else raw
