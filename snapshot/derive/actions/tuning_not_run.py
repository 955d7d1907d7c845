"""Units, rc.local and cron jobs of the administrator's that set something and that no boot runs.

From ``boot_actions_not_run``, and where it has rows from ``tunables``. A unit that stands there and is not enabled may
be a leftover: what tells is whether it is active, or whether something has the value that it sets and is not by
default. Then the value was set by hand, and the next boot does without it. A script whose own logic never comes to a
line is not a unit that does not run.

Row keys, by unit, or by file of a cron job; a key without a value is missing:
    source           the key
    kind             unit, rc-local or cron
    runs             a boot runs it, as far as is known; all below is of those that it does not
    place            the first file that would set it; file: that of the unit, else the same
    state            of a unit: disabled, static, masked, ...
    why_not          why no boot runs it
    sets             what it would set, in words
    lines            [{file, line, text}] that would set it
    active           the unit is active, so it was started in this boot
    holding          tunables that have the value it sets, that nothing else sets to it, and that are not so by default
    held             the same of the snapshot before
    in_force         it is active, or is holding or held something
    enable           commands that make the boot run it
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ..facts import Derived
from ..tunables.tunable_values import agrees, parameter_agrees, sysctl_agrees
from ..tunables.tunables import tunables
from .boot_actions import boot_actions_not_run

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
RC_LOCAL = regex(r"/etc/(?:rc\.d/)?rc\.local")
CRON = regex(r"/etc/cron.*|/var/spool/cron.*")
UNIT = regex(r".+\.(?:service|timer|path|socket|target)")
WHOLE = regex(r"the unit|the script|no \S+ runs it|\S+, which starts it|only \S+ wants|systemd ignores")
SAME = {"sysctl": sysctl_agrees, "module": parameter_agrees}


def tuning_not_run(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each unit, rc.local or crontab of the administrator's that sets something; BEFORE adds what it held."""
    idle = boot_actions_not_run(after, None)
    rows: dict[str, Row] = {name: {"source": name, "kind": "unit", "runs": True} for name in _own_units(after)}
    found: dict[str, Row] = {}
    for line in idle.rows.values():
        if kind := _kind(line):
            key = line["file"] if kind == "cron" else line.get("unit", "rc-local.service")
            empty = {"source": key, "kind": kind, "runs": False, "place": line["file"], "sets": [], "lines": []}
            row = found.setdefault(key, empty)
            row["why_not"] = line["why_not"]
            row["sets"].append(line["sets"])
            row["lines"].append({name: line[name] for name in ("file", "line", "text")})
    for key, row in found.items():
        row |= _unit(after, key, row)
        row["sets"] = ", ".join(dict.fromkeys(row["sets"]))
    found = _with_evidence(after, before, found)
    if gap := after.unread("units", ("units",)):  # what starts a unit may be in the folder that was not read
        what = {"what": "whether a boot runs the unit", "source": gap.source, "why": gap.why}
        return Derived(found, [*idle.unknown, *({"subject": name, **what} for name in rows if name not in found)])
    return Derived(rows | found, idle.unknown)


def _own_units(snapshot: Snapshot) -> Iterator[str]:
    for name, unit in snapshot.table("units").get("units", {}).items():
        if unit.get("file", "").startswith("/etc/") and unit.get("commands"):
            yield name


def _kind(line: Mapping[str, Any]) -> str:
    """Which of the three it is; empty for udev rules, tmpfiles.d and lines that a script itself never comes to."""
    if not WHOLE.match(line["why_not"]):
        return ""
    unit = line.get("unit", "")
    if RC_LOCAL.fullmatch(line["file"]) or unit == "rc-local.service":
        return "rc-local"
    return "cron" if CRON.fullmatch(line["file"]) else "unit" if UNIT.fullmatch(unit) else ""


def _unit(snapshot: Snapshot, name: str, row: Row) -> Row:
    """What the section knows of the unit."""
    unit = snapshot.table("units").get("units", {}).get(name, {})
    found = {"file": unit.get("file", row["place"]), "state": unit.get("state")}
    found["enable"] = _enable(name, row, unit) or None
    if "runtime" in unit:
        found["active"] = unit["runtime"]["active"] == "active"
    return {key: value for key, value in found.items() if value is not None}


def _enable(name: str, row: Row, unit: Mapping[str, Any]) -> list[str]:
    quoted, why = shlex.quote(name), row["why_not"]
    if row["kind"] == "rc-local":
        return [f"chmod +x {shlex.quote(row['place'])}", "systemctl daemon-reload"]
    if why == "the script is not executable":
        scripts = dict.fromkeys(line["file"] for line in row["lines"])
        return [f"chmod +x {shlex.quote(path)}" for path in scripts]
    if row["kind"] == "cron":
        return ["systemctl enable --now cron.service"]
    if why.endswith("in /run only"):
        path = unit.get("file", "")
        moved = [f"cp {shlex.quote(path)} /etc/systemd/system/"] if path.startswith("/run/") else []
        return [*moved, f"systemctl enable {quoted}"]
    unmask = [f"systemctl unmask {quoted}"] if unit.get("state") == "masked" else []
    return [*unmask, f"systemctl enable {quoted}"] if unit.get("install") or unmask else []


def _with_evidence(after: Snapshot, before: Snapshot | None, found: dict[str, Row]) -> dict[str, Row]:
    """The rows with what shows that they are no leftovers. The tunables cost: only where there are rows."""
    rows = tunables(after, None).rows if found else {}
    for source, key, tunable in (*_values(rows, rows, "holding"), *_values(rows, _tunables(before, rows), "held")):
        if source in found:
            found[source].setdefault(key, []).append(tunable)
    for row in found.values():
        row["in_force"] = bool(row.get("active") or row.get("holding") or row.get("held"))
    return found


def _tunables(before: Snapshot | None, rows: Mapping[str, Row]) -> Mapping[str, Row]:
    return tunables(before, None).rows if before and rows else {}


def _values(rows: Mapping[str, Row], side: Mapping[str, Row], key: str) -> Iterator[tuple[str, str, str]]:
    """Source, KEY and name of each tunable that has on SIDE the value which a source that will not run would set."""
    for subject, row in rows.items():
        own = side.get(subject, {})
        if "live" not in own or own["live"] == own.get("default") or own.get("agrees"):
            continue
        for setter in row.get("not_run", ()):
            written = setter.get("value")
            if written is not None and SAME.get(row["kind"], agrees)(own["live"], written):
                cron = CRON.fullmatch(setter["file"])
                name = setter["file"] if cron else setter.get("unit", "rc-local.service")
                yield name, key, " ".join(filter(None, (row.get("subject"), row["name"])))
