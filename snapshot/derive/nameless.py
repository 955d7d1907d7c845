"""Items that lack what tells them from others, so that one of before that seems to be gone may be among them.

The identities of a keyed table (serial number, MAC, GUID) are read from files of their own. Where such a file could
not be read the item stands under another key, and what was there before under its identity finds no pair.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from ..pairing import may_be
from ..sections.shape import of_section

if TYPE_CHECKING:
    from ..document import Snapshot, UnreadFact

Table = Mapping[str, Any]


class Nameless:
    """The items of TABLE of SECTION, in AFTER, that have no pair (not in PAIRED) and an identity that was not read."""

    def __init__(self, after: Snapshot, section: str, table: str, paired: Collection[str]) -> None:
        self._after, self._place = after, (section, table)
        shape = of_section(section).at((table,))
        self._identities = shape.item.identities() if shape and shape.item else ()
        items: Mapping[str, Table] = after.table(section).get(table, {})
        unread = ((item, self._unread(key)) for key, item in items.items() if key not in paired)
        self._items = [(item, fact) for item, fact in unread if fact]

    def _unread(self, key: str) -> UnreadFact | None:
        section, table = self._place
        facts = (self._after.unread(section, (table, key, name)) for name in self._identities)
        return next((fact for fact in facts if fact), None)

    def may_hold(self, key: str, was: Table) -> UnreadFact | None:
        """Why it is not known that an item is gone that stood under KEY and WAS so; None if it surely is."""
        section, table = self._place
        itself = (self._after.unread(section, (table, name)) for name in (key, was.get("name", key)))
        among = (fact for item, fact in self._items if may_be(was, item, self._identities))
        return next((fact for fact in (*itself, *among) if fact), None)
