"""The id maps of unprivileged containers against /etc/subuid and /etc/subgid, from sections lxc and runtimes.

lxc.container.conf(5), lxc.idmap; newuidmap(1), subuid(5); lxc_map_ids in src/lxc/idmap_utils.c of LXC: where newuidmap
is installed, LXC maps ids with it also as root, and it maps none that root was not given. When the container gets the
host's uid 0, LXC writes the map itself, and nothing is asked. One range may be made of several lines that touch.
Where the file is not there, a container with lines of its own is unknown, and one with Proxmox VE's ids is left out.

Row keys, by "ID u" or "ID g"; a key without a value is missing:
    container, who, running
    kind        u or g
    file        /etc/subuid or /etc/subgid
    uncovered   the ranges that root was not given, as START:COUNT, joined by a comma; missing when all are
    lines       the lines of lxc.idmap that ask for them; missing of those that Proxmox VE adds itself
    effect      "will not start again" or "does not start", with UNCOVERED
    durable     commands that add what is missing
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from ...sections.lxc import Container, IdMap, Lxc
from ...sections.runtimes import IdRange, Runtimes, SubIds
from ..access.access_mode import next_ids
from ..facts import Derived
from .containers import called, down, not_read

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
ROOT = ("root", "0")
KINDS: tuple[tuple[Literal["u", "g"], str], ...] = (("u", "subuid"), ("g", "subgid"))


def container_idmaps(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each half of each id map of the next start."""
    del before
    found, section, runtimes = Derived(), after.section("lxc"), after.section("runtimes")
    if unread := after.unread("lxc", ("containers",)):
        found.unknown.append(_unknown("", unread.source, unread.why))
    for key, container in (section.containers if isinstance(section, Lxc) else {}).items():
        if container.privileged is True:
            continue
        ids = None if not_read(after, key) else next_ids(container)
        if ids is None:
            found.unknown.append(_unknown(f"{key} ", container.config_file, "what the id map is was not recorded"))
            continue
        for kind, name in KINDS:
            table = getattr(runtimes, name) if isinstance(runtimes, Runtimes) else None
            if isinstance(table, SubIds):
                found.rows[f"{key} {kind}"] = _row(key, container, kind, ids, table)
            elif lost := after.unread("runtimes", (name,)):
                found.unknown.append(_unknown(f"{key} {kind}", lost.source, lost.why))
            elif container.live.idmap:
                found.unknown.append(_unknown(f"{key} {kind}", f"/etc/{name}", "it is not there"))
    return found


def _unknown(subject: str, source: str, why: str) -> Row:
    return {"subject": subject, "what": "whether root was given the ids of containers", "source": source, "why": why}


def _row(key: str, container: Container, kind: str, ids: list[IdMap], table: SubIds) -> Row:
    file = f"/etc/sub{kind}id"
    given = [one for name in ROOT for one in (table.ranges or {}).get(name, [])]
    itself = any(m.kind == "u" and m.host_id == 0 for m in ids)
    lost = [] if itself else [m for m in ids if m.kind == kind and not _covered(m, given)]
    row: Row = {"container": key, "who": called(key, container), "running": container.running, "kind": kind,
                "file": file}
    if lost:
        row["uncovered"] = ", ".join(f"{m.host_id}:{m.count}" for m in lost)
        row["effect"] = down(container)
        row["lines"] = [m.origin.table() for m in lost if m.origin.text] or None
        row["durable"] = [
            f"grep -qxF root:{m.host_id}:{m.count} {file} || echo root:{m.host_id}:{m.count} >> {file}" for m in lost
        ]
    return {column: value for column, value in row.items() if value is not None}


def _covered(asked: IdMap, given: Iterable[IdRange]) -> bool:
    """Whether the ranges that were given reach from the first to the last id."""
    at, end = asked.host_id, asked.host_id + asked.count
    for one in sorted(given, key=lambda r: r.start):
        if one.start <= at:
            at = max(at, one.start + one.count)
    return at >= end
