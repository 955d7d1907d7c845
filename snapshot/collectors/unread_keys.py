"""Unread facts of a keyed table, for collectors that learn the key of an item after they have read of it."""

from __future__ import annotations

from collections.abc import Mapping

from .base import Reading


def rekey(reading: Reading, table: str, keys: Mapping[str, str]) -> None:
    """Moves what is noted below TABLE under a key of KEYS to the new key."""
    for n, unread in enumerate(reading.unreads):
        if len(unread.path) > 1 and unread.path[0] == table and unread.path[1] in keys:
            reading.unreads[n] = unread._replace(path=(table, keys[unread.path[1]], *unread.path[2:]))
