"""Keys of a table by what identifies its items, rather than by names that a reboot may change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..records import replace
from .base import Reading


def keys_of(identities: Mapping[str, Sequence[str | None]]) -> dict[str, str]:
    """Name -> key, from name -> identities, best first: the first that is no other's identity or name, else name."""
    known = {name: [identity for identity in found if identity] for name, found in identities.items()}
    counts = Counter([*known, *(identity for found in known.values() for identity in set(found))])
    return {name: next((i for i in found if counts[i] == 1), name) for name, found in known.items()}


def move_unread(reading: Reading, table: str, keys: Mapping[str, str]) -> None:
    """Unread facts that were noted under an item's name in TABLE move to its key."""
    for index, unread in enumerate(reading.unreads):
        if unread.path[:1] == (table,) and len(unread.path) > 1:
            path = (table, keys.get(unread.path[1], unread.path[1]), *unread.path[2:])
            reading.unreads[index] = replace(unread, path=path)
