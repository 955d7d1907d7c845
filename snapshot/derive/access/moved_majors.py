"""Drivers of accelerators whose number moves, and what names another one: device_access and major_users, joined.

Documentation/admin-guide/devices.txt: their numbers are given out at each load. A line of a container counts where it
stops the container from opening a device: not where another line covers that, nor where the container has no device
rules. A node of the host that kept the old number counts too.

Row keys, by driver (nvidia-caps, nvidia-caps-imex-channels, kfd) that has a number; a key without a value is missing:
    driver           the row's key
    major            its number now
    major_before     its number before; missing without a readable before
    moved            both are known and differ
    named_by         [{file, line, text}] lines that name a number it no longer has; of a CDI file {file}
    named            the first of them as FILE:LINE
    others           how many more there are; missing when there is none
    stale_nodes      nodes of the host that have a number which it does not have
    remove_nodes     commands that remove these
    wrong_major, wrong_owner   number of the first of them, where nothing else is named; and who has it, if anybody
    owner            who has major_before now; nobody
    containers       those that such a line stops, sorted
    only_containers  lines that stop containers are all that names it: the rules of containers tell of each
    now, warnings    commands that mend those of containers, as in device_access, and what they do besides
    unknown          {named_by: {source, why}} where not everything that may name one was read
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..facts import Derived
from .device_access import device_access
from .device_nodes import device_nodes
from .driver_majors import driver_majors
from .major_users import major_users

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
DRIVERS = ("nvidia-caps", "nvidia-caps-imex-channels", "kfd")
CONTAINERS = ("lxc", "lxc-generated")  # kinds of major_users whose lines device_access judges


def moved_majors(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each of DRIVERS that is registered; unknown as a whole where the numbers of AFTER were not read."""
    majors = driver_majors(after, before)
    if fact := after.unread("devices", ("character",)):
        what = "numbers of accelerators' drivers"
        return Derived({}, [{"subject": "", "what": what, "source": fact.source, "why": fact.why}])
    tables = [table(after, before) for table in (device_access, major_users, device_nodes)]
    gap = next((gap for table in tables for gap in table.unknown), None)
    rows = {}
    for driver in DRIVERS:
        told = majors.rows.get(f"c {driver}", {})
        if told.get("majors"):
            row = _row(driver, told) | _users(driver, *(table.rows for table in tables))
            if gap and row["named_by"] is None:
                row["unknown"] = {"named_by": {"source": gap["source"], "why": gap["why"]}}
            rows[driver] = {key: value for key, value in row.items() if value is not None}
    return Derived(rows)


def _row(driver: str, told: Row) -> Row:
    before = told.get("majors_before", [])
    row: Row = {"driver": driver, "major": told["majors"][0], "moved": told.get("moved")}
    if before:
        owners = told["old_owners"].get(str(before[0]), [])
        row |= {"major_before": before[0], "owner": ", ".join(owners) or "nobody"}
    return row


def _users(driver: str, access: Mapping[str, Row], users: Mapping[str, Row], nodes: Mapping[str, Row]) -> Row:
    stopped = [row for row in access.values() if row.get("driver") == driver and "rules" in row]
    denying, others = _by_place(_denying(stopped)), _by_place(_naming(driver, users))
    lines = denying | others
    stale = {path: row for path, row in nodes.items() if row.get("driver") == driver and row["state"] == "stale-node"}
    named = [":".join(str(part) for part in place if part) for place in lines]
    return _of_nodes(stale) | {
        "only_containers": (bool(denying) and not (others or stale)) or None,
        "named_by": list(lines.values()) or None, "named": next(iter([*named, *stale]), None),
        "others": max(len(named) + len(stale) - 1, 0) or None,
        "containers": sorted({row["container"] for row in stopped}) or None,
        **{key: list(dict.fromkeys(line for row in stopped for line in row.get(key, ()))) or None
           for key in ("now", "warnings")},
    }


def _of_nodes(stale: Mapping[str, Row]) -> Row:
    """What there is to say of the host's nodes with a wrong number."""
    if not stale:
        return {}
    first = next(iter(stale.values()))
    return {
        "stale_nodes": [*stale], "remove_nodes": [f"rm {shlex.quote(path)}" for path in stale],
        "wrong_major": first["major"], "wrong_owner": first.get("number_of"),
    }


def _by_place(lines: Iterator[Row]) -> dict[tuple[str, int | None], Row]:
    return {(line["file"], line.get("line")): line for line in lines}


def _denying(stopped: list[Row]) -> Iterator[Row]:
    """Lines of containers with a number that the driver no longer has, which therefore stop an open."""
    for row in stopped:
        yield from ({k: rule[k] for k in ("file", "line", "text") if k in rule} for rule in row["rules"])


def _naming(driver: str, users: Mapping[str, Row]) -> Iterator[Row]:
    """Other lines that name a number that DRIVER does not have, and last."""
    for row in users.values():
        wrong = row["state"] in ("stale", "foreign") and row["lasts"]
        if wrong and row.get("driver") == driver and row["kind"] not in CONTAINERS:
            yield row["origin"]
