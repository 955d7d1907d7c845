"""Power management, from /sys/bus/pci/devices/*/power, /sys/devices/system/cpu/cpu*/power, /sys/class/powercap.

Documentation/ABI/testing/sysfs-devices-power, sysfs-class-powercap, sysfs-platform_profile, sysfs-power;
Documentation/power/pm_qos_interface.rst; drivers/base/power/sysfs.c.

In pm_qos_resume_latency_us 0 is no limit and n/a is the strictest one. autosuspend_delay_ms says EIO where the driver
does not use it. /dev/cpu_dma_latency, the limit for all CPUs, lasts as long as somebody has it open: opening it to
look would ask for one, so it is left alone. Energy counters are left out.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import TypeVar

from ..sections.base import collapse
from ..sections.power import Limit, Power, Zone
from .attributes import Attributes, integer, marked
from .base import Reading, Reads
from .kernel_values import CPU, CPU_PATHS, each_cpu, online, parse_word, value
from .pci_sysfs import ADDRESS, DEVICES

T = TypeVar("T", int, str)
ASPM, SLEEP = "/sys/module/pcie_aspm/parameters/policy", "/sys/power/mem_sleep"
PROFILE = "/sys/firmware/acpi/platform_profile"
ZONES = "/sys/class/powercap"
LATENCY, BIAS = "pm_qos_resume_latency_us", "energy_perf_bias"
READS = Reads(
    paths=(
        ASPM, SLEEP, PROFILE, *CPU_PATHS, f"{CPU}/cpu*/power/{LATENCY}", f"{CPU}/cpu*/power/{BIAS}",
        "/sys/bus", DEVICES, *(f"{DEVICES}/*/power/{name}" for name in ("control", "autosuspend_delay_ms", LATENCY)),
        ZONES, f"{ZONES}/*", f"{ZONES}/*/name", f"{ZONES}/*/enabled",
        *(f"{ZONES}/*/constraint_*_{name}" for name in ("name", "power_limit_uw", "time_window_us")),
    ),
)


def collect(reading: Reading) -> Power:
    """The section."""
    cpus = online(reading, "cpu_resume_latency_us")
    addresses = _addresses(reading)
    control = _each(reading, addresses, "runtime_pm", Attributes.text, "control")
    for address in ((), *((address,) for address in addresses)):
        reading.depends(("runtime_pm", *address), ("autosuspend_ms", *address))
    idle = [address for address, word in control.items() if word == "auto"]
    return Power(
        runtime_pm=control or None,
        autosuspend_ms=_each(reading, idle, "autosuspend_ms", Attributes.integer, "autosuspend_delay_ms") or None,
        resume_latency_us=_each(reading, addresses, "resume_latency_us", Attributes.text, LATENCY) or None,
        cpu_resume_latency_us=_cpus(reading, cpus, LATENCY, parse_word, "cpu_resume_latency_us"),
        energy_perf_bias=_cpus(reading, cpus, BIAS, integer, BIAS),
        aspm_policy=value(reading, marked, ASPM, "aspm_policy"),
        mem_sleep=value(reading, marked, SLEEP, "mem_sleep"),
        platform_profile=value(reading, parse_word, PROFILE, "platform_profile"),
        zones=_zones(reading) or None,
    )


def _addresses(reading: Reading) -> list[str]:
    found = [name for name in reading.list(DEVICES, "runtime_pm") if ADDRESS.fullmatch(name)]
    if not found and not reading.list("/sys/bus", "runtime_pm"):
        reading.settle(False, DEVICES, "ENOENT", "runtime_pm")
    return found


def _each(
    reading: Reading, addresses: list[str], fact: str, read: Callable[[Attributes, str, str], T | None], file: str
) -> dict[str, T]:
    """The value of each function that has one. EIO of autosuspend_delay_ms says that it is not used."""
    none = (errno.EIO,) if fact == "autosuspend_ms" else ()
    values = ((a, read(Attributes(reading, f"{DEVICES}/{a}/power", (fact,), none), file, a)) for a in addresses)
    return {address: found for address, found in values if found is not None}


def _cpus(
    reading: Reading, cpus: list[int], file: str, parse: Callable[[str], T], fact: str
) -> dict[str, str] | None:
    """The value of each CPU; what the first does not have none has."""
    if not cpus or value(reading, parse, f"{CPU}/cpu{cpus[0]}/power/{file}", fact) is None:
        return None
    return collapse(each_cpu(reading, {n: f"{CPU}/cpu{n}/power/{file}" for n in cpus}, parse, fact)) or None


def _zones(reading: Reading) -> dict[str, Zone]:
    return {name: _zone(reading, name) for name in reading.list(ZONES, "zones") if ":" in name}


def _zone(reading: Reading, name: str) -> Zone:
    fact = ("zones", name)
    own = Attributes(reading, f"{ZONES}/{name}", fact, (errno.ENODATA,))
    limits = {}
    for file in reading.list(own.folder, *fact, "limits"):
        number = file.removeprefix("constraint_").removesuffix("_name")
        if number.isdecimal() and (limit := own.text(file, "limits")):
            part = Attributes(reading, own.folder, (*fact, "limits", limit), own.none)
            limits[limit] = Limit(
                power_uw=part.integer(f"constraint_{number}_power_limit_uw", "power_uw"),
                window_us=part.integer(f"constraint_{number}_time_window_us", "window_us"),
            )
    return Zone(name=own.text("name", "name"), enabled=own.flag("enabled", "enabled"), limits=limits or None)
