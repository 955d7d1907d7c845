"""Where a recording goes: a folder or an archive that appears whole, or not at all.

rename(2). It is written under a temporary name beside its place, readable by its owner only, since a host has
private facts; what a full disk or an interrupt leaves half is removed.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile

from ..errors import SnapError
from .base import failure
from .tree import Memory

ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst")
_OTHERS = (".zip", ".7z", ".rar", ".bz2", ".tbz2", ".tbz", ".gz", ".xz", ".zst")


def prepare(dest: str) -> None:
    """Fails before the host is read, not after: SnapError or OSError when nothing can be written to DEST."""
    real = os.path.realpath(dest)
    parent = os.path.dirname(real)
    if dest.endswith(ARCHIVES):
        if os.path.lexists(dest):
            raise failure(errno.EEXIST, dest)
    elif dest.lower().endswith((*_OTHERS, *ARCHIVES)):
        raise SnapError(f"{dest}: a recording is a folder, or a file that ends in {', '.join(ARCHIVES)}")
    elif os.path.lexists(real):
        if os.listdir(real):
            raise failure(errno.ENOTEMPTY, dest)
        if os.path.ismount(real) or real == os.getcwd():
            raise failure(errno.EBUSY, dest)  # rename(2) does not replace a mount, and a shell would lose its place
    else:
        os.makedirs(parent, exist_ok=True)
    if not os.access(parent, os.W_OK | os.X_OK):
        raise failure(errno.EACCES if os.path.isdir(parent) else errno.ENOENT, dest)


def write(memory: Memory, dest: str) -> None:
    """Writes the files to DEST, which has been prepared. OSError leaves nothing behind."""
    real = os.path.realpath(dest)
    work = tempfile.mkdtemp(prefix=".hostsnap-", dir=os.path.dirname(real))  # mode 0700
    made = f"{work}/{os.path.basename(real)}"
    try:
        if dest.endswith(ARCHIVES):
            from . import archive  # its codecs are not needed for a folder

            archive.save(memory, made)
        else:
            _unpack(memory, made)
        os.rename(made, real)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _unpack(memory: Memory, made: str) -> None:
    os.mkdir(made, 0o700)
    for path in sorted(memory.stats, key=os.fsencode)[1:]:
        if memory.stat(path).type == "directory":
            os.mkdir(made + path, 0o700)
        else:
            with open(os.open(made + path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(memory.data(path, sys.maxsize))
