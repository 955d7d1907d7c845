"""Limits on open files and locked memory, now and before: of sessions, units, systemd's defaults and PID 1.

limits.conf(5): of lines for one domain and item the last counts, and - is both soft and hard. systemd.exec(5): one
value, or SOFT:HARD, with suffixes of 1024; infinity. proc_pid_limits(5). RDMA and GPU libraries lock the memory that
they register, servers hold a file for each connection. systemd gives PID 1 an eighth of the memory to lock, so its own
limit counts only when it was unlimited.

Row keys, by "session DOMAIN SIDE ITEM", "unit NAME LIMIT", "systemd LIMIT", "PID 1 ITEM"; a missing key has no value:
    what             the limit in words
    value, before    as written
    lower            it is lower than before, or the line that raised it is gone
    file, line, text where it stands, or stood
    unknown          {lower: {source, why}} when one side could not be read
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Row = dict[str, Any]
UNLIMITED = ("unlimited", "infinity", "-1")
_SIZE = regex(r"([0-9]{1,20})([KMGTPE]?)B?")
_POWERS = "KMGTPE"


def resource_limits(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each limit of either side; unknown where AFTER's were not read."""
    if fact := _unread(after):
        return Derived({}, [{"subject": "", "what": "resource limits", "source": fact.source, "why": fact.why}])
    now, then = dict(_limits(after)), dict(_limits(before)) if before else {}
    lost = _unread(before) if before else None
    found, units = Derived(), after.table("units").get("units", {})
    for key in sorted({*now, *then}):
        if key not in now and (fact := _hidden(after, key)):
            found.unknown.append({"subject": key, "what": then[key]["what"], "source": fact.source, "why": fact.why})
            continue
        gap = lost or (_hidden(before, key) if before and key not in then else None)
        row = _row(now.get(key), then.get(key)) if before and not gap else {**now[key]}
        gone = key not in now and key.startswith("unit ") and key.split()[1] not in units
        if not gone:
            found.rows[key] = row | ({"unknown": {"lower": {"source": gap.source, "why": gap.why}}} if gap else {})
    return found


def _hidden(snapshot: Snapshot, key: str) -> UnreadFact | None:
    """Why a limit that a side does not show may be there all the same: that of a unit or of PID 1."""
    kind, name, *rest = key.split()
    if kind == "unit":
        return snapshot.unread("units", ("units", name, "limits", *rest))
    return snapshot.unread("units", ("limits", f"init_{rest[0]}")) if kind == "PID" else None


def _unread(snapshot: Snapshot) -> UnreadFact | None:
    paths: tuple[tuple[str, ...], ...] = ((), ("limits",), ("limits", "sessions"), ("limits", "defaults"))
    return next((fact for path in paths if (fact := snapshot.unread("units", path))), None)


def _limits(snapshot: Snapshot) -> Iterator[tuple[str, Row]]:
    units = snapshot.table("units")
    limits = units.get("limits", {})
    for line in limits.get("sessions", ()):
        for side in ("soft", "hard") if line["type"] == "-" else (line["type"],):
            what = f"{side} limit {line['item']} of {line['domain']}"
            yield f"session {line['domain']} {side} {line['item']}", _limit(what, line)
    for name, setting in limits.get("defaults", {}).items():
        yield f"systemd {name}", _limit(f"{name} of systemd", setting)
    for unit, table in units.get("units", {}).items():
        for name, setting in table.get("limits", {}).items():
            yield f"unit {unit} {name}", _limit(f"{name} of {unit}", setting)
    for item in ("nofile", "memlock"):
        if own := limits.get(f"init_{item}"):
            yield f"PID 1 {item}", {"what": f"{item} of PID 1", "value": f"{own['soft']}:{own['hard']}"}


def _limit(what: str, setting: Mapping[str, Any]) -> Row:
    return {"what": what, "value": setting["value"], **setting["origin"]}


def _row(now: Row | None, then: Row | None) -> Row:
    if now is None or then is None:
        found = now or {key: value for key, value in (then or {}).items() if key != "value"}
        return {**found, "before": then["value"], "lower": True} if then else {**found, "lower": False}
    return {**now, "before": then["value"], "lower": _lower(now, then["value"])}


def _lower(now: Row, then: str) -> bool:
    """Whether either part, soft or hard, is lower; of what cannot be read, no."""
    pairs = [pair for pair in zip(_parts(now["value"]), _parts(then), strict=True) if None not in pair]
    if now["what"] == "memlock of PID 1":
        pairs = [pair for pair in pairs if pair[1] == math.inf]
    return any(new < old for new, old in pairs if new is not None and old is not None)


def _parts(written: str) -> list[float | None]:
    """Soft and hard limit."""
    soft, colon, hard = written.partition(":")
    return [_number(soft), _number(hard if colon else soft)]


def _number(text: str) -> float | None:
    if text in UNLIMITED:
        return math.inf
    found = _SIZE.fullmatch(text)
    return float(int(found[1]) << 10 * (_POWERS.find(found[2]) + 1 if found[2] else 0)) if found else None
