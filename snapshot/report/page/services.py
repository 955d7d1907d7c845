"""Failed units, and what tunes the host at boot: units with their scripts, cron, udev, tmpfiles, limits, the clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...document import Snapshot
from .figures import few, origin
from .sheet import Sheet
from .sources import UNDOES, state

Table = Mapping[str, Any]


def services(sheet: Sheet, snapshot: Snapshot) -> None:
    """The chapter of services."""
    sheet.chapter("SERVICES: failed ones, and what tunes the host at boot")
    table = snapshot.table("units")
    lost = snapshot.unread("units", ("failed",))
    failed = table.get("failed")
    sheet.facts("failed units", few([*failed], 12) if failed else ["none"] if failed is not None else
                [f"unknown: {lost.why}"] if table and lost else [])
    idle = []
    for name, unit in table.get("units", {}).items():
        commands = [c for c in unit.get("commands", ()) if c["key"] not in UNDOES and _tunes(c)]
        if not commands:
            idle.append(f"{name} {state(table, name)}")
            continue
        sheet.facts(name, [state(table, name), *(_command(command) for command in commands)], ";")
        _lines(sheet, table, name)
    _others(sheet, table)
    sheet.facts("other units", idle, ";")
    _limits(sheet, table)


def _tunes(command: Table) -> bool:
    return bool(command.get("tools") or command.get("scripts"))


def _command(command: Table) -> str:
    return f"{command['key']}={command['text']}" + (f" (ignored: {command['fault']})" if "fault" in command else "")


def _lines(sheet: Sheet, table: Table, name: str) -> None:
    """The lines of the scripts that NAME runs."""
    for path, script in table.get("scripts", {}).items():
        if name in script["called_by"]:
            for line in script["lines"]:
                sheet.facts("", [f"{path}:{line['origin']['line']}: {line['text']}"])


def _others(sheet: Sheet, table: Table) -> None:
    known = table.get("units", {})
    for path, script in table.get("scripts", {}).items():
        if not any(name in known for name in script["called_by"]):
            by = ", ".join(script["called_by"])
            for line in script["lines"]:
                sheet.facts("script", [f"{path}:{line['origin']['line']}: {line['text']} ({by})"])
    for jobs in table.get("cron", {}).values():
        for job in jobs:
            sheet.facts("cron", [f"{job['schedule']} {job['text']} ({origin(job)})"])
    for rules in table.get("udev", {}).values():
        for rule in rules:
            sheet.facts("udev", [f"{', '.join(rule['match'])} -> {', '.join(rule['set'])} ({origin(rule)})"])
    _tmpfiles(sheet, table.get("tmpfiles", {}))
    for guest, hooks in table.get("hooks", {}).items():
        sheet.facts("hooks", [f"{guest}: {', '.join(hooks)}"])


def _tmpfiles(sheet: Sheet, table: Table) -> None:
    """What is written, line by line; nodes and links that are made, in one line a file."""
    made: dict[str, list[str]] = {}
    for path, entries in table.items():
        for entry in entries:
            if entry["type"].startswith(("w", "f", "F")):
                sheet.facts("tmpfiles", [f"{entry['type']} {path} {entry.get('argument', '')} ({origin(entry)})"])
            else:
                made.setdefault(entry["origin"]["file"], []).append(path)
    for file, paths in made.items():
        sheet.facts("tmpfiles", [f"makes {' '.join(few(paths, 6))} ({file})"])


def _limits(sheet: Sheet, table: Table) -> None:
    limits = table.get("limits", {})
    sheet.facts("limits", (
        *(f"{e['domain']} {e['type']} {e['item']} {e['value']} ({origin(e)})" for e in limits.get("sessions", ())),
        *(f"{name} {setting['value']} ({origin(setting)})" for name, setting in limits.get("defaults", {}).items()),
        *(f"{name} of PID 1 {limits[f'init_{name}']['soft']}" for name in ("nofile", "memlock")
          if f"init_{name}" in limits),
    ), ";")
    clock = table.get("clock")
    if clock:
        sheet.facts("clock", [f"{clock['source']}, {'synchronized' if clock['synchronized'] else 'NOT synchronized'}"])
