"""The key of pseudonyms: $SNAP_REDACT_KEY, else a file of the store, made at first use.

It has to stay secret, and the same as long as files are to be compared: with it, pseudonyms can be traced back.
"""

from __future__ import annotations

import os
import secrets
import stat
import tempfile

from .. import store
from ..errors import SnapError

VARIABLE = "SNAP_REDACT_KEY"
_LEAST = 16  # characters: a shorter one can be guessed, and with it every name


def load() -> bytes:
    """The key. SnapError when it is short, or can be read by others, or cannot be made."""
    given = os.environ.get(VARIABLE)
    if given is not None:
        return _checked(os.fsencode(given), f"${VARIABLE}")
    path = os.path.join(store.root(), "redact.key")
    try:
        try:
            return _read(path)
        except FileNotFoundError:
            _make(path)
            return _read(path)
    except OSError as error:
        raise SnapError(f"{path}: {error.strerror}") from None


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & 0o077:
            raise SnapError(f"{path}: mode {mode:04o} lets others read this key: chmod 600 it, or remove it")
        return _checked(file.read(4096).strip(), path)


def _make(path: str) -> None:
    """Makes a key that appears whole; of two takes at once, the first one's counts."""
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".hostsnap-", dir=folder)  # mode 0600
    try:
        with open(handle, "w") as file:
            file.write(f"{secrets.token_hex(32)}\n")
            file.flush()
            os.fsync(handle)
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(temporary)


def _checked(key: bytes, name: str) -> bytes:
    if len(key) < _LEAST:
        raise SnapError(f"{name}: a key needs at least {_LEAST} characters, better 64 random ones")
    return key
