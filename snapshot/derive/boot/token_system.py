"""Kernel parameters of IOMMU, memory, clock, preemption and PCI, against sections iommu, memory, kernel, sysctl, power.

Documentation/admin-guide/kernel-parameters.txt. An IOMMU driver runs with iommu=pt too: the groups' type tells the
mode, and devices that are not trusted keep a DMA domain. pcie_aspm=off leaves ASPM as the firmware set it, so no
register shows it. A sysctl of a file comes after the command line and wins.
"""

from __future__ import annotations

from ..tunables.tunable_values import number, sysctl_agrees
from .token_live import Answer, Check, Live

NO_IOMMU = "no IOMMU driver runs"
PREEMPTION = ("none", "voluntary", "full", "lazy")


def _iommu(live: Live, text: str | None) -> Answer | None:
    words = (text or "").split(",")
    if "off" in words:
        return _unit(live, False)
    return _passthrough(live, "pt" in words) if {"pt", "nopt"} & {*words} else None


def _unit_switch(live: Live, text: str | None) -> Answer | None:
    """amd_iommu=, intel_iommu=: on has no meaning for AMD's, which is on by itself, but that is what is wanted."""
    words = (text or "").split(",")
    return _unit(live, "on" in words) if {"on", "off"} & {*words} else None


def _unit(live: Live, wanted: bool) -> Answer:
    enabled = live.value("iommu", "enabled")
    return Answer("an IOMMU driver runs" if wanted else NO_IOMMU, _mode(live) if enabled else NO_IOMMU,
                  None if enabled is None else enabled is wanted)


def _mode(live: Live) -> str:
    types = live.maybe("iommu", "types")
    return f"groups of type {', '.join(types)}" if types else "an IOMMU driver runs"


def _passthrough(live: Live, wanted: bool) -> Answer:
    wants = "IOMMU groups of type identity" if wanted else "IOMMU groups that translate"
    if live.value("iommu", "enabled") is False:
        return Answer(wants, NO_IOMMU)
    types = live.value("iommu", "types")
    return Answer(wants, _mode(live), None if types is None else ("identity" in types) is wanted)


def _switch(text: str | None) -> bool | None:
    return {"1": True, "y": True, "on": True, "0": False, "n": False, "off": False}.get((text or "").lower())


def _passthrough_switch(live: Live, text: str | None) -> Answer | None:
    wanted = _switch(text)
    return None if wanted is None else _passthrough(live, wanted)


def _strict(live: Live, text: str | None) -> Answer | None:
    wanted, types = _switch(text), live.value("iommu", "types")
    if wanted is None or types is None:
        return None
    return Answer(f"IOTLB flushed {'at once' if wanted else 'in batches'}", _mode(live),
                  "DMA-FQ" not in types if wanted else types != ["DMA"])


def _thp(key: str) -> Check:
    def check(live: Live, text: str | None) -> Answer:
        word = live.value("memory", "thp", key)
        what = f"transparent huge pages: {key}" if key != "enabled" else "transparent huge pages:"
        return Answer(f"{what} {text}", f"{what} {word or 'none'}", word == text)

    return check


def _word(section: str, key: str, what: str, among: tuple[str, ...] = ()) -> Check:
    """A parameter whose value is the word that section SECTION has under KEY."""
    def check(live: Live, text: str | None) -> Answer | None:
        if not text or (among and text not in among):
            return None
        word = live.value(section, key)
        return Answer(f"{what} {text}", f"{what} {word or 'none'}", word == text)

    return check


def sysctl_answer(live: Live, key: str, written: str) -> Answer:
    """Whether the sysctl KEY is what the command line asks for; a file that sets it too comes later."""
    value = live.value("sysctl", "values", key)
    if value is None:
        return Answer(f"{key} = {written}", f"there is no {key}", False, "this kernel has no such key")
    setting = live.maybe("sysctl", "settings", key, "systemd")
    honoured = sysctl_agrees(value, written)
    overruled = setting["origin"] if setting and not honoured else {}
    return Answer(f"{key} = {written}", f"{key} = {value}", honoured, overruled_by=overruled)


def _sysctl(key: str, written: str | None = None) -> Check:
    """A parameter that is a sysctl by another name; a flag stands for WRITTEN. A kernel without the key has it off."""
    def check(live: Live, text: str | None) -> Answer | None:
        wanted = written if written is not None else text
        if wanted is None or number(wanted) is None:
            return None
        if number(wanted) == 0 and live.value("sysctl", "values", key) is None:
            return Answer(f"{key} = 0", f"there is no {key}", True)
        return sysctl_answer(live, key, wanted)

    return check


def _numa_balancing(live: Live, text: str | None) -> Answer | None:
    if text not in ("enable", "disable"):
        return None
    key = "kernel.numa_balancing"
    answer = _sysctl(key, "0")(live, None)
    value = live.value("sysctl", "values", key)
    if answer is None or text == "disable":
        return answer
    return Answer(f"{key} is not 0", answer.effect, bool(value), overruled_by={} if value else answer.overruled_by)


def _peer_to_peer(live: Live, text: str | None) -> Answer | None:
    """pci= has many words; of those only pcie_bus_peer2peer promises a value that registers show."""
    if "pcie_bus_peer2peer" not in (text or "").split(","):
        return None
    told = (f.get("express", {}).get("max_payload_bytes") for f in (live.value("pci", "functions") or {}).values())
    sizes = sorted({size for size in told if size})
    return Answer("MaxPayload 128 bytes everywhere", f"MaxPayload {', '.join(map(str, sizes))} bytes" if sizes else "",
                  sizes == [128] if sizes else None)


CHECKS: dict[str, Check] = {
    "iommu": _iommu, "amd_iommu": _unit_switch, "intel_iommu": _unit_switch,
    "iommu.passthrough": _passthrough_switch, "iommu.strict": _strict,
    "transparent_hugepage": _thp("enabled"), "transparent_hugepage_shmem": _thp("shmem_enabled"),
    "clocksource": _word("kernel", "clocksource", "clock source"),
    "lockdown": _word("kernel", "lockdown", "lockdown"),
    "preempt": _word("kernel", "preempt", "preemption", PREEMPTION),
    "pcie_aspm.policy": _word("power", "aspm_policy", "ASPM policy"),
    "numa_balancing": _numa_balancing, "noautogroup": _sysctl("kernel.sched_autogroup_enabled", "0"),
    "nmi_watchdog": lambda live, text: _sysctl("kernel.nmi_watchdog")(live, text) if text == "0" else None,
    "nowatchdog": _sysctl("kernel.watchdog", "0"),
    "nosoftlockup": _sysctl("kernel.soft_watchdog", "0"), "panic": _sysctl("kernel.panic"),
    "norandmaps": _sysctl("kernel.randomize_va_space", "0"), "pci": _peer_to_peer,
    "pcie_aspm": lambda _, text: Answer("ASPM stays as the firmware set it") if text == "off" else None,
}
