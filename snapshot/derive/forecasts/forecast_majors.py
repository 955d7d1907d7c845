"""Device rules of containers that name a number which the next boot may give to another driver.

From ``major_users`` and ``device_access``: a line matters where it, and nothing else, lets the container open a device.
Unprivileged containers of Proxmox VE have no list of rules, and devN is resolved at each start: there it does not.

Row keys, by "ID /dev/path" as in ``device_access``, for each node that a container opens by such a line, and by no
other that takes all numbers; a key without a value is missing:
    container, hostname, device
    mode             of the host's node
    driver, major    the number of the line, and whose it is now
    origin           {file, line, text}
    fragile          the number is dynamic
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ..access.device_access import device_access
from ..access.major_users import major_users
from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
_ALL = regex(r"a|[ac] \*:(?:\*|[0-9]+) (?=\w*r)(?=\w*w)\w+")  # rules that let every driver's devices through


def forecast_majors(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each device that a container opens by a literal number that is right now; BEFORE adds nothing."""
    del before
    users, access, nodes = major_users(after, None), device_access(after, None), after.table("devices").get("nodes", {})
    covered = {name for name, one in after.table("lxc").get("containers", {}).items() if _covered(one)}
    found = Derived(unknown=[*_gaps(users.unknown)])
    for user in users.rows.values():
        if user["kind"] == "lxc" and user["state"] in ("dynamic", "static") and user["name"] not in covered:
            opened = [row for row in access.rows.values() if row["container"] == user["name"] and _opens(row, user)]
            found.rows.update({f"{user['name']} {row['device']}": _row(user, row, nodes) for row in opened})
            if not opened and user["state"] == "dynamic":
                found.unknown.extend(_untold(user["name"], access))
    return found


def _covered(container: Mapping[str, Any]) -> bool:
    """Whether a rule of the container's own takes all numbers."""
    rules = container.get("live", {}).get("device_rules", [])
    return any(rule["key"].endswith(".allow") and _ALL.fullmatch(rule["value"].strip()) for rule in rules)


def _row(user: Row, opened: Row, nodes: Mapping[str, Row]) -> Row:
    row = {"container": user["name"], "hostname": opened.get("hostname"), "device": opened["device"],
           "mode": nodes.get(opened["device"], {}).get("mode"), "driver": user.get("driver"),
           "major": user["major"], "origin": user["origin"], "fragile": user["state"] == "dynamic"}
    return {key: value for key, value in row.items() if value is not None}


def _untold(container: str, access: Derived) -> list[Row]:
    """Why it is not known whether the container opens anything by a line."""
    start = f"{container} "
    gap = next((g for g in access.unknown if g["subject"] == "" or g["subject"].startswith(start)), None)
    return [{**gap, "subject": start}] if gap else []


def _opens(row: Mapping[str, Any], user: Row) -> bool:
    """Whether a device of the container is opened by this line."""
    allowed = row.get("allowed_by", {}).get("text", "")
    return (row["access"] == "allowed" and row.get("given_by", {}).get("how") != "dev"
            and row.get("major") == user["major"] and _rule(allowed) == _rule(user["origin"]["text"]))


def _rule(line: str) -> str:
    """The rule of a line of PVE (KEY: RULE) or LXC (KEY = RULE), blanks folded."""
    return " ".join(re.split("[:=]", line, maxsplit=1)[-1].split())


def _gaps(unknown: list[Row]) -> Iterator[Row]:
    for gap in unknown:
        if gap["subject"] == "" or gap["subject"].startswith("lxc "):
            yield {**gap, "subject": gap["subject"].removeprefix("lxc ")}
