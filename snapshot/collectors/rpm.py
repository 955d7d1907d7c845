"""Versions of installed RPM packages, from ``rpm -qa``.

rpm(8). No file tells: the database is Berkeley DB, NDB or SQLite, depending on the release. Kernels are
installed beside each other, so that a name can have several versions.
"""

from __future__ import annotations

import re

from ..errors import ParseError
from ..host.base import Command
from ..regexes import regex
from ..sections.debversion import order
from ..sections.packages import Package

DATABASES = ("/usr/lib/sysimage/rpm", "/var/lib/rpm")
QUERY = Command(("rpm", "-qa", "--qf", r"%{NAME}\t%{VERSION}-%{RELEASE}\n"), timeout_s=20)
LOCKS = ("/etc/dnf/plugins/versionlock.list", "/etc/yum/pluginconf.d/versionlock.list")
_LINE = regex(r"([^\s/]+)\t(\S+)")


def parse(text: str, names: re.Pattern[str]) -> dict[str, Package]:
    """The packages whose NAMES match. ParseError when no line of TEXT is one of rpm."""
    found: dict[str, set[str]] = {}
    matches = [match for line in text.split("\n") if (match := _LINE.fullmatch(line))]
    if not matches:
        raise ParseError(f"rpm names no package: {text[:80]!r}")
    for match in matches:
        if names.fullmatch(match[1]):
            found.setdefault(match[1], set()).add(match[2])
    return {name: _package(sorted(versions, key=order)) for name, versions in sorted(found.items())}


def locks(text: str) -> list[str]:
    """The entries of a versionlock.list."""
    lines = (line.strip() for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("#")]


def _package(versions: list[str]) -> Package:
    return Package(version=versions[-1], older=versions[:-1] or None)
