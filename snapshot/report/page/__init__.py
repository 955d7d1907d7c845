"""A snapshot as a page that a person reads from top to bottom: what the host is, how it is tuned, and what sets that.

Each chapter is a function of the sheet and the snapshot; it says what is there and leaves out what is not. What could
not be read stands in one place, before them; the last chapter names every section.

To add a section: say its facts in the chapter where they are looked for.
"""

from __future__ import annotations

from ...document import Snapshot
from .devices import cards
from .guests import guests
from .head import head, sections, trouble
from .services import services
from .sheet import Sheet
from .topology import topology
from .traffic import bench, network, storage
from .tuning import tuning
from .versions import versions

CHAPTERS = (head, trouble, versions, topology, cards, tuning, guests, services, network, storage, bench, sections)


def render(snapshot: Snapshot) -> str:
    """The page, ending in a newline; made for 100 columns, tables may be wider."""
    sheet = Sheet()
    for chapter in CHAPTERS:
        chapter(sheet, snapshot)
    return sheet.text()
