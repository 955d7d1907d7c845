"""What tuned sets when it starts: the merged profile, by plugin.

tuned.conf(5); the plugins cpu, disk, net, sysctl, sysfs, vm and script of tuned, from whose sources are: alternatives
separated by | (the first that there is), values that begin with > or < (only when they raise or lower), that
transparent_hugepages is left alone when the command line sets it, and that the files of /run/sysctl.d, /etc/sysctl.d
and /etc/sysctl.conf are applied after [sysctl] unless reapply_sysctl is off. [bootloader] does nothing at run time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...records import record, replace
from .action import Action, Effect, Source
from .actions_nic import pairs
from .actions_paths import sysctl_key, written
from .actions_shell import Runner
from .actions_starts import Starts
from .actions_words import literal

Table = Mapping[str, Any]
_UNIT = "tuned.service"
_FALSE = ("0", "false", "no", "off", "n", "f")
_CPU = "/sys/devices/system/cpu"
_WORDS = {"governor": "governor", "energy_perf_bias": "perf-bias", "energy_performance_preference": "epp"}
_FILES = {
    ("cpu", "min_perf_pct"): f"{_CPU}/intel_pstate/min_perf_pct", ("cpu", "boost"): f"{_CPU}/cpufreq/boost",
    ("cpu", "max_perf_pct"): f"{_CPU}/intel_pstate/max_perf_pct", ("cpu", "no_turbo"): f"{_CPU}/intel_pstate/no_turbo",
    ("cpu", "pm_qos_resume_latency_us"): f"{_CPU}/cpu*/power/pm_qos_resume_latency_us",
    ("cpu", "force_latency"): "/dev/cpu_dma_latency",
    ("vm", "transparent_hugepages"): "/sys/kernel/mm/transparent_hugepage/enabled",
    ("vm", "transparent_hugepage"): "/sys/kernel/mm/transparent_hugepage/enabled",
    ("vm", "transparent_hugepage.defrag"): "/sys/kernel/mm/transparent_hugepage/defrag",
    ("net", "nf_conntrack_hashsize"): "/sys/module/nf_conntrack/parameters/hashsize",
}
_QUEUE = {"elevator": "scheduler", "readahead": "read_ahead_kb"}
_DISKS = ("sd*", "vd*", "xvd*", "nvme*")
_NIC = {"coalesce": "coalesce", "features": "offload", "pause": "pause", "ring": "ring", "channels": "channels"}
_KEPT_OUT = ("main", "variables", "bootloader", "script")
_NO_OPTION = ("type", "enabled", "devices", "devices_udev_regex", "replace", "dynamic", "priority")


@record(frozen=True)
class Profile:
    """The profile, and what of the host decides about it."""

    table: Table
    files: Mapping[str, str]  # sysctl key -> file of /etc or /run that sets it
    governors: list[str]
    thp_by_cmdline: bool


def tuned_actions(profile: Profile, starts: Starts, runner: Runner) -> Iterator[Action]:
    """What the active profile sets, when tuned.service runs."""
    missing = profile.table.get("missing")
    why_not, doubt = starts.fate(_UNIT) if _UNIT in starts.units else ("there is no tuned.service", "")
    why_not = why_not or (f"tuned does not start without the profile {missing[0]}" if missing else "")
    order = starts.order(_UNIT)
    for section, options in profile.table.get("sections", {}).items():
        kind = options["type"]["value"] if "type" in options else section
        if kind in _KEPT_OUT or ("enabled" in options and options["enabled"]["value"].lower() in _FALSE):
            continue
        for option, setting in options.items():
            source = Source("tuned", order, setting["origin"], _UNIT, doubt, why_not)
            if option not in _NO_OPTION:
                yield from map(source.action, _effects(kind, option, setting["value"], options, profile))
    for path, script in runner.scripts.items():
        if "tuned" in script["called_by"]:
            source = Source("tuned", order, {}, _UNIT, doubt, why_not)
            found = runner.script(path, (literal("start"),), "exec")
            yield from (source.action(f.effect, f.origin) for f in found)


def _effects(kind: str, option: str, written_value: str, options: Table, profile: Profile) -> Iterator[Effect]:
    value, doubt = _value(written_value, option, profile)
    named = [name for name in re.split(r"[,\s]+", options["devices"]["value"] if "devices" in options else "") if name]
    some = "devices_udev_regex" in options or any(name.startswith("!") for name in named)
    doubt = doubt or ("its devices are chosen by an expression" if some else "")
    for effect in _plain(kind, option, value, named, profile):
        yield replace(effect, doubt=doubt or effect.doubt)


def _plain(kind: str, option: str, value: str | None, named: list[str], profile: Profile) -> Iterator[Effect]:
    if kind == "sysctl":
        file = profile.files.get(sysctl_key(option))
        why_not = f"tuned applies {file} after it" if file else ""
        yield Effect("sysctl", (sysctl_key(option),), value, why_not=why_not)
    elif kind == "sysfs":
        yield written(option, value)
    elif kind == "cpu" and option in _WORDS:
        cpus = ",".join(name.removeprefix("cpu") for name in named) or "all"
        yield Effect("cpupower", (cpus, _WORDS[option]), value)
    elif (kind, option) in _FILES:
        ignored = kind == "vm" and _FILES[kind, option].endswith("enabled") and profile.thp_by_cmdline
        yield Effect("file", (_FILES[kind, option],), value, why_not="the command line sets it" if ignored else "")
    elif kind == "vm" and option.startswith("dirty_"):
        key = option.replace("_bytes", "_ratio") if value and value.endswith("%") else option
        yield Effect("sysctl", (f"vm.{key}",), value.rstrip("% ") if value else value)
    elif kind == "disk" and option in _QUEUE:
        yield from _disk(_QUEUE[option], value, named)
    elif kind == "net" and (option in _NIC or option in ("mtu", "txqueuelen")):
        yield from _nic(option, value, named)
    elif not (kind == "cpu" and option in ("load_threshold", "latency_low", "latency_high")):
        yield Effect("unknown", ("tuned", kind, option), None)


def _disk(file: str, value: str | None, named: list[str]) -> Iterator[Effect]:
    number, _, unit = (value or "").partition(" ")
    if file == "read_ahead_kb" and unit.startswith("s") and number.isdecimal():
        value = str(int(number) // 2)  # sectors
    for name in named or _DISKS:
        doubt = "tuned leaves NVMe disks alone that have several paths" if name.startswith("nvme") else ""
        yield Effect("file", (f"/sys/block/{name}/queue/{file}",), value, doubt)


def _nic(option: str, value: str | None, named: list[str]) -> Iterator[Effect]:
    for nic in named or ["*"]:
        if option in _NIC:
            words = re.split(r"[:;,\s]+", value or "")
            yield from pairs(nic, _NIC[option], [literal(word) for word in words if word])
        else:
            yield Effect("ip", (nic, option), value)


def _value(text: str, option: str, profile: Profile) -> tuple[str | None, str]:
    """(the value that is set, why it may not be)."""
    text = text.strip("\"'")
    if "$" in text:
        return None, ""
    if text[:1] in "<>" and text[1:]:
        return text[1:].strip(), f"only when it is {'more' if text[0] == '>' else 'less'} than what is set"
    if "|" in text:
        there = [word for word in text.split("|") if word in profile.governors] if option == "governor" else []
        return (there[0], "") if there else (None, "")
    return text, ""
