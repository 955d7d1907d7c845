"""Libraries of the NVIDIA driver that a container is given by mount entries, against those of the host.

lxc.container.conf(5), MOUNT POINTS; sed(1). The names end in the driver's version, so that an upgrade on the host takes
the source away: an optional entry then mounts nothing, any other keeps the container from starting. Copies within the
root of a container are not recorded. From sections lxc and nvidia.

Row keys, by container; a key without a value is missing:
    container, hostname, running
    versions     driver versions in the names of the libraries that it mounts, sorted
    user_space   versions of the libraries that the host has, sorted
    other_versions   those of libraries that the host has not
    entries      lines that mount these, {file, line, text}
    optional     all of them are optional
    version      of the loaded module
    now          commands that put the host's version into these lines, where it has one
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ...sections.lxc import Lxc, MountEntry
from ..boot.module_state import library_versions
from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
_LIBRARY = regex(r".*/lib(?:cuda|nvidia)[\w.+-]*\.so\.([0-9]{3}\.[0-9]+(?:\.[0-9]+)?)", re.DOTALL)


def lxc_libraries(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each container with such an entry; BEFORE adds nothing."""
    del before
    section, found = after.section("lxc"), Derived()
    for container, told in (section.containers if isinstance(section, Lxc) else {}).items():
        entries = [(one, m[1]) for one in told.live.mount_entries or () if (m := _LIBRARY.fullmatch(one.source))]
        if not entries:
            continue
        if not library_versions(after) and (fact := after.unread("nvidia", ("user_space", "libraries"))):
            what = f"whether the libraries of container {container} are those of the host"
            found.unknown.append({"subject": container, "what": what, "source": fact.source, "why": fact.why})
            continue
        row = _row(after, entries) | {"container": container, "hostname": told.hostname, "running": told.running}
        name = shlex.quote(container)
        restart = [f"pct reboot {name}"] if told.manager == "pve" else [f"lxc-stop -n {name}", f"lxc-start -n {name}"]
        row["now"] = [*row["now"], *restart] if row["now"] else None
        found.rows[container] = {key: value for key, value in row.items() if value is not None}
    return found


def _row(after: Snapshot, entries: list[tuple[MountEntry, str]]) -> Row:
    here = library_versions(after)
    gone = [(entry, version) for entry, version in entries if here and version not in here]
    mended = [_edit(entry, version, here[0]) for entry, version in gone] if len(here) == 1 else []
    return {
        "versions": sorted({version for _, version in entries}), "user_space": here or None,
        "other_versions": sorted({version for _, version in gone}) or None,
        "entries": [entry.origin.table() for entry, _ in gone] or None,
        "optional": all("optional" in entry.options for entry, _ in gone) if gone else None,
        "version": after.table("nvidia").get("driver", {}).get("version"), "now": mended,
    }


def _edit(entry: MountEntry, old: str, new: str) -> str:
    """Puts NEW for OLD in the line of ENTRY, which names both, source and target."""
    change = f"{entry.origin.line}s/{re.escape(old)}/{new}/g"
    return f"sed -i {shlex.quote(change)} {shlex.quote(entry.origin.file)}"
