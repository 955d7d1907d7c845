"""Hosts with tunables, and boot-time actions, for the tests of derived tunables. All of it is invented."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from snapshot.derive.actions.action import EARLY, NETWORK, TMPFILES, UDEV, UNITS, Action
from snapshot.derive.facts import Derived
from snapshot.derive.tunables.tunable_setters import Setters
from snapshot.derive.tunables.tunables import table
from snapshot.document import Snapshot

from ..pairs import snapshot

Row = dict[str, Any]
ORDERS = {"udev": UDEV, "tmpfiles": TMPFILES, "link": EARLY, "interfaces": NETWORK}
EMPTY: dict[str, dict[str, Any]] = {
    "cmdline": {"tokens": [], "parameters": {}},
    "sysctl": {"values": {}},
    "modules": {},
    "storage": {"blocks": {}},
    "net": {"interfaces": {}},
    "kernel": {"machine": "x86_64"},
    "units": {"units": {}},
    "boot": {},
}


def host(
    meta: Mapping[str, Any] | None = None, unread: Mapping[str, list[list[str]]] | None = None, **tables: Any
) -> Snapshot:
    """A host with these sections, and without anything that sets tunables unless they say so."""
    return snapshot({**EMPTY, **tables}, meta=meta, unread=unread)


def origin(file: str = "/etc/sysctl.d/90-gpu.conf", line: int = 1, text: str = "vm.swappiness = 10") -> Row:
    return {"file": file, "line": line, "text": text}


def assign(value: str, line: int = 1, file: str = "/etc/sysctl.d/90-gpu.conf") -> Row:
    """An assignment of a configuration file."""
    return {"value": value, "origin": origin(file, line)}


def cmdline(*words: str) -> Row:
    """Section cmdline of a line of these words."""
    return {"tokens": list(words), "parameters": {}}


def action(target: str, *where: str, value: str | None = None, **more: Any) -> Action:
    """A certain line of a unit, unless MORE says otherwise."""
    told: dict[str, Any] = {
        "certain": True,
        "how": "unit",
        "order": ORDERS.get(more.get("how", ""), UNITS),
        "unit": "tune.service",
        "why_not": "",
        "origin": origin("/etc/systemd/system/tune.service", 5, "ExecStart=..."),
    } | more
    return Action(target=target, where=where, value=value, **told)


def derive(
    after: Snapshot,
    before: Snapshot | None = None,
    actions: Iterable[Action] = (),
    gaps: list[dict[str, str]] | None = None,
) -> Derived:
    return table(after, before, Setters(after, actions), gaps or [])


def rows(after: Snapshot, *actions: Action, before: Snapshot | None = None) -> dict[str, Row]:
    return derive(after, before, actions).rows


def verdicts(found: Mapping[str, Row]) -> dict[str, str | None]:
    return {key: row.get("verdict_boot") for key, row in found.items()}
