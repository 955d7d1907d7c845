"""The user space of the NVIDIA driver: libraries by the links that programs open, daemons, fabricmanager.cfg.

ld.so(8), ldconfig(8): programs load libcuda.so.1 and libnvidia-ml.so.1; the name behind the links ends in the driver's
version. Debian leads them through nvidia/current and /etc/alternatives. fabricmanager.cfg has lines KEY=VALUE and #
comments; its addresses and paths are left out.
"""

from __future__ import annotations

import posixpath

from ..regexes import regex
from ..sections.base import Origin
from ..sections.nvidia import Setting
from .base import Reading

FOLDERS = (
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/nvidia/lib64",
    "/usr/lib/wsl/lib",
)
SONAMES = ("libcuda.so.1", "libnvidia-ml.so.1")
SOCKET = "/run/nvidia-persistenced/socket"
FABRIC_MANAGER, FABRIC_CONFIG = "/usr/bin/nv-fabricmanager", "/usr/share/nvidia/nvswitch/fabricmanager.cfg"
FABRIC_VERSION = ("nv-fabricmanager", "--version")
PATHS = (
    *(f"{folder}/{name}" for folder in FOLDERS for name in ("libcuda.so*", "libnvidia-ml.so*")),
    "/usr/lib/**", "/etc/alternatives/*", SOCKET, FABRIC_MANAGER, FABRIC_CONFIG,
)
_KEYS = (
    "FABRIC_MODE", "FABRIC_MODE_RESTART", "FM_STAY_RESIDENT_ON_FAILURES", "ACCESS_LINK_FAILURE_MODE",
    "TRUNK_LINK_FAILURE_MODE", "NVSWITCH_FAILURE_MODE", "ABORT_CUDA_JOBS_ON_FM_EXIT",
)
_VERSION = regex(r"\.so\.([0-9]{2,4}\.[0-9]+(?:\.[0-9]+)?)")
_FABRIC = regex(r"Fabric Manager version is\s*:\s*([0-9][0-9.]{1,30})")
_HOPS = 8


def read_libraries(reading: Reading) -> dict[str, str]:
    """Path of a soname link -> version. A link that leads to no versioned name is unread."""
    found: dict[str, str] = {}
    for path in (f"{folder}/{soname}" for folder in FOLDERS for soname in SONAMES):
        target = reading.readlink(path, "user_space", "libraries", path)
        version = _version(reading, path, target) if target else None
        if version:
            found[path] = version
        elif target:
            reading.unread(("user_space", "libraries", path), path, "leads to no file with a version")
    return found


def _version(reading: Reading, path: str, target: str | None) -> str | None:
    """The version in the name at the end of the links, which has to be there."""
    for _ in range(_HOPS):
        if target is None:
            break
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if not path.startswith(("/usr/lib/", "/usr/lib64/lib", "/usr/local/nvidia/lib64/lib", "/etc/alternatives/")):
            return None
        if found := _VERSION.search(path):
            return found[1] if reading.stat(path, "user_space", "libraries") else None
        target = reading.readlink(path, "user_space", "libraries")
    return None


def is_persistenced(reading: Reading) -> bool | None:
    """Whether the daemon's socket is there; None, noted, when that cannot be told."""
    known = len(reading.unreads)
    found = reading.stat(SOCKET, "user_space", "persistenced")
    return None if len(reading.unreads) > known else found is not None


def read_fabric_settings(reading: Reading) -> dict[str, Setting]:
    """The settings of the fabric manager, where it is installed."""
    return parse_fabric_config(reading.config(FABRIC_CONFIG, "user_space", "fabric_settings") or "")


def parse_fabric_version(text: str) -> str | None:
    """The version in what nv-fabricmanager --version says; None when there is none."""
    found = _FABRIC.search(text)
    return found[1].rstrip(".") if found else None


def parse_fabric_config(text: str) -> dict[str, Setting]:
    """The mode and failure settings of fabricmanager.cfg; the last of a key counts."""
    found: dict[str, Setting] = {}
    for number, line in enumerate(text.splitlines(), 1):
        key, equals, value = line.partition("=")
        if equals and key.strip() in _KEYS:
            origin = Origin(file=FABRIC_CONFIG, line=number, text=line)
            found[key.strip()] = Setting(value=value.strip(), origin=origin)
    return dict(sorted(found.items()))
