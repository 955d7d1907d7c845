"""The active profile of tuned, now and before: from section units.

tuned-adm(8), tuned-main.conf(5). Several profiles can be active, merged in order. /etc/tuned is not there where tuned
was never installed or was purged.

The row has the key "profile" and is there when tuned has, or had, an active profile; a missing key has no value:
    profile, before  names, joined with blanks; no profile is missing
    mode             manual, or auto: tuned itself chose it
    installed        /etc/tuned is there
    changed          the two differ
    now              command that makes the one of before active
    unknown          {changed: {source, why}} when before could not be read
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Snapshot


def tuned_profile(after: Snapshot, before: Snapshot | None) -> Derived:
    """The row; unknown when AFTER's profile was not read."""
    if fact := after.unread("units", ("tuned", "active")):
        gap = {"subject": "", "what": "the profile of tuned", "source": fact.source, "why": fact.why}
        return Derived({}, [gap])
    table = after.table("units").get("tuned")
    now, then = _active(after), _active(before) if before else []
    row: dict[str, Any] = {"mode": (table or {}).get("mode"), "installed": table is not None}
    row |= {"profile": " ".join(now) or None, "before": " ".join(then) or None}
    if before and (fact := before.unread("units", ("tuned", "active"))):
        row["unknown"] = {"changed": {"source": fact.source, "why": fact.why}}
    elif then:
        row |= {"changed": now != then, "now": [f"tuned-adm profile {shlex.join(then)}"]}
    return Derived({"profile": {k: v for k, v in row.items() if v is not None}} if now or then else {})


def _active(snapshot: Snapshot) -> list[str]:
    found: list[str] = snapshot.table("units").get("tuned", {}).get("active", [])
    return found
