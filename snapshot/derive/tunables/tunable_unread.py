"""Which tunables cannot be judged because their live value was not read: keys of rows, or what keys begin with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .tunable import Path
from .tunable_devices import QUEUE
from .tunable_gpus import FILES as AMD_FILES
from .tunable_gpus import OPTIONS
from .tunable_net import FILES as NET_FILES
from .tunable_net import GROUPS, LINK
from .tunable_pci import FIELDS

if TYPE_CHECKING:
    from ...document import Snapshot

Names = Mapping[Path, str]  # where a value stands -> how its row's key goes on; + stands for the keys below

_TOP: dict[str, dict[str, Names]] = {  # section -> kind -> names
    "memory": {
        "thp": {("thp",): "transparent_hugepage/+"}, "ksm": {("ksm",): "ksm/+"}, "swap": {("swaps",): ""},
        "memory": {("lru_gen",): "lru_gen/enabled", ("lru_gen_min_ttl_ms",): "lru_gen/min_ttl_ms",
                   ("numa_demotion",): "numa/demotion_enabled"},
    },
    "cpufreq": {"cpufreq": {
        ("governor",): "scaling_governor ", ("epp",): "energy_performance_preference ", ("boost",): "boost ",
        ("max_khz",): "scaling_max_freq ", ("min_khz",): "scaling_min_freq ",
        ("amd_pstate",): "amd_pstate/+", ("intel_pstate",): "intel_pstate/+",
    }},
    "cpu": {"cpufreq": {("smt",): "smt/control"}},
    "power": {"power": {
        ("aspm_policy",): "pcie_aspm/policy", ("mem_sleep",): "mem_sleep", ("platform_profile",): "platform_profile",
        ("cpu_resume_latency_us",): "pm_qos_resume_latency_us ", ("energy_perf_bias",): "energy_perf_bias ",
    }},
    "nvidia": {"module": {("driver", "parameters"): "nvidia.NVreg_+"}},
    "kernel": {"kernel": {("clocksource",): "clocksource", ("preempt",): "preempt"}},
    "irq": {"irq": {("default_affinity",): "default_smp_affinity"}},
}
_ITEMS: dict[tuple[str, str], tuple[str, Names]] = {  # section and table -> kind, and names by place in an item
    ("sysctl", "values"): ("sysctl", {}),
    ("cpuidle", "states"): ("cpuidle", {("disabled",): "disable"}),
    ("memory", "hugepages"): ("hugepages", {("pages",): "nr_hugepages", ("overcommit",): "nr_overcommit_hugepages"}),
    ("memory", "nodes"): ("hugepages", {("hugepages",): ""}),
    ("modules", "loaded"): ("module", {("parameters",): "+"}),
    ("modules", "builtin"): ("module", {("parameters",): "+"}),
    ("irq", "devices"): ("irq", {}),
    ("irq", "other"): ("irq", {("affinity",): "smp_affinity"}),
    ("pci", "functions"): ("pci", {field.keys: field.name for field in FIELDS}),
    ("power", "runtime_pm"): ("power", {(): "power/control"}),
    ("nvidia", "gpus"): ("nvidia", {keys: name for name, (keys, _) in OPTIONS.items() if not name.startswith("lock-")}),
    ("amdgpu", "gpus"): ("amdgpu", {
        **{(name,): file for name, file in AMD_FILES.items()}, ("power_cap_mw",): "power1_cap"}),
    ("net", "interfaces"): ("net", {
        **{(field,): name for name, field in (*LINK.items(), *NET_FILES.items())},
        **{(field,): f"{group}/+" for group, field in GROUPS.items()}}),
    ("storage", "blocks"): ("block", {("queue", field): file for file, field in QUEUE.items()}),
}
_JOINTS = {"cpuidle": "/", "module": "."}  # between an item and the name; " " elsewhere
SECTIONS = tuple(dict.fromkeys([*_TOP, *(section for section, _ in _ITEMS)]))


def unread(snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    """What could not be judged, in the form of ``Derived.unknown``."""
    for section in SECTIONS:
        if whole := snapshot.unread(section, ()):
            yield from (_row(subject, whole.source, whole.why) for subject in _whole(section))
            continue
        for fact in snapshot.outcomes[section].unread or ():
            for subject in _subjects(snapshot, section, tuple(fact.path)):
                yield _row(subject, fact.source, fact.why)


def _whole(section: str) -> dict[str, None]:
    """The beginnings of all keys whose values stand in a section."""
    if section == "nvidia":
        return dict.fromkeys(["nvidia ", "module nvidia.NVreg_"])
    kinds = [*_TOP.get(section, {}), *(kind for (name, _), (kind, _) in _ITEMS.items() if name == section)]
    return dict.fromkeys(f"{kind} " for kind in kinds)


def _row(subject: str, source: str, why: str) -> dict[str, Any]:
    return {"subject": subject, "what": "what it is now", "source": source, "why": why}


def _subjects(snapshot: Snapshot, section: str, path: Path) -> Iterator[str]:
    """The keys of rows, or beginnings of keys, whose live values an unread fact is."""
    for kind, names in _TOP.get(section, {}).items():
        yield from (f"{kind} {name}" for name in _matching(names, path))
    if path and (section, path[0]) in _ITEMS:
        kind, names = _ITEMS[section, path[0]]
        yield from _of_item(kind, names, path, snapshot.table(section).get(path[0], {}))


def _of_item(kind: str, names: Names, path: Path, items: Mapping[str, Any]) -> Iterator[str]:
    """Of an item of a keyed table; interfaces and disks go by their names."""
    if len(path) < 2 or path[0] == "nodes":
        yield from [f"{kind} "] if path[0] != "nodes" or path[2:3] in ((), ("hugepages",)) else []
        return
    item = items.get(path[1], {}).get("name", path[1]) if kind in ("net", "block") else path[1]
    start, rest = f"{kind} {item}{_JOINTS.get(kind, ' ')}", path[2:]
    if kind == "sysctl":
        yield f"{kind} {item}"
    elif path[0] == "devices" and rest:
        yield from [f"{start}{rest[0]} smp_affinity"] if rest[1:] in ((), ("affinity",)) else []
    elif rest or () in names:
        yield from (start + name for name in _matching(names, rest))
    else:
        yield start


def _matching(names: Names, path: Path) -> Iterator[str]:
    """Names of what stands at PATH, below it or above it."""
    for keys, name in names.items():
        if path[: len(keys)] == keys:
            rest = "/".join(path[len(keys):]).replace("sizes/", "hugepages-")
            yield name.replace("+", rest)
        elif keys[: len(path)] == path:
            yield name.replace("+", "")
