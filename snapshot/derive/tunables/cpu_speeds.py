"""How fast the CPUs are let run, now and before: from section cpufreq, by what decides it under the running driver.

Documentation/admin-guide/pm/{cpufreq,amd-pstate,intel_pstate}.rst. In the active mode of amd_pstate and intel_pstate
the governor powersave is no slow one: the energy performance preference (EPP) decides. As a number it is 0 for
performance, 128 for balance_performance, 192 for balance_power, 255 for power (arch/x86/include/asm/msr-index.h,
HWP_EPP_*). Under other drivers powersave is the lowest frequency. What is only another way to follow the load is not
slower. Limits mean something else under another driver (with boost or without): they are compared under one alone.

Row keys of ``cpu_governors``, by CPU list; a key without a value is missing:
    cpus             all, when the list is that of all CPUs with a governor; else the list
    driver, governor, epp     now; before_driver, before_governor, before_epp
    setting          what decides: "governor schedutil" or "EPP performance"; before_setting
    slower, faster   against before_setting
    now, durable     commands that bring the speed of before back; none where the driver offers no such setting
    cpu              the one CPU of the list; missing of several
    unknown          {slower: {source, why}} when before could not be read

Row keys of ``cpu_limits``, by CPU list:
    driver, max_khz, hardware_max_khz, bios_limit_khz     and each as before_...
    capped           under the same driver max_khz is lower than before, and not because the hardware's limit is
    by_firmware      bios_limit_khz is lower than before too
    cpu              as above
    unknown          {capped: {source, why}}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ...sections.base import expand, format_cpus
from ..actions.boot_unit import install
from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Row = dict[str, Any]
Values = tuple[Any, ...]
ACTIVE = ("amd-pstate-epp", "intel_pstate")
FASTEST, BY_LOAD, SAVING, SLOWEST = 3, 2, 1, 0
PREFERENCES = {"performance": FASTEST, "balance_performance": BY_LOAD, "balance_power": SAVING, "power": SLOWEST}
GOVERNORS = {"performance": FASTEST, "schedutil": BY_LOAD, "ondemand": BY_LOAD, "conservative": BY_LOAD,
             "powersave": SLOWEST}
NUMBERS = ((0, FASTEST), (128, BY_LOAD), (192, SAVING), (255, SLOWEST))  # up to this number
_WORD = regex(r"[a-z0-9_]+")
EPP = "/sys/devices/system/cpu/cpu$c/cpufreq/energy_performance_preference"


def cpu_governors(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for CPUs with equal governor and preference on both sides; unknown where AFTER's were not read."""
    found = _table(after, before, ("governor", "epp"), "slower", "the governor")
    for cpus, row in found.rows.items():
        row["cpus"] = "all" if len(found.rows) == 1 and not found.unknown else cpus
        _compare(row)
        if row.get("slower"):
            _remedy(cpus, row, after.table("cpufreq").get("governors", ()))
    return found


def cpu_limits(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for CPUs with equal limits on both sides; unknown where AFTER's were not read."""
    found = _table(after, before, ("max_khz", "hardware_max_khz", "bios_limit_khz"), "capped", "the frequency limit")
    for row in found.rows.values():
        if row.get("driver") == row.get("before_driver") and {"max_khz", "before_max_khz"} <= row.keys():
            hardware, then = row.get("hardware_max_khz"), row.get("before_hardware_max_khz")
            row["capped"] = row["max_khz"] < row["before_max_khz"] and not (
                hardware is not None and then is not None and row["max_khz"] >= hardware and hardware < then)
            row["by_firmware"] = row.get("bios_limit_khz", 0) < row.get("before_bios_limit_khz", 0)
    return found


def _table(
    after: Snapshot, before: Snapshot | None, fields: tuple[str, ...], judged: str, what: str,
) -> Derived:
    """Rows of FIELDS on both sides by CPUs that have equal ones."""
    if gap := _unread(after, fields[0]):
        return Derived({}, [_gap("", what, gap)])
    now, then = _by_cpu(after, fields), _by_cpu(before, fields) if before else {}
    lost = _unread(before, fields[0]) if before else None
    groups: dict[tuple[Values, Values | None], list[int]] = {}
    for cpu, values in now.items():
        groups.setdefault((values, then.get(cpu)), []).append(cpu)
    found = Derived({}, [*_missed(after, fields, then.keys() - now.keys(), what)])
    for (values, old), cpus in groups.items():
        if gap := _hidden(after, fields, values):
            found.unknown.append(_gap(format_cpus(cpus), what, gap))
            continue
        told = {"driver": after.table("cpufreq").get("driver"), **dict(zip(fields, values, strict=True))}
        gap = lost or (_hidden(before, fields, old or ()) if before else None)
        if before and old and not gap:
            told["before_driver"] = before.table("cpufreq").get("driver")
            told |= {f"before_{name}": value for name, value in zip(fields, old, strict=True)}
        told["cpu"] = cpus[0] if len(cpus) == 1 else None
        row = {key: value for key, value in told.items() if value is not None}
        unknown = {"unknown": {judged: {"source": gap.source, "why": gap.why}}} if gap else {}
        found.rows[format_cpus(cpus)] = row | unknown
    return found


def _missed(snapshot: Snapshot, fields: tuple[str, ...], cpus: Iterable[int], what: str) -> Iterator[dict[str, str]]:
    """What of CPUS, which had the first of FIELDS before, is unknown."""
    gap, missed = _hidden(snapshot, fields, ()), format_cpus(cpus)
    if gap and missed:
        yield _gap(missed, what, gap)


def _gap(subject: str, what: str, gap: UnreadFact) -> dict[str, str]:
    return {"subject": subject, "what": what, "source": gap.source, "why": gap.why}


def _hidden(snapshot: Snapshot, fields: tuple[str, ...], values: Values) -> UnreadFact | None:
    """Why one of VALUES is unknown: it is missing, and not all of its field was read. Without VALUES the first is."""
    missing = [name for name, value in zip(fields, values, strict=False) if value is None] if values else fields[:1]
    return next((fact for name in missing if (fact := snapshot.unread("cpufreq", (name,)))), None)


def _unread(snapshot: Snapshot, field: str) -> UnreadFact | None:
    """Why FIELD, or what says how to read it, is unknown."""
    table = snapshot.table("cpufreq")
    return next((fact for name in (field, "epp", "driver")
                 if name not in table and (fact := snapshot.unread("cpufreq", (name,)))), None)


def _by_cpu(snapshot: Snapshot, fields: Iterable[str]) -> dict[int, Values]:
    """The values of FIELDS by CPU, of the CPUs that have the first."""
    kinds: dict[str, type[int] | type[str]] = {"governor": str, "epp": str}
    tables = [expand(snapshot.table("cpufreq").get(name, {}), kinds.get(name, int)) for name in fields]
    return {cpu: tuple(table.get(cpu) for table in tables) for cpu in tables[0]}


def _compare(row: Row) -> None:
    row["setting"], now = _decides(row, "")
    if "before_governor" not in row:
        return
    row["before_setting"], then = _decides(row, "before_")
    if now is not None and then is not None:
        row |= {"slower": now < then, "faster": now > then}
    elif then == FASTEST:
        row["slower"] = True


def _decides(row: Mapping[str, Any], side: str) -> tuple[str, int | None]:
    """What decides the speed on a side, and how fast that is; None when it cannot be told."""
    governor, preference = row[f"{side}governor"], row.get(f"{side}epp")
    active = row.get(f"{side}driver") in ACTIVE
    if active and preference is not None:
        return f"EPP {preference}", _preference(preference)
    if active and governor == "powersave":  # without hardware P-states it follows the load
        return f"governor {governor}", BY_LOAD
    return f"governor {governor}", GOVERNORS.get(governor)


def _preference(word: str) -> int | None:
    if word.isdecimal():
        return next((speed for most, speed in NUMBERS if int(word) <= most), None)
    return PREFERENCES.get(word)


def _remedy(cpus: str, row: Row, governors: Iterable[str]) -> None:
    """Adds the commands: the preference or governor of before, or what comes to the same under this driver."""
    kind, word = row["before_setting"].split(" ", 1)
    if not _WORD.fullmatch(word):
        return
    if kind == "EPP" and row["setting"].startswith("EPP"):
        command = f"for c in {_listed(cpus)}; do echo {word} > {EPP}; done"
        service = f"/bin/sh -c '{command.replace('$', '$$')}'"
    elif word in governors and (kind != "EPP" or word == "performance"):
        of = "" if row["cpus"] == "all" else f"--cpu {cpus} "
        command = f"cpupower {of}frequency-set -g {word}"
        service = f"/usr/bin/{command}"
    else:
        return
    row["now"] = [command]
    row["durable"] = install("hostsnap-cpufreq", "CPU frequency scaling", [service], "systemd-modules-load.service")


def _listed(cpus: str) -> str:
    """A CPU list as words of a shell."""
    parts = (part.partition("-") for part in cpus.split(","))
    return " ".join(f"$(seq {first} {last})" if last else first for first, _, last in parts)
