"""Why a container's device list stops an open: which of its own lines were meant for the device, and failed.

A literal number is *stale* when it was the driver's number before. Without a readable before that can only be
inferred: the number is a dynamic one that belongs to nobody now, or to a driver of which the container is
given nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...records import record
from ...regexes import regex
from ...sections.base import Origin
from ...sections.lxc import Container, Part, unquoted
from .given_devices import own_lines, own_rules
from .host_devices import Host, dynamic
from .lxc_rules import Device, Dropped, Rule, build, parse_rule

KEYS = ("lxc.cgroup2.devices.allow", "lxc.cgroup2.devices.deny")
FIRST_NUMBER = regex(r"\s*[a-z]?\s*(?:0x)?([0-9a-f]{1,10}|\*|all)(?![0-9a-z])", re.ASCII | re.IGNORECASE)
ALLOW_LINE = regex(r"\s*lxc\.cgroup2?\.devices\.allow\s*[:=]?\s*(.*)", re.IGNORECASE)


@record(frozen=True)
class Meant:
    """A line that was meant for the device and does not let it through, with the word for why."""

    reason: str
    origin: Origin

    def row(self) -> dict[str, Any]:
        """As the table shows it."""
        return {"reason": self.reason, **self.origin.table()}


def stale(
    rules: list[Rule], kind: str, driver: str, host: Host, before: Host | None, drivers: set[str]
) -> list[dict[str, Any]]:
    """Those of RULES that name a number which DRIVER had, or, as far as can be told, may have had.

    One whose number is fixed (drm has 226) had no other. DRIVERS are those of which the container is given a device.
    """
    rows = [_stale_row(r, kind, host, before) for r in rules]
    known = [row for row in rows if driver in row.get("before_owner", "").split(", ")]
    moves = any(dynamic(number, kind) for number in host.numbers(kind, driver))
    return known or [row for row in rows if moves and "before_owner" not in row and _may_be(row, drivers)]


def outdated(part: Part, device: Device, access: str) -> list[Rule]:
    """PART's own rules that would let ACCESS to the device pass, had they its major number."""
    return [
        r for r in own_rules(part)
        if r.type in ("a", device[0]) and r.major != device[1] and r.minor in (None, device[2])
        and set(access) <= set(r.access)
    ]


def passed_then(part: Part, device: Device) -> list[Rule]:
    """PART's own rules of the form that Proxmox VE gives to a devN at the start, for the device's type and minor."""
    return [
        r for r in own_rules(part)
        if (r.type, r.minor) == (device[0], device[2]) and r.access in ("rw", "r")
    ]


def meant(container: Container, device: Device) -> list[Meant]:
    """Lines that were meant for the device and do nothing, the most telling first."""
    live = container.live
    found = [m for line in own_lines(live) if (m := _of_line(*line, device))]
    word = "rule-ignored-by-pve" if container.manager == "pve" else "rule-dropped-by-lxc"
    found += [Meant(word, i.origin) for i in live.ignored or [] if _names(i.origin.text, device)]
    parts = [
        ("rule-in-pending", container.pending),
        *(("rule-in-snapshot", p) for p in (container.snapshots or {}).values()),
    ]
    return found + [Meant(reason, o) for reason, part in parts if part for o in _covering(part, device)]


def leftover(
    container: Container, kind: str, driver: str, host: Host, before: Host | None
) -> list[dict[str, Any]]:
    """The container's rules whose number is nobody's now and, as far as is known, was no other driver's."""
    rows = [_stale_row(r, kind, host, before) for r in own_rules(container.live) if r.type in ("a", kind)]
    return [r for r in rows if r["owner"] == "nobody" and driver in r.get("before_owner", driver).split(", ")]


def _stale_row(rule: Rule, kind: str, host: Host, before: Host | None) -> dict[str, Any]:
    major = rule.major or 0
    row = {**rule.origin.table(), "major": major, "owner": host.owner(kind, major) or "nobody"}
    if before and (owner := before.owner(kind, major)):
        row["before_owner"] = owner
    return row


def _may_be(row: dict[str, Any], drivers: set[str]) -> bool:
    return dynamic(row["major"]) and not drivers & set(row["owner"].split(", "))


def _of_line(key: str, value: str, origin: Origin, device: Device) -> Meant | None:
    rule = parse_rule(key, value, origin)
    if isinstance(rule, Dropped):
        word = "v1-key" if key.startswith("lxc.cgroup.") else "rule-dropped-by-lxc"
        return Meant(word, origin) if _number_fits(unquoted(value), device) else None
    if not isinstance(rule, Rule):
        return None
    if not rule.allow:
        wrong = key not in KEYS and rule.covers(device, "")
        return Meant("wrong-key", origin) if wrong else None
    if not rule.covers(device, "") or rule.covers(device, "rw"):
        return None
    return Meant("partial-access" if set(rule.access) & set("rw") else "mknod-only", origin)


def _covering(part: Part, device: Device) -> Iterator[Origin]:
    return (r.origin for r in build(own_lines(part)).rules if r.allow and r.covers(device, "rw"))


def _names(text: str, device: Device) -> bool:
    """Whether an ignored line is an allow rule for the device's number, however it is written."""
    found = ALLOW_LINE.fullmatch(text)
    return bool(found and _number_fits(found[1], device))


def _number_fits(value: str, device: Device) -> bool:
    """Whether the first number, as decimal or as hex (which `stat -c %t` prints), is the device's major."""
    found = FIRST_NUMBER.match(value)
    word = found[1].lower() if found else ""
    if word in ("", "*", "all"):
        return bool(word)
    return int(word, 16) == device[1] or (word.isdecimal() and int(word) == device[1])
