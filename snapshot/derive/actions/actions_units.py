"""What the commands of units set, those of rc.local among them, and swap units.

systemd.service(5): ExecStartPre=, ExecStart= and ExecStartPost= run at a start. A service of Type=oneshot without
RemainAfterExit= is stopped as soon as it has started, so that its ExecStop= and ExecStopPost= run in the boot as well
and have the last word. systemd expands ${NAME} and specifiers before any shell does; $$ and %% are $ and %.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import ParseError
from ...regexes import regex
from ...sections.exec_line import commands
from .action import Action, Effect, Source
from .actions_programs import inline
from .actions_shell import Found, Runner
from .actions_starts import RC_LOCAL, Starts
from .actions_words import Word, literal, unknown

Table = Mapping[str, Any]
_START = ("ExecStartPre", "ExecStart", "ExecStartPost")
_STOP = ("ExecStop", "ExecStopPost")
_EXPANDED = regex(r"(?<!\$)((?:\$\$)*)\$\{(\w+)\}")
_SPECIFIER = regex(r"(?<!%)((?:%%)*)%([A-Za-z])")
_BARE = regex(r"\$(\w+)")
_DAEMONS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "irqbalance": (("irq", ("all",)),),
    "power-profiles-daemon": (("cpupower", ("all", "epp")), ("cpupower", ("all", "governor"))),
    "auto-cpufreq": (("cpupower", ("all", "governor")), ("cpupower", ("all", "epp")), ("cpupower", ("all", "boost"))),
    "numad": (("unknown", ("numad",)),), "tlp": (("unknown", ("tlp",)),), "thermald": (("cpupower", ("all", "max")),),
    "ksmtuned": (("file", ("/sys/kernel/mm/ksm/run",)), ("file", ("/sys/kernel/mm/ksm/pages_to_scan",)),
                 ("file", ("/sys/kernel/mm/ksm/sleep_millisecs",))),
}
"""Daemons that set tunables as they see fit -> what they may set."""


def unit_actions(starts: Starts, runner: Runner, settings: Mapping[str, Table]) -> Iterator[Action]:
    """What the units do, in no order. SETTINGS: files of a service's own name give its variables."""
    for name, unit in starts.units.items():
        why_not, doubt = starts.fate(name)
        variables = _variables(name, settings)
        for command in _commands(unit):
            how = "rc.local" if name == RC_LOCAL else "unit"
            source = Source(how, starts.order(name), command["origin"], name, doubt, why_not)
            for found in _found(command, runner, variables, name):
                scripted = "script" if found.origin and how == "unit" else ""
                yield source.action(found.effect, found.origin, scripted)
        yield from _own(name, unit, Source("unit", starts.order(name), {}, name, doubt, why_not))


def _commands(unit: Table) -> Iterator[Table]:
    """The commands that a boot runs, in order."""
    found = unit.get("commands", ())
    stops = unit.get("type") == "oneshot" and not unit.get("remain_after_exit")
    for key in (*_START, *(_STOP if stops else ())):
        yield from (command for command in found if command["key"] == key)


def _found(command: Table, runner: Runner, variables: Mapping[str, str], unit: str) -> list[Found]:
    tools, paths, scripts = (command.get(key, []) for key in ("tools", "paths", "scripts"))
    fault = command.get("fault")
    try:
        lines = [] if fault else commands(_prepared(command["text"], unit, variables))
    except ParseError as error:
        fault = str(error)
    if fault:
        return [Found(Effect("unknown", (*tools, *paths), None, why_not=f"systemd ignores the line: {fault}"))]
    found = [f for argv in lines for f in runner.command(_argv(argv, variables), tools, paths)]
    return [*found, *runner.unmet(scripts)]


def _prepared(text: str, unit: str, variables: Mapping[str, str]) -> str:
    """TEXT with what systemd puts in: the instance and VARIABLES, else the name of a variable that no shell knows."""
    instance = unit.partition("@")[2].rpartition(".")[0]
    text = _SPECIFIER.sub(lambda m: m[1] + (instance if m[2] == "i" and instance else f"$$specifier_{m[2]}"), text)
    return _EXPANDED.sub(lambda m: m[1] + variables.get(m[2], f"$$environment_{m[2]}"), text)


def _argv(argv: list[str], variables: Mapping[str, str]) -> list[Word]:
    """The words; $NAME as a word of its own is split into as many as it holds."""
    found: list[Word] = []
    shell = inline(argv)
    for text in argv:
        name = _BARE.fullmatch(text)
        if name and name[1] in variables:
            found += map(literal, variables[name[1]].split())
        else:
            found.append(unknown(text) if name or (not shell and "$" in text) else literal(text))
    return found


def _variables(unit: str, settings: Mapping[str, Table]) -> dict[str, str]:
    """The variables of /etc/default/NAME and /etc/sysconfig/NAME, which distributions read for the unit NAME."""
    stem = posixpath.splitext(unit)[0]
    tables = (settings.get(f"{folder}/{stem}", {}) for folder in ("/etc/default", "/etc/sysconfig"))
    return {name: setting["value"] for table in tables for name, setting in table.items()}


def _own(name: str, unit: Table, source: Source) -> Iterator[Action]:
    """What a unit does besides commands: swap, and what a daemon sees fit."""
    file = {"file": unit.get("file", ""), "line": 1, "text": name}
    what = next((text[5:] for text in unit.get("mounts", ()) if text.startswith("What=")), "")
    if name.endswith(".swap") and what:
        yield source.action(Effect("swap", (what,), "on"), file)
    for target, where in _DAEMONS.get(posixpath.splitext(name)[0], ()) if not source.why_not else ():
        yield source.action(Effect(target, where, None, f"{name} sets it as it sees fit"), file)
