"""Facts that join sections: pure functions of one snapshot, or two, that rules and reports read as tables.

They are never stored, counted or listed as changes. To add one: ``derive/NAME.py`` with a function of (after,
before) that returns ``Derived``, its row keys documented there, and a line in FACTS. With before None a table
says what the one snapshot can tell alone.

``driver_majors``   by "c NAME" or "b NAME": which numbers a driver has, had, and who has the old ones now
``device_access``   by "ID /dev/path": whether a container may open a device it is given, why not, the cure
``read_requests``   by PCI address: MaxReadReq, its value before, the siblings, what restores it
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .device_access import device_access
from .driver_majors import driver_majors
from .facts import Derived
from .read_requests import read_requests

if TYPE_CHECKING:
    from ..document import Snapshot

__all__ = ["FACTS", "Derived", "derived"]

FACTS: tuple[tuple[str, Callable[[Snapshot, Snapshot | None], Derived]], ...] = (
    ("driver_majors", driver_majors),
    ("device_access", device_access),
    ("read_requests", read_requests),
)


def derived(name: str, after: Snapshot, before: Snapshot | None) -> Derived:
    """The table NAME of AFTER, with what BEFORE adds to it. KeyError when there is no such table."""
    return dict(FACTS)[name](after, before)
