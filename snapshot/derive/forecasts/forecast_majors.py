"""Device rules of containers that name a number which the next boot may give to another driver.

From ``major_users`` and ``device_access``: a line matters where it, and nothing else, lets the container open a device.
Unprivileged containers of Proxmox VE have no list of rules, and devN is resolved at each start: there it does not.

Row keys, by "ID FILE:LINE"; a key without a value is missing:
    container, hostname
    driver, major    the number of the line, and whose it is now
    origin           {file, line, text}
    devices          nodes that the container opens by this line, and by no other that takes all numbers
    fragile          the number is dynamic, and there are such nodes
    unknown          {fragile: {source, why}} where that could not be told
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
    """A row for each device rule of a container with a literal number that is right now; BEFORE adds nothing."""
    del before
    users, access = major_users(after, None), device_access(after, None)
    covered = {name for name, one in after.table("lxc").get("containers", {}).items() if _covered(one)}
    rows = {f"{row['name']} {row['origin']['file']}:{row['origin']['line']}": _row(row, access, row["name"] in covered)
            for row in users.rows.values() if row["kind"] == "lxc" and row["state"] in ("dynamic", "static")}
    return Derived(rows, [*_gaps(users.unknown)])


def _covered(container: Mapping[str, Any]) -> bool:
    """Whether a rule of the container's own takes all numbers."""
    rules = container.get("live", {}).get("device_rules", [])
    return any(rule["key"].endswith(".allow") and _ALL.fullmatch(rule["value"].strip()) for rule in rules)


def _row(user: Row, access: Derived, covered: bool) -> Row:
    """One line; unknown where it is not known whether the container opens anything by it."""
    own = [row for row in access.rows.values() if row["container"] == user["name"]]
    devices = [row["device"] for row in own if not covered and _opens(row, user)]
    row: Row = {"container": user["name"], "driver": user.get("driver"), "major": user["major"],
                "origin": user["origin"], "devices": devices, "hostname": own[0].get("hostname") if own else None}
    start = f"{user['name']} "
    gap = next((g for g in access.unknown if g["subject"] == "" or g["subject"].startswith(start)), None)
    if gap and not devices and user["state"] == "dynamic":
        row["unknown"] = {"fragile": {"source": gap["source"], "why": gap["why"]}}
    else:
        row["fragile"] = user["state"] == "dynamic" and bool(devices)
    return {key: value for key, value in row.items() if value not in (None, [])}


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
