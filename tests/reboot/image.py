"""The guests' disk images, built once for each state of what they are made of, and the product as a single file.

Under $SNAP_RIG_WORK, else hostsnap-rig in the user's cache (XDG Base Directory Specification). The image's name has a
hash of the rig's own files; packages are those of the day on which it was built.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree, which
from typing import NamedTuple

from .disk import root_disk

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MADE_OF = ("build.sh", "grub-probe", "disk.py", "guest/**/*", "module/*", "container/*")
TOOLS = ("qemu-system-x86_64", "qemu-img", "mmdebstrap", "mke2fs", "debugfs")
UNREACHABLE = 3
PYTHON = {"bookworm": (3, 11), "trixie": (3, 13)}  # of the guests


class UnavailableError(Exception):
    """Why the rig cannot run on this machine."""


class Image(NamedTuple):
    """A disk that boots, and the releases of its kernels, by number from 1."""

    disk: Path
    kernels: dict[int, str]


def work() -> Path:
    """The folder of images and runs."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(os.environ.get("SNAP_RIG_WORK") or os.path.join(cache, "hostsnap-rig"))


def image(suite: str = "bookworm") -> Image:
    """A guest's image, built if it is not there. UnavailableError where it cannot be, or the product not run in it."""
    if os.geteuid() != 0:
        raise UnavailableError("building and booting the guest needs root")
    if missing := [tool for tool in TOOLS if not which(tool)]:
        raise UnavailableError(f"not installed: {', '.join(missing)}")
    if platform.machine() != "x86_64" or sys.version_info[:2] != PYTHON["bookworm"] or not find_spec("shiv"):
        raise UnavailableError("what runs in the guest is built by shiv for x86-64 and Python 3.11, and by the same")
    folder = work() / f"image-{fingerprint()}"
    if not (folder / "kernels").exists():
        _build(folder)
    return Image(folder / f"{suite}.img", dict(enumerate((folder / "kernels").read_text().split(), 1)))


def fingerprint() -> str:
    """A hash of what the image is made of."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in MADE_OF for path in HERE.glob(pattern) if path.is_file()):
        digest.update(f"{path.relative_to(HERE)} {path.stat().st_mode:o}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _build(folder: Path) -> None:
    """Builds aside and moves it into place, so that half an image is never taken for a whole one."""
    new = folder.with_suffix(f".{os.getpid()}")
    try:
        done = subprocess.run(["bash", str(HERE / "build.sh"), str(new)], capture_output=True, text=True, check=False)
        if done.returncode == UNREACHABLE:
            raise UnavailableError(f"the package mirror cannot be reached: {done.stderr.strip()}")
        done.check_returncode()
        for suite in PYTHON:
            root_disk(new / suite, new / f"{suite}.img")
            rmtree(new / suite)
        new.rename(folder)
    finally:
        rmtree(new, ignore_errors=True)


def single_file(target: Path, suite: str = "bookworm") -> None:
    """The product as one file for a guest, as README.md says. CalledProcessError when shiv fails.

    What is compiled in it is for one version of Python: for another than this one, wheels of that are taken.
    UnavailableError where those cannot be had.
    """
    version = PYTHON[suite]
    own = version == sys.version_info[:2]
    words = ["--compile-pyc"] if own else [
        "--only-binary=:all:", "--platform=manylinux2014_x86_64", "--implementation=cp",
        f"--python-version={'.'.join(map(str, version))}",
    ]
    command = [sys.executable, "-m", "shiv", "-q", *words, "-c", "hostsnap", "-o", str(target), str(ROOT)]
    done = subprocess.run(command, check=own, capture_output=True, text=True)
    if done.returncode:
        raise UnavailableError(f"no wheels of Python {'.'.join(map(str, version))}: {done.stderr.strip()[-200:]}")
