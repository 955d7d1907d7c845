"""NVIDIA's CDI files against the driver that is here now: device numbers and libraries, from runtimes, devices, nvidia.

SPEC.md of the Container Device Interface, deviceNodes and mounts. A file is written once, by nvidia-ctk, and names what
it found: numbers of /dev/nvidia-uvm and the like, which are dynamic, and libraries with the driver's version in their
name. After an upgrade of the driver these are gone, and a container that mounts them does not start.

Row keys, by file; a key without a value is missing:
    file, kind
    nodes        nodes that it gives with a wrong number, sorted
    old_majors, majors   these numbers; and those that their drivers have
    libraries    driver versions in the names of the libraries that it mounts, sorted
    user_space   versions of the libraries that the host has, sorted
    other_versions   those of libraries that the host has not
    remade       the file lies where a boot leaves nothing, and is made anew after it
    unknown      {key: {source, why}} of keys above that could not be told
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...document import UnreadFact
from ...regexes import regex
from ..access.major_mentions import REMADE
from ..access.major_users import major_users
from ..boot.module_state import library_versions
from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
WRONG = ("stale", "foreign")
_LIBRARY = regex(r"/(?:usr/)?lib.*/lib[\w.+-]+\.so\.([0-9]{3}\.[0-9]+(?:\.[0-9]+)?)", re.DOTALL)


def cdi_files(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each CDI file of NVIDIA's; BEFORE tells whose a number was."""
    if fact := after.unread("runtimes", ("cdi",)):
        return Derived({}, [_gap("", fact)])
    files: Row = after.table("runtimes").get("cdi", {})
    users = major_users(after, before)
    numbers = next((UnreadFact(path=[], source=gap["source"], why=gap["why"])
                    for gap in users.unknown if gap["subject"] in ("", "cdi ")), None)
    outcome = after.outcomes.get("runtimes")
    unread = {fact.path[1]: fact for fact in (outcome and outcome.unread) or () if fact.path[:1] == ["cdi"]}
    found = Derived()
    for file in sorted({*files, *unread}):
        if file in unread:
            found.unknown.append(_gap(file, unread[file]))
        elif files[file].get("kind", "").startswith("nvidia.com/"):
            row = _row(after, file, files[file], [r for r in users.rows.values() if r["name"] == file], numbers)
            found.rows[file] = {key: value for key, value in row.items() if value is not None}
    return found


def _gap(subject: str, fact: UnreadFact) -> Row:
    return {"subject": subject, "what": "what CDI files give", "source": fact.source, "why": fact.why}


def _row(after: Snapshot, file: str, cdi: Row, users: list[Row], numbers: UnreadFact | None) -> Row:
    wrong = [row for row in users if row["kind"] == "cdi" and row["state"] in WRONG]
    versions = sorted({found[1] for path in _mounted(cdi) if (found := _LIBRARY.fullmatch(path))})
    here, unknown = library_versions(after), {}
    if numbers:
        unknown["nodes"] = numbers
    if versions and not here and (fact := after.unread("nvidia", ("user_space", "libraries"))):
        unknown["other_versions"] = fact
    others = [version for version in versions if version not in here] if here else []
    return {
        "file": file, "kind": cdi["kind"], "nodes": sorted(row["device"] for row in wrong) or None,
        "old_majors": sorted({row["major"] for row in wrong}) or None,
        "majors": sorted({number for row in wrong for number in row.get("now", ())}) or None,
        "libraries": versions or None, "user_space": here or None, "other_versions": others or None,
        "remade": file.startswith(REMADE),
        "unknown": {key: {"source": fact.source, "why": fact.why} for key, fact in unknown.items()} or None,
    }


def _mounted(cdi: Row) -> Iterator[str]:
    for edits in (cdi["common"], *cdi["devices"].values()):
        yield from edits.get("mounts", {}).values()
