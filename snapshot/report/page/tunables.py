"""The tunables of a host as they are now: CPUs, idle states, memory, GPUs, interrupts, power."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...document import Snapshot
from ...records import record
from ..paper import plural
from ..taken import gpus
from .figures import hertz, on, per_cpu, said, size, times, watts

Table = Mapping[str, Any]


@record(frozen=True)
class Fact:
    """A line of the chapter."""

    label: str
    value: str | None
    topic: str = ""  # whose sources are said
    path: tuple[str, ...] = ()  # section and keys of the fact, to tell unknown from not there
    keys: tuple[str, ...] = ()  # sysctls that set it too


def tunables(snapshot: Snapshot) -> Iterator[Fact]:
    """Every tunable but sysctls and module options, whether it has a value or not."""
    yield from _cpu(snapshot.table("cpu"))
    yield from _frequency(snapshot.table("cpufreq"))
    yield from _idle(snapshot.table("cpuidle"), snapshot.table("power").get("cpu_resume_latency_us", {}))
    yield from _memory(snapshot.table("memory"))
    yield from _cards(snapshot)
    yield from _interrupts(snapshot.table("irq"), snapshot.table("iommu"))
    yield from _power(snapshot.table("power"))


def _cpu(cpu: Table) -> Iterator[Fact]:
    yield Fact("SMT", said(cpu.get("smt", {}), "control"), "smt", ("cpu", "smt"))
    lists = (f"{name} {cpu[name]}" for name in ("online", "offline", "isolated", "nohz_full") if cpu.get(name))
    yield Fact("CPUs", ", ".join(lists), "isolated", ("cpu", "online"))
    yield Fact("microcode", per_cpu(cpu.get("microcode")), path=("cpu", "microcode"))
    flaws = cpu.get("vulnerabilities", {})
    # "KVM: Mitigation: ...", "Vulnerable: no microcode", "Vulnerable; SMT disabled" (arch/x86/kernel/cpu/bugs.c)
    words = {name: re.split("[:;]", text.removeprefix("KVM: "))[0].lower() for name, text in flaws.items()}
    bare = " ".join(name for name, word in words.items() if word == "vulnerable")
    states = [f"{count} {word}{f' ({bare})' if word == 'vulnerable' else ''}" for word, count in
              Counter(words.values()).items()]
    yield Fact("CPU flaws", ", ".join(states), "mitigations", ("cpu", "vulnerabilities"))


def _frequency(table: Table) -> Iterator[Fact]:
    states = (said(table.get(name, {}), "status", f"{name} ") for name in ("amd_pstate", "intel_pstate"))
    yield Fact("frequency", _joined(said(table, "driver", "driver "), on(table, "cppc", "CPPC"), *states),
               "driver", ("cpufreq", "driver"))
    yield Fact("governor", per_cpu(table.get("governor")), "governor", ("cpufreq", "governor"))
    yield Fact("EPP", per_cpu(table.get("epp")), "epp", ("cpufreq", "epp"))
    yield Fact("boost", per_cpu(table.get("boost"), {"true": "on", "false": "off"}.get), "boost", ("cpufreq", "boost"))
    low, high, top = (per_cpu(table.get(name), hertz) for name in ("min_khz", "max_khz", "hardware_max_khz"))
    more = f", hardware up to {top}" if top not in (None, high) else ""
    yield Fact("limits", f"{low or '?'} to {high or '?'}{more}" if low or high else None,
               "limits", ("cpufreq", "max_khz"))


def _idle(table: Table, latency: Table) -> Iterator[Fact]:
    states = (_state(name, state) for name, state in table.get("states", {}).items())
    yield Fact("idle states", _joined(said(table, "driver", "driver "), said(table, "governor", "governor "), *states),
               "idle", ("cpuidle", "states"))
    asked = {value: where for value, where in latency.items() if value != "0"}
    yield Fact("PM QoS", per_cpu(asked, "latency limit {} us".format))


def _state(name: str, state: Table) -> str:
    off = state.get("disabled", {}).get("true")
    only = f" on {off}" if off and len(state["disabled"]) > 1 else ""
    return f"{name}{said(state, 'latency_us', ' ', ' us') or ''}{f' DISABLED{only}' if off else ''}"


def _memory(table: Table) -> Iterator[Fact]:
    thp, ksm, zswap, swaps = (table.get(name, {}) for name in ("thp", "ksm", "zswap", "swaps"))
    yield Fact("huge pages", ", ".join(_pools(table)), "hugepages", ("memory", "hugepages"),
               ("vm.nr_hugepages", "vm.nr_overcommit_hugepages"))
    yield Fact("THP", _joined(thp.get("enabled"), said(thp, "defrag", "defrag "), said(thp, "shmem_enabled", "shmem ")),
               "thp", ("memory", "thp"))
    running = {0: "stopped", 1: "running", 2: "stopped and unmerged"}.get(ksm.get("run", -1))
    yield Fact("KSM", running, "ksm", ("memory", "ksm"))
    areas = (f"{name} {size(swap['size_bytes'])}" for name, swap in swaps.items())
    yield Fact("swap", ", ".join(areas) or ("none" if "swaps" in table else None), "swap", ("memory", "swaps"))
    if zswap.get("enabled"):
        most = said(zswap, "max_pool_percent", "up to ", " percent")
        yield Fact("zswap", _joined("on", zswap.get("compressor"), most), "zswap")


def _pools(table: Table) -> Iterator[str]:
    for name, pool in table.get("hugepages", {}).items():
        nodes = [node.get("hugepages", {}).get(name, {}).get("pages") for node in table.get("nodes", {}).values()]
        split = f" ({'/'.join(map(str, nodes))} by node)" if any(nodes) and len(nodes) > 1 and None not in nodes else ""
        yield f"{pool.get('pages', '?')} of {name}{split}"


def _cards(snapshot: Snapshot) -> Iterator[Fact]:
    states = [gpu["state"] for gpu in snapshot.table("nvidia").get("gpus", {}).values() if "state" in gpu]
    yield Fact("GPU persistence", _each(on(state, "persistence", "") for state in states), "persistence")
    yield Fact("GPU power limit", _each(_limit(state.get("power", {})) for state in states), "watts")
    clocks = (state.get("application_clocks", {}) for state in states)
    words = (said(clock, "graphics_mhz", "application clock ", " MHz") for clock in clocks)
    yield Fact("GPU clocks", _each(words), "clocks")
    functions = snapshot.table("pci").get("functions", {})
    reads = (said(functions[a].get("express", {}), "max_read_request_bytes") for a in gpus(functions))
    yield Fact("GPU MaxReadReq", _each(reads), "reads")


def _limit(power: Table) -> str | None:
    if "limit_mw" not in power:
        return None
    default = power.get("default_mw")
    return watts(power["limit_mw"]) + (f" ({watts(default)} by default)" if default is not None else "")


def _each(values: Iterable[str | None]) -> str:
    return ", ".join(times(filter(None, values)))


def _interrupts(irq: Table, iommu: Table) -> Iterator[Fact]:
    words = {True: "irqbalance runs", False: "irqbalance does not run"}
    daemon = words.get(irq.get("irqbalance", {}).get("running"))
    yield Fact("interrupts", _joined(said(irq, "default_affinity", "default CPUs "), daemon),
               "irq", ("irq", "default_affinity"))
    groups = (f"{count} groups {kind}" for kind, count in Counter(iommu.get("groups", {}).values()).items())
    remapping = on(iommu, "interrupt_remapping", "interrupt remapping")
    yield Fact("IOMMU", _joined(on(iommu, "enabled", ""), *groups, remapping), "iommu", ("iommu", "enabled"))


def _power(power: Table) -> Iterator[Fact]:
    yield Fact("ASPM policy", power.get("aspm_policy"), "aspm", ("power", "aspm_policy"))
    words = {"on": "always on", "auto": "may be suspended"}
    states = Counter(power.get("runtime_pm", {}).values())
    yield Fact("runtime PM", ", ".join(f"{plural(n, 'function')} {words.get(k, k)}" for k, n in states.items()),
               "runtime", ("power", "runtime_pm"))
    yield Fact("profile", power.get("platform_profile"))


def _joined(*facts: str | None) -> str:
    return ", ".join(filter(None, facts))
