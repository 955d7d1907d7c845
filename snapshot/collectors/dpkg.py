"""Versions of installed Debian packages, from /var/lib/dpkg/status.

See dpkg(1) "Package states" and deb822(5). The file has one paragraph a package, megabytes in all, so the few
that are asked for are searched and nothing else is looked at. A removed package keeps its paragraph while
configuration files of it are left (deinstall ok config-files); a held one is ``hold ok installed``. With
multiarch a package can stand there once for each architecture, all of one version. What dpkg/updates holds
during a run is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .base import decode

STATUS = "/var/lib/dpkg/status"
_IN_PLACE = {b"installed", b"triggers-awaited", b"triggers-pending"}
_STATUS = re.compile(rb"^Status: \S+ \S+ (\S+)$", re.MULTILINE)
_VERSION = re.compile(rb"^Version: (\S+)$", re.MULTILINE)


def versions(status: bytes, names: Iterable[str]) -> dict[str, str] | None:
    """The versions of those of the packages NAMES that are installed; None when STATUS is no such file."""
    text = b"\n\n" + status.strip(b"\n") + b"\n\n"
    if b"\nPackage: " not in text:
        return None
    found = {name: _installed(text, b"\nPackage: %s\n" % name.encode()) for name in names}
    return {name: version for name, version in found.items() if version}


def _installed(text: bytes, field: bytes) -> str | None:
    at = text.find(field)
    while at >= 0:
        end = text.find(b"\n\n", at + 1)
        paragraph = text[text.rfind(b"\n\n", 0, at + 1) : end]
        status, version = _STATUS.search(paragraph), _VERSION.search(paragraph)
        if status and version and status[1] in _IN_PLACE:
            return decode(version[1])
        at = text.find(field, end)
    return None
