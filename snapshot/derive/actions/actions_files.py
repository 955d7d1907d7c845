"""What tmpfiles.d, root's cron jobs, scripts without a unit, and files of cpufrequtils and cpupower set.

tmpfiles.d(5): w lines write when the file exists, early in the boot; of two lines for a path the first counts, but for
w+. crontab(5): @reboot runs when cron starts. The init script of cpufrequtils does nothing unless ENABLE is "true", and
takes 0 for no limit; cpupower.service of Arch reads governor, min_freq and max_freq.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from .action import GUESTS, NETWORK, TMPFILES, UNITS, Action, Effect, Source
from .actions_paths import early, written
from .actions_shell import Runner
from .actions_starts import RC_LOCAL, Starts
from .actions_words import Scope

Table = Mapping[str, Any]
_CRON = ("cron.service", "crond.service")
_IF_UP = ("/etc/network/if-pre-up.d", "/etc/network/if-up.d")
_OF_STANZAS = tuple(f"{folder}/ethtool" for folder in _IF_UP)  # of package ethtool: what options say, net_actions reads
_LIMITS = {"GOVERNOR": "governor", "MAX_SPEED": "max", "MIN_SPEED": "min"}
_CPUPOWER = {"governor": "governor", "max_freq": "max", "min_freq": "min", "perf_bias": "perf-bias"}


def tmpfiles_actions(tmpfiles: Mapping[str, list[Table]], why_not: str) -> Iterator[Action]:
    """What w lines write. WHY_NOT: why none is."""
    for path, lines in tmpfiles.items():
        for at, line in enumerate(lines):
            if line["type"][0] != "w":
                continue
            file = line["origin"]["file"]
            hidden = "an earlier line is for the same path" if at and not line["type"].startswith("w+") else ""
            gone = "the line lies in /run only" if file.startswith("/run/") else hidden
            gone = gone or ("" if "argument" in line else "it says not what to write")
            plain = line.get("argument", "") if not {*line["type"]} & {*"^~"} else "%"
            value = plain if not any(sign in plain for sign in "%\\") else None
            doubt = "its path holds a specifier" if "%" in path else early(path)
            yield Source("tmpfiles", TMPFILES, line["origin"], "", doubt, why_not or gone).action(written(path, value))


def cron_actions(cron: Mapping[str, list[Table]], starts: Starts, runner: Runner) -> Iterator[Action]:
    """What root's jobs set; only those @reboot surely run in a boot."""
    daemon = next((name for name in _CRON if name in starts.units), "")
    why_not, doubt = starts.fate(daemon) if daemon else ("", "no cron daemon is recorded")
    order = starts.order(daemon) if daemon else UNITS
    for path, jobs in cron.items():
        for job in jobs:
            later = "" if job["schedule"] == "@reboot" else f"it runs at its time ({job['schedule']}), not at the boot"
            source = Source("cron", order, job["origin"], posixpath.basename(path), doubt or later, why_not)
            found = runner.line(job["text"], Scope(bash=False), job.get("tools", ()))
            found += runner.unmet(job.get("scripts", ()))
            yield from (source.action(f.effect, f.origin) for f in found)


def script_actions(starts: Starts, runner: Runner, hooks: Mapping[str, list[str]]) -> Iterator[Action]:
    """What scripts set that ifupdown, guests or nobody starts: hooks, if-up.d, an rc.local that no unit runs."""
    commands = starts.units.get(RC_LOCAL, {}).get("commands", ())
    run = {path for command in commands for path in command.get("scripts", ())}
    guests = {path: conf for conf, paths in hooks.items() for path in paths}
    for path, script in runner.scripts.items():
        callers = script["called_by"]
        if path in _OF_STANZAS:
            continue
        if path in guests:
            guest = guests[path]
            source = Source("hook", GUESTS, {}, posixpath.basename(guest), f"it runs when the guest of {guest} starts")
        elif any(caller in _IF_UP for caller in callers):
            source = Source("interfaces", NETWORK, {}, "", "ifupdown runs it for each interface, if it runs scripts")
        elif "rc.local" in callers and path not in run:
            source = Source("rc.local", UNITS, {}, RC_LOCAL, "", f"no {RC_LOCAL} runs it")
        else:
            continue
        yield from (source.action(f.effect, f.origin) for f in runner.script(path, None, "exec"))


def settings_actions(settings: Mapping[str, Table], starts: Starts) -> Iterator[Action]:
    """What the files of cpufrequtils and cpupower set, when their service runs."""
    for path, names in (("/etc/default/cpufrequtils", _LIMITS), ("/etc/default/cpupower", _CPUPOWER)):
        table = settings.get(path, {})
        unit = f"{posixpath.basename(path)}.service"
        why_not, doubt = starts.fate(unit) if unit in starts.units else (f"there is no {unit}", "")
        if names is _LIMITS and "ENABLE" not in table:
            doubt = doubt or "it does not say ENABLE"
        elif names is _LIMITS and table["ENABLE"]["value"] != "true":
            why_not = why_not or "ENABLE is not true"
        for name, word in names.items():
            if name in table and table[name]["value"] not in ("", "0"):
                source = Source("unit", starts.order(unit), table[name]["origin"], unit, doubt, why_not)
                yield source.action(Effect("cpupower", ("all", word), table[name]["value"]))
