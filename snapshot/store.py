"""Where snapshots lie, as HOST/TIME-LABEL.snap.toml below one directory, and what a SNAP reference names.

Names alone are read, never the files. TIME, the UTC second of the take, is the snapshot's id. A second take
of a host in the same second gets the id TIME.2: a later time would be false, and the first must not be lost.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from .errors import SnapError, StoreError, misspelt
from .records import record
from .regexes import regex

SUFFIX = ".snap.toml"
_LABEL = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FOLDER = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,219}")  # long enough for one with a hash
_ID = regex(r"\d{1,8}(?:T(?:\d{0,5}|\d{6}(?:Z(?:\.\d*)?)?))?", re.ASCII)  # an id, or how one begins
_FILE = regex(r"(\d{8}T\d{6}Z(?:\.\d{1,9})?)(?:-(.+))?\.snap\.toml", re.ASCII | re.DOTALL)


@record(frozen=True)
class Entry:
    """A stored snapshot, as its path names it."""

    host: str
    id: str
    label: str
    path: str

    @property
    def name(self) -> str:
        """What a user may call it from any host: HOST/LABEL or HOST/ID."""
        return f"{self.host}/{self.label or self.id}"


def root() -> str:
    """The store: $SNAP_STORE, else /var/lib/hostsnap as root, else hostsnap in the XDG state directory."""
    if named := os.environ.get("SNAP_STORE"):
        return named
    if os.geteuid() == 0:
        return "/var/lib/hostsnap"
    state = os.environ.get("XDG_STATE_HOME", "")
    return os.path.join(state if os.path.isabs(state) else os.path.expanduser("~/.local/state"), "hostsnap")


def component(host: str) -> str:
    """A host name as one directory name. One that has to be changed gets a hash, so that no two meet."""
    if _FOLDER.fullmatch(host):
        return host
    import hashlib

    safe = re.sub(r"[^A-Za-z0-9._-]", "_", host)[:200]
    return f"host-{safe.strip('.')}-{hashlib.sha256(host.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def check_label(label: str) -> None:
    """StoreError when LABEL cannot be one: of other characters, or to be mistaken for an id or a path."""
    if not _LABEL.fullmatch(label):
        what = "use up to 100 letters, digits and . _ -, first a letter or digit"
        raise StoreError(f"{label!r} cannot be a label: {what}")
    if _ID.fullmatch(label) or label.endswith(".toml") or label == "now":
        raise StoreError(f"{label!r} cannot be a label: it would be taken for an id, a file or this host now")


def path_for(host: str, taken: str, label: str | None = None) -> str:
    """Where a snapshot of HOST belongs that was TAKEN at YYYY-MM-DDTHH:MM:SSZ; no file is there yet."""
    if label is not None:
        check_label(label)
    time = re.sub("[-:]", "", taken)
    if not _FILE.fullmatch(time + SUFFIX):
        raise StoreError(f"{taken!r} is no time of the form YYYY-MM-DDTHH:MM:SSZ")
    used = {entry.id for entry in entries(host)}
    times = (f"{time}.{n}" if n > 1 else time for n in range(1, len(used) + 2))
    free = next(one for one in times if one not in used)
    return os.path.join(root(), component(host), free + (f"-{label}" if label else "") + SUFFIX)


def entries(host: str | None = None) -> list[Entry]:
    """The stored snapshots of HOST, or of all hosts, newest first. StoreError when they cannot be listed."""
    hosts = _names(root()) if host is None else [component(host)]
    found = [entry for name in hosts for entry in _of_host(name)]
    return sorted(found, key=lambda e: (*_order(e.id), e.host), reverse=True)


def resolve(ref: str, host: str) -> str:
    """The path that REF names, for a user on HOST; "-" stays. StoreError when it names none, or several.

    REF is - (standard input), a file (it has a / or ends in .toml), @N (the Nth last of HOST), an id or a
    beginning that fits one only, a label (the newest that bears it), or OTHER/ and one of these three.
    """
    if ref == "-" or (("/" in ref or ref.endswith(".toml")) and _is_file(ref)):
        return ref
    other, slash, rest = ref.rpartition("/")
    if slash and other and "/" not in other and os.path.isdir(os.path.join(root(), component(other))):
        return _resolve(rest, other)
    if slash or ref.endswith(".toml"):
        raise StoreError(f"{ref}: no such file" + (f", and no host {other!r} in {root()}" if other else ""))
    return _resolve(ref, host)


def add(host: str, taken: str, label: str | None, data: bytes) -> str:
    """Puts a snapshot where it belongs and returns its path. Two takes at once each get an id of their own."""
    folder = os.path.join(root(), component(host))
    with locked(folder):
        path = path_for(host, taken, label)
        write(path, data)
    return path


@contextmanager
def locked(folder: str) -> Iterator[None]:
    """While it is entered, no other process is in it for the same FOLDER, which is made if it is not there."""
    try:
        _make(folder)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # let go of when it is closed
        yield
    finally:
        os.close(handle)


def write(path: str, data: bytes) -> None:
    """Writes PATH whole or not at all, mode 0600, on the disk when it returns. SnapError when it cannot.

    Missing directories are made, mode 0700. A link is followed. A device or pipe is written to: to replace
    /dev/null by a file would harm the host.
    """
    try:
        if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
            with open(path, "wb") as file:
                file.write(data)
        else:
            _replace(os.path.realpath(path), data)
    except OSError as error:
        raise SnapError(f"{path}: cannot be written: {error.strerror}") from None


def _replace(path: str, data: bytes) -> None:
    folder = os.path.dirname(path)
    _make(folder)
    temporary = os.path.join(folder, f".hostsnap-{os.getpid()}-{time.monotonic_ns()}")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path)
    except BaseException:  # an interrupt may come anywhere, before there is a file and after it has its name
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync(folder)


def _make(folder: str) -> None:
    """Makes FOLDER and those above it, all mode 0700 (os.makedirs gives its mode to the last one only)."""
    if not os.path.isdir(folder):
        _make(os.path.dirname(folder))
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)


def _sync(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that cannot sync a directory
            raise
    finally:
        os.close(handle)


def _is_file(path: str) -> bool:
    """Whether there may be a file: what cannot be looked at is left to whoever opens it."""
    try:
        return not stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _resolve(ref: str, host: str) -> str:
    stored = entries(host)
    if ref.startswith("@"):
        return _last(ref, host, stored)
    if _ID.fullmatch(ref):
        return _begun(ref, host, stored)
    for entry in stored:
        if ref and entry.label == ref:
            return entry.path
    raise StoreError(f"no snapshot {ref!r} {_there(ref, host, stored)}")


def _last(ref: str, host: str, stored: list[Entry]) -> str:
    number = int(ref[1:]) if re.fullmatch("@[0-9]{1,9}", ref) else 0
    if number < 1:
        raise StoreError(f"{ref!r} names no snapshot: @1 is the last one, @2 the one before it")
    if number > len(stored):
        raise StoreError(f"no snapshot {ref!r} {_there(ref, host, stored)}")
    return stored[number - 1].path


def _begun(ref: str, host: str, stored: list[Entry]) -> str:
    """The one that an id's beginning fits: of this host, else of any."""
    for among in (stored, entries()):
        found = [e for e in among if e.id == ref] or [e for e in among if e.id.startswith(ref)]
        if len(found) == 1:
            return found[0].path
        if found:
            names = _list(f"{e.host}/{e.id} {e.label}".strip() for e in found)
            raise StoreError(f"{ref!r} fits {len(found)} snapshots: {names}")
    raise StoreError(f"no snapshot {ref!r} {_there(ref, host, stored)}")


def _there(ref: str, host: str, stored: list[Entry]) -> str:
    """Words on what there is instead."""
    everywhere = [entry.name for entry in entries() if entry.label and entry.label == ref]
    labels = list(dict.fromkeys(entry.label for entry in stored if entry.label))
    if everywhere:
        return f"of {host}; there is {_list(everywhere)}"
    if not stored:
        return f"of {host}: {os.path.join(root(), component(host))} holds none; `take` makes one"
    close = misspelt(ref, labels)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"of {host}: it has {len(stored)}, labels {_list(labels) or 'none'}{hint}"


def _list(words: Iterable[str]) -> str:
    some = list(words)
    return ", ".join(some[:8]) + (f" and {len(some) - 8} more" if len(some) > 8 else "")


def _of_host(folder: str) -> Iterator[Entry]:
    for name in _names(os.path.join(root(), folder)):
        if found := _FILE.fullmatch(name):
            yield Entry(folder, found[1], found[2] or "", os.path.join(root(), folder, name))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StoreError(f"{folder}: cannot be listed: {error.strerror}") from None


def _order(name: str) -> tuple[str, int]:
    time, _, number = name.partition(".")
    return time, int(number or 1)
