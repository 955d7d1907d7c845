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

from ..regexes import regex
from ..sections.packages import Package
from .base import decode

STATUS = "/var/lib/dpkg/status"
_IN_PLACE = {b"installed", b"triggers-awaited", b"triggers-pending"}
_NAME = regex(rb"^Package: (\S+)$", re.MULTILINE)
_STATUS = regex(rb"^Status: (\S+) (\S+) (\S+)$", re.MULTILINE)
_ODD = regex(rb"\nStatus: (?!(?:install ok installed|\S+ ok (?:config-files|not-installed))\n)[^\n]*\n")
_VERSION = regex(rb"^Version: (\S+)$", re.MULTILINE)


def versions(status: bytes, names: Iterable[str]) -> dict[str, str] | None:
    """The versions of those of the packages NAMES that are installed; None when STATUS is no such file."""
    text = b"\n\n" + status.strip(b"\n") + b"\n\n"
    if b"\nPackage: " not in text:
        return None
    found = {name: _installed(text, b"\nPackage: %s\n" % name.encode()) for name in names}
    return {name: version for name, version in found.items() if version}


def packages(status: bytes, names: str) -> dict[str, Package] | None:
    """The packages whose names match the expression NAMES, and all held or broken ones; None as for versions."""
    text = b"\n\n" + status.strip(b"\n") + b"\n\n"
    if b"\nPackage: " not in text:
        return None
    wanted = re.compile(rb"\nPackage: (?:%s)\n" % names.encode())
    starts = {text.rfind(b"\n\n", 0, match.start() + 1) for found in (wanted, _ODD) for match in found.finditer(text)}
    all_found = [_package(text[start : text.find(b"\n\n", start + 2)]) for start in sorted(starts)]
    whole_last = sorted(filter(None, all_found), key=lambda item: item[1].state is None)
    return dict(sorted(dict(whole_last).items()))


def _package(paragraph: bytes) -> tuple[str, Package] | None:
    """Name and package; None when no file of it is left, or the paragraph is cut short."""
    name, status, version = (field.search(paragraph) for field in (_NAME, _STATUS, _VERSION))
    if not (name and status and version) or status[3] in (b"config-files", b"not-installed"):
        return None
    whole = status[2] == b"ok" and status[3] in _IN_PLACE
    return decode(name[1]), Package(
        version=decode(version[1]), held=status[1] == b"hold" or None,
        state=None if whole else decode(status[3] if status[2] == b"ok" else status[2]),
    )


def _installed(text: bytes, field: bytes) -> str | None:
    at = text.find(field)
    while at >= 0:
        end = text.find(b"\n\n", at + 1)
        paragraph = text[text.rfind(b"\n\n", 0, at + 1) : end]
        status, version = _STATUS.search(paragraph), _VERSION.search(paragraph)
        if status and version and status[3] in _IN_PLACE:
            return decode(version[1])
        at = text.find(field, end)
    return None
