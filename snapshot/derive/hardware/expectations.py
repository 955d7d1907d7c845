"""What the settings say that this host has to have, against what is there: nouns, and directories for file systems.

``[expect]`` of snap.toml. How nouns are counted stands in ``inventory``, how names are told in ``shortfalls``. A
directory counts when something is mounted there; ``mount_points`` tells who asks for it and how it is mounted again.
What is mounted on demand (systemd.automount(5)) is not, until somebody looks, and what section storage does not list
cannot be missed. What is missing while systemd is still starting may yet come. Both are unknown.

Row keys of expectations, by noun (gpus, nics, nvme, dimms, cpus, numa_nodes, memory_gib), a key without a value is
missing:
    noun, name     the row's key, and in words
    expected       how many, or how many names
    count          how many are usable
    missing        how many are not there, 0 when nothing is wrong
    there          in words, how many of the expected are there: 7, at most 7
    absent, which  names that are not there, and the first of them in words
    layers         {layer: count}, as ``inventory`` has it
    lost           {layer: count} of those that are there and not usable, and not there at all
    layer, where   the lowest of these layers, and all in words
    unbound        addresses of those without a driver
    resets         commands that reset what asks for it
    set_by, lines  FILE:LINE of the setting, and [{file, line, text}]

Row keys of expected_mounts, by directory:
    missing        1 when nothing is mounted there, else 0
    set_by, lines  likewise, with the line of fstab or the mount unit
    now            commands that mount it, where something says what
    fault, was, asked_by, pool, disk, network, used_by, durable   as in ``mount_points``
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...document import UnreadFact
from ...sections.base import Origin
from ...sections.mount_kinds import left_out_as
from ..facts import Derived
from .mount_points import mount_points

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Locate = Callable[..., Origin | None]  # the keys of a setting, one by one -> where it stands
Found = tuple[str, str, Row | UnreadFact, Origin | None]  # key, what it tells, the row, the setting
KEPT = ("fault", "was", "asked_by", "pool", "disk", "network", "used_by", "lines", "now", "durable")
STARTING = ("initializing", "starting")  # systemctl(1), is-system-running


def _nowhere(*_: str | int) -> None:
    return None


def expectations(
    after: Snapshot, _: Snapshot | None, expect: Mapping[str, Any] | None = None, locate: Locate = _nowhere,
) -> Derived:
    """A row for each noun that EXPECT has, settings by name; LOCATE knows the line of a setting. Without settings none.

    KeyError when there is no such noun.
    """
    nouns = {noun: wanted for noun, wanted in (expect or {}).items() if noun != "mounts"}
    if not nouns:
        return Derived()
    from .inventory import NOUNS, inventory
    from .shortfalls import shortfall

    told = inventory(after, None)
    return _table(after, (
        (noun, f"how many {NOUNS[noun][0]} there are", shortfall(after, told, noun, wanted), locate("expect", noun))
        for noun, wanted in nouns.items()))


def expected_mounts(
    after: Snapshot, before: Snapshot | None, expect: Mapping[str, Any] | None = None, locate: Locate = _nowhere,
) -> Derived:
    """A row for each directory that EXPECT has under mounts; LOCATE likewise."""
    written = enumerate((expect or {}).get("mounts", ()))
    places = {posixpath.normpath(f"/{place.lstrip('/')}"): at for at, place in written}
    rows = mount_points(after, before).rows if places else {}
    return _table(after, (
        (place, "whether something is mounted there", _mount(after, rows, place), locate("expect", "mounts", at))
        for place, at in places.items()))


def _table(after: Snapshot, found: Iterable[Found]) -> Derived:
    table, state = Derived(), after.meta.system_state
    for key, what, row, origin in found:
        if not isinstance(row, UnreadFact) and row["missing"] and state in STARTING:
            row = UnreadFact(path=[], source="systemctl is-system-running", why=f"taken while systemd was {state}")
        if isinstance(row, UnreadFact):
            table.unknown.append({"subject": key, "what": what, "source": row.source, "why": row.why})
        else:
            table.rows[key] = row | _setting(row, origin)
    return table


def _setting(row: Row, origin: Origin | None) -> Row:
    if origin is None:
        return {}
    return {"set_by": f"{origin.file}:{origin.line}", "lines": [origin.table(), *row.get("lines", ())]}


def _mount(after: Snapshot, rows: Mapping[str, Row], place: str) -> Row | UnreadFact:
    """The row of a directory; ROWS are those of ``mount_points``."""
    if fact := after.unread("storage", ("mounts",)):
        return fact
    storage = after.table("storage")
    if place in storage.get("mounts", {}):
        return {"missing": 0}
    entry: Row | None = next((entry for name in ("mount_units", "fstab") for at, entry in storage.get(name, {}).items()
                              if posixpath.normpath(at) == place), None)
    if entry and "x-systemd.automount" in entry["options"]:
        return UnreadFact(path=[], source=entry["origin"]["file"], why="it is mounted on demand")
    if left_out_as(place, _kind(entry)) is not None:
        return UnreadFact(path=[], source="", why="what is mounted there is not recorded")
    row: Row = {"missing": 1} | {key: rows[place][key] for key in KEPT if key in rows.get(place, {})}
    return {"now": [_command(place, entry)], "lines": [entry["origin"]]} | row if entry else row


def _kind(entry: Mapping[str, Any] | None) -> str:
    """The type of what is to be mounted; of one that nobody names the one that is left out most often."""
    fstype: str = entry["fstype"] if entry else "tmpfs"
    return "ext4" if fstype in ("auto", "none") else fstype


def _command(place: str, entry: Mapping[str, Any]) -> str:
    """What mounts it though a boot does not, as with noauto."""
    return f"systemctl start -- {shlex.quote(place)}" if "enabled" in entry else f"mount {shlex.quote(place)}"
