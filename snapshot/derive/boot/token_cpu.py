"""Kernel parameters of CPUs, their frequency and their idle states, against sections cpu, cpufreq and cpuidle.

Documentation/admin-guide/kernel-parameters.txt, pm/amd-pstate.rst, pm/cpuidle.rst, hw-vuln/. processor.max_cstate
limits the driver acpi_idle, whose states are named C1, C2, ... by their number (acpi_processor_setup_cstates); it makes
1 of 0. intel_idle.max_cstate counts the states of its own driver, and 0 keeps that out. What counts here is what both
are for: that no deeper state is offered, whichever driver runs. Of mitigations=off spectre_v2 is the witness, because
some flaws stay mitigated all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..hardware.cpu_lists import cpus
from .token_live import Answer, Check, Live

PSTATES = {"passive": "amd-pstate", "guided": "amd-pstate", "active": "amd-pstate-epp"}
NO_DRIVER = "no cpufreq driver"
SHALLOW = ("POLL", "haltpoll")
FLAWS = {  # name=off -> file of /sys/devices/system/cpu/vulnerabilities
    "spectre_v2": "spectre_v2", "retbleed": "retbleed", "spec_rstack_overflow": "spec_rstack_overflow", "mds": "mds",
    "tsx_async_abort": "tsx_async_abort", "mmio_stale_data": "mmio_stale_data",
    "gather_data_sampling": "gather_data_sampling", "reg_file_data_sampling": "reg_file_data_sampling",
    "srbds": "srbds", "spec_store_bypass_disable": "spec_store_bypass", "pti": "meltdown",
}


def _amd_pstate(live: Live, mode: str | None) -> Answer:
    driver, status = live.value("cpufreq", "driver"), live.maybe("cpufreq", "amd_pstate", "status")
    effect = driver or NO_DRIVER
    if mode == "disable":
        return Answer("not the cpufreq driver amd-pstate", effect, not effect.startswith("amd-pstate"))
    if mode not in PSTATES:
        return Answer(f"amd_pstate={mode}", effect, False, "amd_pstate has no such mode")
    honoured = driver == PSTATES[mode] and status in (None, mode)
    return Answer(f"cpufreq driver {PSTATES[mode]} in {mode} mode", effect if status is None else f"{effect}, {status}",
                  honoured, "" if honoured else _against_pstate(live))


def _against_pstate(live: Live) -> str:
    if live.maybe("cpu", "vendor") not in (None, "AuthenticAMD"):
        return "the CPU is not AMD's"
    if live.maybe("cpufreq", "cppc") is False:
        return "the firmware offers no CPPC (_CPC), which amd_pstate needs"
    return ""


def _intel_pstate(live: Live, mode: str | None) -> Answer | None:
    driver, status = live.value("cpufreq", "driver") or NO_DRIVER, live.value("cpufreq", "intel_pstate", "status")
    if mode == "disable":
        return Answer("not the cpufreq driver intel_pstate", driver, driver not in ("intel_pstate", "intel_cpufreq"))
    if mode not in ("active", "passive"):
        return None
    why = "the CPU is not Intel's" if live.maybe("cpu", "vendor") not in (None, "GenuineIntel") else ""
    return Answer(f"intel_pstate in {mode} mode", status or driver, status == mode, why)


def _no_cpufreq(live: Live, _: str | None) -> Answer:
    driver = live.value("cpufreq", "driver")
    return Answer(NO_DRIVER, driver or NO_DRIVER, driver is None)


def _governor(live: Live, name: str | None) -> Answer:
    governors = live.value("cpufreq", "governor") or {}
    return Answer(f"governor {name} on all CPUs", ", ".join(governors) or NO_DRIVER, [*governors] == [name])


def _max_cstate(live: Live, text: str | None) -> Answer | None:
    if text is None or not re.fullmatch("[0-9]{1,2}", text):
        return None
    return _no_deeper(live, max(1, int(text)), "acpi_idle")


def _intel_idle(live: Live, text: str | None) -> Answer | None:
    if text is None or not re.fullmatch("[0-9]{1,2}", text):
        return None
    driver = live.value("cpuidle", "driver") or "none"
    if int(text) == 0:
        return Answer("not the idle driver intel_idle", driver, driver != "intel_idle")
    if driver != "intel_idle":
        return _no_deeper(live, int(text), "intel_idle")
    names = _states(live)
    return Answer(f"no more than {int(text)} idle states", _offered(live, names), len(names) <= int(text))


def _no_deeper(live: Live, most: int, owner: str) -> Answer:
    """Of states without such a number (not x86) nothing can be told; with idle=poll none of them is ever entered."""
    names, wants = _states(live), f"no idle state deeper than C{most}"
    numbers = {name: int(found[1]) for name in names if (found := re.match("C([0-9]+)", name))}
    deeper = any(numbers[name] > most or (most == 1 and name != names[0]) for name in numbers)
    if deeper and "poll" in (live.maybe("cmdline", "parameters", "idle") or ()):
        return Answer(wants, _offered(live, names), why="idle=poll: idle CPUs spin and enter no state")
    driver = live.maybe("cpuidle", "driver") or "none"
    why = f"the idle driver is {driver}, which does not take this parameter" if deeper and driver != owner else ""
    told = True if len(numbers) == len(names) else None
    return Answer(wants, _offered(live, names), False if deeper else told, why)


def _states(live: Live) -> list[str]:
    """The idle states that do more than spin, shallow ones first."""
    states = live.value("cpuidle", "states") or {}
    names = sorted(states, key=lambda key: (states[key].get("latency_us", 0), key))
    return [name for name in names if name.split()[0] not in SHALLOW]


def _offered(live: Live, names: list[str]) -> str:
    return f"{live.maybe('cpuidle', 'driver') or 'none'}: {', '.join(names) or 'no state'}"


def _no_cpuidle(live: Live, _: str | None) -> Answer:
    names = _states(live)
    return Answer("no cpuidle", _offered(live, names), not names)


def _poll(_: Live, how: str | None) -> Answer | None:
    """The states stay listed and are never entered: nothing recorded shows that."""
    return Answer("idle CPUs spin") if how == "poll" else None


def _nosmt(live: Live, _: str | None) -> Answer:
    active, control = live.value("cpu", "smt", "active"), live.value("cpu", "smt", "control")
    return Answer("one thread a core", f"SMT {control}" if control else "", None if active is None else not active)


def _at_most(of: str, key: str) -> Check:
    def check(live: Live, text: str | None) -> Answer | None:
        there = cpus(live.value("cpu", key))
        if text is None or not re.fullmatch("[0-9]{1,5}", text) or there is None:
            return None
        most = max(1, int(text))
        return Answer(f"no more than {_cpus(most)} {of}", f"{_cpus(len(there))} {of}", len(there) <= most)

    return check


def _cpus(number: int) -> str:
    return "1 CPU" if number == 1 else f"{number} CPUs"


def _cpu_list(key: str, flags: tuple[str, ...], needed: str) -> Check:
    """CPUs that section cpu has under KEY; of a list with FLAGS before it only where NEEDED is one of them."""
    def check(live: Live, text: str | None) -> Answer | None:
        words = (text or "").split(",")
        given = [word for word in words if word in flags]
        wanted = cpus(",".join(word for word in words if word not in flags))
        there, possible = cpus(live.value("cpu", key) or ""), cpus(live.maybe("cpu", "possible"))
        effect = f"{key}: {live.value('cpu', key) or 'none'}"
        if wanted is None or there is None or (given and needed not in given):  # or forms as all, N and strides
            return Answer(f"{key}: {text}", effect)
        return Answer(f"{key}: {text}", effect, (wanted & possible if possible else wanted) <= there)

    return check


def _off(flaw: str) -> Check:
    def check(live: Live, text: str | None) -> Answer | None:
        if text != "off":
            return None
        word = live.value("cpu", "vulnerabilities", flaw)
        return Answer(f"no mitigation of {flaw}", f"{flaw}: {word}" if word else "",
                      None if word is None else not word.startswith("Mitigation"))

    return check


def _mitigations(live: Live, text: str | None) -> Answer | None:
    return _off("spectre_v2")(live, text) if text == "off" else None


def _flag(check: Callable[[Live, str | None], Answer | None]) -> Check:
    """CHECK of a parameter that switches off what its name says: any value of it counts as off."""
    return lambda live, _: check(live, "off")


CHECKS: dict[str, Check] = {
    "amd_pstate": _amd_pstate, "intel_pstate": _intel_pstate, "cpufreq.off": _no_cpufreq,
    "cpufreq.default_governor": _governor, "processor.max_cstate": _max_cstate, "intel_idle.max_cstate": _intel_idle,
    "cpuidle.off": _no_cpuidle, "idle": _poll, "nosmt": _nosmt, "maxcpus": _at_most("online", "online"),
    "nr_cpus": _at_most("possible", "possible"),
    "isolcpus": _cpu_list("isolated", ("domain", "nohz", "managed_irq"), "domain"),
    "nohz_full": _cpu_list("nohz_full", (), ""), "mitigations": _mitigations,
    "nopti": _flag(_off("meltdown")), "nospectre_v2": _flag(_off("spectre_v2")),
    **{name: _off(flaw) for name, flaw in FLAWS.items()},
}
