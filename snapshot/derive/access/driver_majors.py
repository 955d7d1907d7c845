"""Which major numbers each driver has, had before, and who owns the old ones now, from section devices.

One driver may hold several numbers and one number several drivers (195 is nvidia, nvidiactl and
nvidia-modeset); character and block numbers are apart. Numbers of dynamic drivers depend on the order of
loading.

Row keys, by "c NAME" or "b NAME":
    type          c or b
    driver        name in /proc/devices
    majors        numbers now, sorted; empty when it is not registered now
    majors_before numbers before, sorted; empty when it was not registered; missing without a readable before
    moved         registered on both sides with other numbers; missing without a readable before
    old_owners    {number: [drivers]} who has each number that the driver gave up; no entry: nobody
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Snapshot

TABLES = (("c", "character"), ("b", "block"))
Majors = dict[str, dict[str, list[int]]]  # c or b -> driver -> its majors


def majors(snapshot: Snapshot) -> Majors:
    """The readable halves of /proc/devices, by c and b."""
    table = snapshot.table("devices")
    return {kind: table.get(name, {}) for kind, name in TABLES if not snapshot.unread("devices", (name,))}


def owners(drivers: dict[str, list[int]], major: int) -> list[str]:
    """The drivers that hold MAJOR, sorted."""
    return sorted(name for name, numbers in drivers.items() if major in numbers)


def driver_majors(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each driver of either side; half a table that is unreadable after is unknown."""
    now, then = majors(after), majors(before) if before else {}
    rows = {
        f"{kind} {name}": _row(kind, name, now[kind], then.get(kind))
        for kind in now
        for name in sorted({*now[kind], *then.get(kind, {})})
    }
    return Derived(rows, list(_unknown(after)))


def _row(
    kind: str, name: str, now: dict[str, list[int]], then: dict[str, list[int]] | None
) -> dict[str, Any]:
    row: dict[str, Any] = {"type": kind, "driver": name, "majors": sorted(now.get(name, []))}
    if then is None:
        return row
    row["majors_before"] = sorted(then.get(name, []))
    row["moved"] = bool(row["majors"] and row["majors_before"] and row["majors"] != row["majors_before"])
    given_up = set(row["majors_before"]) - set(row["majors"])
    row["old_owners"] = {str(m): owners(now, m) for m in sorted(given_up) if owners(now, m)}
    return row


def _unknown(after: Snapshot) -> Iterable[dict[str, Any]]:
    for kind, name in TABLES:
        if fact := after.unread("devices", (name,)):
            yield {
                "subject": f"{kind} ",
                "what": f"majors of {name} devices",
                "source": fact.source,
                "why": fact.why,
            }
