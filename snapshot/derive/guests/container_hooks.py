"""Device numbers that hooks of containers give to mknod or write into rules, from ``major_users`` and section units.

lxc.container.conf(5), lxc.hook.*; mknod(1). A node that a hook makes in the root of the container with the number of
another boot opens nothing (ENXIO), or the device of the driver that has the number now. A number that the script keeps
in a variable is not literal, and nothing is said of it.

Row keys, by "ID KEY" with the key of ``major_users``: its columns, and
    container, who, running
    place       "FILE:LINE" of the line
    option      a devN that the container does not have yet; missing where it has no devN (plain LXC)
    wrong       the number is not that of the driver that is meant; missing when it is, or nothing tells
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...sections.lxc import Container, Lxc
from ...sections.units import Units
from ..access.major_users import major_users
from ..access.remedy import INDEXES
from ..facts import Derived
from .containers import called

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
WRONG = ("stale", "foreign")


def container_hooks(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each literal number in a hook line, or in a script that a hook calls."""
    found, section, users = Derived(), after.section("lxc"), major_users(after, before)
    if unread := after.unread("lxc", ("containers",)):
        found.unknown.append(_gap("", unread.source, unread.why))
    containers = section.containers if isinstance(section, Lxc) else {}
    units = after.section("units")
    hooks = (units.hooks or {}) if isinstance(units, Units) else {}
    scripts = {key: hooks.get(one.config_file, []) for key, one in containers.items()}
    for key, one in containers.items():
        subject = {"container": key, "who": called(key, one), "running": one.running, "option": _free(one)}
        for name, row in users.rows.items():
            if row["name"] in {"hook": [key], "script": scripts[key]}.get(row["kind"], []):
                found.rows[f"{key} {name}"] = _row(subject, row)
        if one.live.hooks and users.unknown:
            found.unknown.extend(_gap(f"{key} {gap['subject']}", gap["source"], gap["why"]) for gap in users.unknown
                                 if gap["subject"] in ("", "script "))
    return found


def _free(container: Container) -> str | None:
    used = {name for part in (container.live, container.pending) if part for name in part.devices or {}}
    names = (f"dev{number}" for number in range(INDEXES))
    return next((name for name in names if name not in used), None) if container.manager == "pve" else None


def _gap(subject: str, source: str, why: str) -> Row:
    return {"subject": subject, "what": "which device numbers hooks of containers name", "source": source, "why": why}


def _row(subject: Row, row: Row) -> Row:
    at = row["origin"]
    place = f"{at['file']}:{at['line']}" if "line" in at else at["file"]
    joined = {**row, **subject, "place": place, "wrong": row["state"] in WRONG or None}
    return {key: value for key, value in joined.items() if value is not None}
