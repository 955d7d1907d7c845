"""Settings of network configuration, with the secrets and IP addresses of their lines dropped."""

from __future__ import annotations

from ..sections.base import Origin
from ..sections.net import Setting
from .addresses import without_addresses
from .secrets import redacted


def setting(value: str, file: str, line: int, text: str) -> Setting:
    """VALUE as it may be kept, and where it stands."""
    return Setting(value=shown(" ".join(value.split())), origin=origin(file, line, text))


def origin(file: str, line: int, text: str) -> Origin:
    """Where a line stands, and the line as it may be kept."""
    return Origin(file=file, line=line, text=shown(text.rstrip("\r\n")))


def shown(text: str) -> str:
    """TEXT without secrets and IP addresses."""
    return without_addresses(redacted(text))
