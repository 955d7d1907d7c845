"""CPU frequency scaling, from /sys/devices/system/cpu/cpufreq.

Documentation/admin-guide/pm/cpufreq.rst, amd-pstate.rst, intel_pstate.rst; drivers/cpufreq/cpufreq.c.

A policy stands for the CPUs that change together and is named after one of them; the others link to it
(cpuN/cpufreq), old kernels have the files there. Driver, governors that can be chosen and EPP words are the same for
all policies, so they are read of one. ``boost`` is global under acpi-cpufreq, each policy's own under amd_pstate, both
in late kernels; ``cpb`` is AMD's older name of it; intel_pstate has ``no_turbo``. A policy whose CPUs are all offline
says EBUSY and is not asked. Current frequencies are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..errors import AbsentError
from ..records import record
from ..sections.base import collapse
from ..sections.cpufreq import AmdPstate, Cpufreq, IntelPstate
from .attributes import integer
from .base import Reading, Reads
from .kernel_values import CPU, CPU_PATHS, each_cpu, online, parse_switch, parse_word, parse_words, value

T = TypeVar("T")
POLICIES = f"{CPU}/cpufreq"
AMD, INTEL = f"{CPU}/amd_pstate", f"{CPU}/intel_pstate"
_FILES = (
    "scaling_driver", "scaling_governor", "scaling_available_governors", "scaling_min_freq", "scaling_max_freq",
    "cpuinfo_min_freq", "cpuinfo_max_freq", "bios_limit", "boost", "cpb", "energy_performance_preference",
    "energy_performance_available_preferences",
)
READS = Reads(
    paths=(
        *(f"{folder}/{name}" for folder in (f"{POLICIES}/policy*", f"{CPU}/cpu*/cpufreq") for name in _FILES),
        *CPU_PATHS, f"{CPU}/cpu*/acpi_cppc",
        POLICIES, f"{POLICIES}/policy*", f"{CPU}/cpu*/cpufreq", f"{POLICIES}/boost",
        AMD, f"{AMD}/status", f"{AMD}/prefcore",
        INTEL, f"{INTEL}/status", f"{INTEL}/min_perf_pct", f"{INTEL}/max_perf_pct", f"{INTEL}/hwp_dynamic_boost",
        f"{INTEL}/no_turbo",
    ),
)


@record(frozen=True)
class _Policies:
    """The folder of each CPU's policy, and the names of the files that a policy has."""

    reading: Reading
    folders: dict[int, str]
    names: frozenset[str]

    def words(self, file: str, fact: str) -> dict[str, str] | None:
        return collapse(self.each(file, parse_word, fact)) or None

    def numbers(self, file: str, fact: str) -> dict[str, str] | None:
        return collapse(self.each(file, integer, fact)) or None

    def each(self, file: str, parse: Callable[[str], T], fact: str) -> dict[int, T]:
        if file not in self.names:
            return {}
        paths = {cpu: f"{folder}/{file}" for cpu, folder in self.folders.items()}
        return each_cpu(self.reading, paths, parse, fact)

    def one(self, file: str, parse: Callable[[str], T], fact: str) -> T | None:
        """Of the first policy: what is the same for all."""
        folder = next(iter(self.folders.values()), None)
        return value(self.reading, parse, f"{folder}/{file}", fact) if folder else None


def collect(reading: Reading) -> Cpufreq:
    """The section. AbsentError when no CPU has a policy and neither vendor's driver shows itself."""
    cpus = online(reading)
    policies = _policies(reading, cpus)
    amd, intel = _amd(reading), _intel(reading)
    if cpus and not (policies.folders or amd or intel or reading.unreads):
        raise AbsentError(f"{POLICIES} has no policy: no frequency driver is in use")
    boost, boost_from = _boost(policies)
    return Cpufreq(
        driver=_driver(policies),
        cppc=bool(reading.stat(f"{CPU}/cpu{cpus[0]}/acpi_cppc", "cppc")) if cpus else None,
        governor=policies.words("scaling_governor", "governor"),
        governors=policies.one("scaling_available_governors", parse_words, "governors"),
        epp=policies.words("energy_performance_preference", "epp"),
        epps=policies.one("energy_performance_available_preferences", parse_words, "epps"),
        min_khz=policies.numbers("scaling_min_freq", "min_khz"),
        max_khz=policies.numbers("scaling_max_freq", "max_khz"),
        hardware_min_khz=policies.numbers("cpuinfo_min_freq", "hardware_min_khz"),
        hardware_max_khz=policies.numbers("cpuinfo_max_freq", "hardware_max_khz"),
        bios_limit_khz=policies.numbers("bios_limit", "bios_limit_khz"),
        boost=boost, boost_from=boost_from, amd_pstate=amd, intel_pstate=intel,
    )


def _policies(reading: Reading, cpus: list[int]) -> _Policies:
    """Of the online CPUs. A policy that has a CPU's name is the CPU's."""
    named = set(reading.list(POLICIES))
    folders: dict[int, str] = {}
    for cpu in cpus:
        if f"policy{cpu}" in named:
            folders[cpu] = f"{POLICIES}/policy{cpu}"
        elif folder := _linked(reading, cpu):
            folders[cpu] = folder
        elif cpu == cpus[0] and not named:
            break  # no driver: the others have none either
    names = reading.list(next(iter(folders.values()))) if folders else []
    return _Policies(reading, folders, frozenset(names))


def _linked(reading: Reading, cpu: int) -> str | None:
    """The policy that a CPU's cpufreq leads to, or that folder itself where it is none."""
    folder = f"{CPU}/cpu{cpu}/cpufreq"
    if target := reading.readlink(folder):
        return f"{POLICIES}/{target.rpartition('/')[2]}"
    return folder if reading.stat(folder) else None


def _driver(policies: _Policies) -> str | None:
    driver = policies.one("scaling_driver", parse_word, "driver")
    if driver is None and policies.folders:
        policies.reading.settle(False, POLICIES, "the policies cannot be looked at")
    return driver


def _boost(policies: _Policies) -> tuple[dict[str, str] | None, list[str] | None]:
    """Whether each CPU may boost, and the files that say so."""
    reading, name = policies.reading, "cpb" if "boost" not in policies.names else "boost"
    found = policies.each(name, parse_switch, "boost")
    whole = value(reading, parse_switch, f"{POLICIES}/boost", "boost")
    turbo_off = value(reading, parse_switch, f"{INTEL}/no_turbo", "boost")
    said = [word for word, known in (
        ("cpufreq/boost", whole is not None), ("intel_pstate/no_turbo", turbo_off is not None),
        (f"cpufreq/policy*/{name}", found),
    ) if known]
    reading.depends(("boost",), ("boost_from",))
    allowed = whole is not False and not turbo_off
    cpus = policies.folders if whole is not None or turbo_off is not None else found
    return collapse({cpu: allowed and found.get(cpu, True) for cpu in cpus}) or None, said or None


def _amd(reading: Reading) -> AmdPstate | None:
    if not reading.stat(AMD, "amd_pstate"):
        return None
    return AmdPstate(
        status=value(reading, parse_word, f"{AMD}/status", "amd_pstate", "status"),
        prefcore=value(reading, parse_switch, f"{AMD}/prefcore", "amd_pstate", "prefcore"),
    )


def _intel(reading: Reading) -> IntelPstate | None:
    fact = "intel_pstate"
    if not reading.stat(INTEL, fact):
        return None
    return IntelPstate(
        status=value(reading, parse_word, f"{INTEL}/status", fact, "status"),
        min_perf_percent=value(reading, integer, f"{INTEL}/min_perf_pct", fact, "min_perf_percent"),
        max_perf_percent=value(reading, integer, f"{INTEL}/max_perf_pct", fact, "max_perf_percent"),
        hwp_dynamic_boost=value(reading, parse_switch, f"{INTEL}/hwp_dynamic_boost", fact, "hwp_dynamic_boost"),
    )
