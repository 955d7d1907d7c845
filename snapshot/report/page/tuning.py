"""What is tuned, what it is now, and which recorded line, file or word of the command line may have set it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...document import Snapshot
from ...sections.sysctl import agrees
from ..paper import plural
from .figures import few, origin, said
from .sheet import Sheet
from .sources import Sources, winner
from .tunables import tunables

Table = Mapping[str, Any]
TITLE = "TUNING: what it is now; <- what is recorded that sets it, and whether that runs (no arrow: none found)"
MOST = 60  # sysctls that are listed
NOTABLE = (
    "kernel.numa_balancing", "kernel.sched_autogroup_enabled", "net.core.rmem_max", "net.core.wmem_max",
    "vm.dirty_background_ratio", "vm.dirty_ratio", "vm.max_map_count", "vm.overcommit_memory", "vm.swappiness",
    "vm.zone_reclaim_mode",
)
"""Sysctls that are shown though no file sets them: what people tune on such hosts."""
SAME = {"Y": "1", "N": "0", "y": "1", "n": "0", "on": "1", "off": "0"}  # kstrtobool of the kernel


def tuning(sheet: Sheet, snapshot: Snapshot) -> None:
    """The chapter of tuning."""
    sources = Sources(snapshot)
    sheet.chapter(TITLE)
    for fact in tunables(snapshot):
        value = fact.value or _unknown(snapshot, fact.path)
        if value:
            sheet.sourced(fact.label, value, few(sources.of(fact.topic, *fact.keys), 5))
    tuned = snapshot.table("units").get("tuned", {})
    sheet.facts("tuned", (*(f"profile {name}" for name in tuned.get("active", ())), said(tuned, "mode"),
                          *(f"no profile {name}" for name in tuned.get("missing", ()))))
    _options(sheet, snapshot.table("modules"))
    _sysctls(sheet, snapshot.table("sysctl"), sources)
    lost = [name for name in ("cmdline", "modules", "sysctl", "units") if snapshot.unread(name, ())]
    sheet.facts("what sets it", [f"may be missing above: {', '.join(lost)} not recorded"] if lost else [])


def _unknown(snapshot: Snapshot, path: tuple[str, ...]) -> str | None:
    """Why a fact is unknown; None where its whole section is, which is said at the top."""
    fact = snapshot.unread(path[0], path[1:]) if path and snapshot.table(path[0]) else None
    return f"unknown ({fact.source}: {fact.why})" if fact else None


def _options(sheet: Sheet, table: Table) -> None:
    """Options by files of modules that are loaded, what is blacklisted, and what is loaded at boot."""
    loaded = {**table.get("builtin", {}), **table.get("loaded", {})}
    options = [(module, name, option["files"]) for module, options in table.get("options", {}).items()
               for name, option in options.items() if "files" in option]
    rows = [_option(module, name, files, loaded[module].get("parameters", {})) for module, name, files in options
            if module in loaded]
    sheet.facts("module options", [f"{plural(len(rows), 'option')} of loaded modules"] if rows else [])
    sheet.table(rows, 4)
    idle = [*dict.fromkeys(module for module, _, _ in options if module not in loaded)]
    sheet.facts("not loaded", [f"options of {', '.join(few(idle, 8))}"] if idle and "loaded" in table else [])
    for label, name in (("blacklisted", "blacklist"), ("loaded at boot", "load")):
        by: dict[str, list[str]] = {}
        for module, found in table.get(name, {}).items():
            by.setdefault(found["origin"]["file"], []).append(module)
        for file, modules in by.items():
            sheet.sourced(label, ", ".join(few(modules, 6)), [file])


def _option(module: str, name: str, files: Table, now: Table) -> tuple[str, str]:
    value = files.get("value", "")
    differs = name in now and SAME.get(now[name], now[name]) != SAME.get(value, value)
    return f"{module}.{name}={value}", f"<- {origin(files)}{f': NOW {now[name]}' if differs else ''}"


def _sysctls(sheet: Sheet, table: Table, sources: Sources) -> None:
    """What files and command line set, those that are not so first; then the notable ones that none sets."""
    values, settings = table.get("values", {}), table.get("settings", {})
    wins = {key: found for key, setting in settings.items() if (found := winner(setting))}
    others = [key for key, found in wins.items() if key not in values or not agrees(values[key], found["value"])]
    notable = [key for key in NOTABLE if key in values and key not in wins]
    said = f"{plural(len(wins), 'key')} set by files or the command line, {len(others)} of them NOT SO NOW"
    sheet.facts("sysctl", [plural(len(values), "value"), said] if values or wins else [])
    keys = [*dict.fromkeys((*others, *wins))][:MOST]
    sheet.table([(key, str(values.get(key, "(not there)")), _sysctl(key, wins.get(key), key in others, sources))
                 for key in (*keys, *notable)], 4)
    if len(wins) > MOST:
        sheet.line(f"and {len(wins) - MOST} more (show sysctl.settings lists them)", 4)


def _sysctl(key: str, found: Table | None, other: bool, sources: Sources) -> str:
    words = [origin(found) + (f" says {found['value']}" if other else "")] if found else []
    return " ".join(f"<- {source}" for source in (*words, *sources.sysctl(key)))
