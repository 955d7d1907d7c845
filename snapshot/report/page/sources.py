"""Where a tunable comes from: the recorded lines, settings and words of the command line that speak of it.

A source is found by its text, so it is one that may set the value, when what runs it runs; that state is said with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...document import Snapshot
from ...records import record
from .figures import origin

Table = Mapping[str, Any]

TOPICS: dict[str, str] = {
    "governor": r"scaling_governor|frequency-set\b.*(-g|--governor)|cpufreq-set\b.*-g|\bgovernor=",
    "epp": r"energy_performance_preference",
    "boost": r"cpufreq/boost|cpufreq/policy\S*/boost|no_turbo|turbo-boost",
    "limits": r"scaling_(min|max)_freq|frequency-set\b.*(-[du]\b|--min|--max)|(min|max)_perf_pct",
    "idle": r"cpuidle/\S*/?disable|\bidle-set\b|cpu_dma_latency|force_latency",
    "smt": r"cpu/smt/control",
    "thp": r"transparent_?hugepage",
    "hugepages": r"nr_hugepages|nr_overcommit_hugepages|\bhugeadm\b",
    "ksm": r"mm/ksm|\bksmtuned\b|\bksmctl\b",
    "zswap": r"zswap",
    "swap": r"\bswapo(n|ff)\b|zram",
    "irq": r"smp_affinity|irqbalance|set_irq_affinity",
    "aspm": r"pcie_aspm|l1_aspm",
    "runtime": r"power/control|ATTR\{power/control\}",
    "persistence": r"nvidia-smi\b.*(-pm\b|--persistence-mode)|nvidia-persistenced(?!/)",
    "watts": r"nvidia-smi\b.*(-pl\b|--power-limit)",
    "clocks": r"nvidia-smi\b.*(-l[gm]c\b|--lock-|-ac\b|--applications-clocks)",
    "reads": r"\bsetpci\b",
}
WORDS: dict[str, tuple[str, ...]] = {
    "driver": ("amd_pstate", "intel_pstate"), "governor": ("cpufreq.default_governor",),
    "idle": ("processor.max_cstate", "intel_idle.max_cstate", "idle", "cpuidle.off"),
    "smt": ("nosmt",), "thp": ("transparent_hugepage",), "swap": ("zram",), "isolated": ("isolcpus", "nohz_full"),
    "hugepages": ("hugepages", "hugepagesz", "default_hugepagesz"), "zswap": ("zswap.enabled",),
    "irq": ("irqaffinity", "threadirqs"), "aspm": ("pcie_aspm", "pcie_aspm.policy"), "mitigations": ("mitigations",),
    "iommu": ("iommu", "amd_iommu", "intel_iommu", "iommu.passthrough", "iommu.strict"),
}
UNDOES = ("ExecStop", "ExecStopPost")


@record(frozen=True)
class Line:
    """A recorded line that tunes something when it runs."""

    where: str  # file:line
    text: str
    by: str = ""  # what runs it, and whether that is enabled


class Sources:
    """All recorded lines of one snapshot, to be asked by topic."""

    def __init__(self, snapshot: Snapshot) -> None:
        units = snapshot.table("units")
        self.lines = [*_commands(units), *_scripts(units), *_jobs(units), *_rules(units), *_settings(units)]
        self._words = snapshot.table("cmdline").get("parameters", {})
        self._sysctl = snapshot.table("sysctl").get("settings", {})

    def of(self, topic: str, *keys: str) -> list[str]:
        """What may set TOPIC, and which files set the sysctls KEYS."""
        pattern = re.compile(TOPICS.get(topic, r"(?!)"), re.IGNORECASE)
        found = [f"{line.where} {line.text}{line.by}" for line in self.lines if pattern.search(line.text)]
        found += [f"command line {name if value is True else f'{name}={value}'}" for name in WORDS.get(topic, ())
                  for value in self._words.get(name, ())]
        found += [f"{origin(wins)} {key} = {wins['value']}" for key in keys if (wins := winner(self._sysctl.get(key)))]
        return list(dict.fromkeys(found))


    def sysctl(self, key: str) -> list[str]:
        """Recorded lines, other than those of sysctl.d, that name the sysctl KEY."""
        path = f"/proc/sys/{key.replace('.', '/')}"
        named = re.compile(rf"(?<![\w.]){re.escape(key)}(?![\w.])|{re.escape(path)}(?![\w/])")
        return [f"{line.where} {line.text}{line.by}" for line in self.lines if named.search(line.text)]


def winner(setting: Table | None) -> Table | None:
    """The assignment of a sysctl that counts at boot."""
    found = setting or {}
    return found.get("systemd") or found.get("procps") or found.get("cmdline")


def state(units: Table, name: str) -> str:
    """Whether a unit starts at boot, and what it is now: "enabled, active"; nothing of a unit that is not recorded."""
    unit = units.get("units", {}).get(name, {})
    return ", ".join(filter(None, (unit.get("state"), unit.get("runtime", {}).get("active"))))


def _by(units: Table, names: list[str]) -> str:
    """What runs a line, and whether it does."""
    return f" ({'; '.join(f'{name} {state(units, name)}'.strip() for name in names)})"


def _commands(units: Table) -> Iterator[Line]:
    for name, unit in units.get("units", {}).items():
        for command in unit.get("commands", ()):
            if command["key"] not in UNDOES and command.get("tools"):
                own = command["origin"]["file"].endswith(f"/{name}")
                yield Line(origin(command), command["text"], f" ({state(units, name)})" if own else _by(units, [name]))


def _scripts(units: Table) -> Iterator[Line]:
    for script in units.get("scripts", {}).values():
        for line in script["lines"]:
            yield Line(origin(line), line["text"], _by(units, script["called_by"]))


def _jobs(units: Table) -> Iterator[Line]:
    for jobs in units.get("cron", {}).values():
        for job in jobs:
            yield Line(origin(job), job["text"], f" (cron {job['schedule']})")


def _rules(units: Table) -> Iterator[Line]:
    for rules in units.get("udev", {}).values():
        for rule in rules:
            yield Line(origin(rule), ", ".join(rule["set"]), " (udev)")
    for path, entries in units.get("tmpfiles", {}).items():
        for entry in entries:
            yield Line(origin(entry), f"{path} {entry.get('argument', '')}".rstrip(), " (tmpfiles)")


def _settings(units: Table) -> Iterator[Line]:
    tuned = units.get("tuned", {})
    for options in tuned.get("sections", {}).values() if tuned.get("active") else ():
        for name, setting in options.items():
            yield Line(origin(setting), f"{name}={setting['value']}", " (tuned)")
    for variables in units.get("settings", {}).values():
        for name, setting in variables.items():
            yield Line(origin(setting), f"{name}={setting['value']}")
