"""The installed system, from /etc/os-release and /var/lib/dpkg/status; ``virtualization`` is what it runs in.

See os-release(5): /usr/lib/os-release counts only where /etc has none; shell-like assignments with at most
one pair of quotes, escapes as in a shell, no expansion; of repeats the last counts.
"""

from __future__ import annotations

import re

from ..regexes import regex
from ..sections.os import Os
from . import dpkg, virtualization
from .base import CONFIG_LIMIT, Reading, Reads
from .secrets import redacted

_OS_RELEASE = ("/etc/os-release", "/usr/lib/os-release")
_PACKAGES = {
    "proxmox_ve": ("pve-manager",), "systemd": ("systemd",), "lxc": ("lxc-pve", "lxc", "liblxc1"),
    "pve_container": ("pve-container",),
}
_KEYS = {"id": "ID", "version_id": "VERSION_ID", "codename": "VERSION_CODENAME", "pretty_name": "PRETTY_NAME"}
_ASSIGNMENT = regex(
    r"""\s*([A-Za-z_][A-Za-z0-9_]*)=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|((?:[^\s"'\\]|\\.)*))\s*(?:\#.*)?"""
)
READS = Reads((*_OS_RELEASE, dpkg.STATUS, *virtualization.PATHS))


def collect(reading: Reading) -> Os:
    """The section. Without dpkg's status file the versions are unread: no other database is looked at."""
    return Os(**_names(reading), **_versions(reading), virtualization=virtualization.detect(reading))


def _names(reading: Reading) -> dict[str, str | None]:
    etc, usr = _OS_RELEASE
    text = reading.text(etc, "id", limit=CONFIG_LIMIT)
    if text is None and not reading.unreads:
        text = reading.text(usr, "id", limit=CONFIG_LIMIT)
    values = parse_os_release(text or "")
    if not values and (text is not None or reading.unreads):
        reading.unread_together(etc, "no assignment in it", *_KEYS)
    return {fact: redacted(values[key]) if key in values else None for fact, key in _KEYS.items()}


def _versions(reading: Reading) -> dict[str, str | None]:
    status = reading.bytes(dpkg.STATUS, "systemd")
    names = [name for choice in _PACKAGES.values() for name in choice]
    found = dpkg.versions(status or b"", names)
    if found is None:
        reason = "not there" if status is None else "no package in it"
        reading.unread_together(dpkg.STATUS, reason, *_PACKAGES)
        return {}
    return {fact: next(filter(None, map(found.get, choice)), None) for fact, choice in _PACKAGES.items()}


def parse_os_release(text: str) -> dict[str, str]:
    """The assignments of an os-release file. A line that is none sets nothing. Source: os-release(5)."""
    values = {}
    for line in text.split("\n"):
        if match := _ASSIGNMENT.fullmatch(line):
            name, double, single, plain = match.groups()
            values[name] = single if single is not None else _unescape(double, plain)
    return values


def _unescape(double: str | None, plain: str | None) -> str:
    """In double quotes a backslash escapes only what a shell would read; without quotes, anything."""
    if double is not None:
        return re.sub(r'\\(["$`\\])', r"\1", double)
    return re.sub(r"\\(.)", r"\1", plain or "")
