"""Which packages unattended-upgrade was the last to change, from /var/log/apt/history.log.

unattended-upgrade(8). apt writes a paragraph a run: Start-Date (local time), Commandline, and for what it did a line
``Install: NAME:ARCH (VERSION, automatic), ...`` or ``Upgrade: NAME:ARCH (OLD, NEW), ...``. A run in minimal steps is
many paragraphs. logrotate starts a new file each month: older runs are not looked at. Of the rest, who asked for a run
is the name of a user and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..regexes import regex
from ..sections.packages import Unattended

LOG = "/var/log/apt/history.log"
LIMIT = 16 << 20
_RUN = regex(r"(?:\S*/)?unattended-upgrades?(?:\s.*)?")
_ITEM = regex(r"([a-z0-9][a-z0-9.+-]*)(?::[a-z0-9-]+)? \(([^(),]+)(?:, ([^(),]+))?\)")
_DECIDING = regex(
    r"linux-(?:image|modules|headers|generic|lowlatency)\b.*|(?:proxmox|pve)-(?:kernel|headers|firmware)\b.*"
    r"|(?:lib)?nvidia-.*|libcuda.*|xserver-xorg-video-nvidia.*|(?:lib)?zfs.*|spl-dkms|amdgpu-.*|rocm-.*|mlnx-.*|mft|doca-.*"
    r"|dkms|.*-dkms|(?:amd64|intel)-microcode|linux-firmware|firmware-.*"
)


def parse(text: str) -> dict[str, Unattended]:
    """By package of kernel, driver and firmware: its last change, where that was unattended-upgrade's."""
    found: dict[str, Unattended] = {}
    for paragraph in re.split(r"\n\s*\n", text):
        fields = dict(_fields(paragraph))
        own = _RUN.fullmatch(fields.get("Commandline", ""))
        for name, old, version in _changes(fields):
            if version and own and _DECIDING.fullmatch(name):
                at = " ".join(fields.get("Start-Date", "").split()) or None
                found[name] = Unattended(version=version, before=old, at=at)
            else:
                found.pop(name, None)
    return dict(sorted(found.items()))


def _fields(paragraph: str) -> Iterator[tuple[str, str]]:
    for line in paragraph.split("\n"):
        name, colon, value = line.partition(":")
        if colon:
            yield name.strip(), value.strip()


def _changes(fields: dict[str, str]) -> Iterator[tuple[str, str | None, str]]:
    """Package, version before and version after of each that the run changed; the latter is empty of one removed."""
    for name, version, _ in _ITEM.findall(fields.get("Install", "")):
        yield name, None, version.strip()
    for key in ("Upgrade", "Downgrade"):
        for name, old, new in _ITEM.findall(fields.get(key, "")):
            yield name, old.strip(), new.strip()
    for key in ("Remove", "Purge"):
        yield from ((name, old.strip(), "") for name, old, _ in _ITEM.findall(fields.get(key, "")))
