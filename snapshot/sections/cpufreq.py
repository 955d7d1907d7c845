"""CPU frequency scaling."""

from typing import Annotated

from .base import EVIDENCE, CpuFlags, CpuInts, CpuWords, Model, field


class AmdPstate(Model):
    """The driver amd_pstate."""

    status: str | None = field(default=None, description="active, passive, guided or disable")
    prefcore: bool | None = field(default=None, description="preferred cores are made use of")


class IntelPstate(Model):
    """The driver intel_pstate; its no_turbo stands in boost."""

    status: str | None = field(default=None, description="active, passive or off")
    min_perf_percent: int | None = field(default=None, description="lowest performance, percent of the highest with turbo")
    max_perf_percent: int | None = field(default=None, description="highest performance, percent of the highest with turbo")
    hwp_dynamic_boost: bool | None = field(default=None, description="raises the floor for tasks that waited for I/O")


class Cpufreq(Model):
    """/sys/devices/system/cpu/cpufreq, of the online CPUs."""

    driver: str | None = field(default=None, description="acpi-cpufreq, amd-pstate-epp (active mode), intel_pstate, ...")
    cppc: bool | None = field(
        default=None, description="the kernel found CPPC (_CPC) in the firmware for the first CPU; amd_pstate needs that"
    )
    governor: CpuWords | None = field(
        default=None, description="in the active mode of amd_pstate and intel_pstate powersave is no slow one: epp decides"
    )
    governors: list[str] | None = field(default=None, description="those that can be chosen now, sorted")
    epp: CpuWords | None = field(default=None, description="energy performance preference, a word or a number")
    epps: list[str] | None = field(default=None, description="preferences that can be chosen, sorted")
    min_khz: CpuInts | None = field(default=None, description="lower limit asked for, kHz")
    max_khz: CpuInts | None = field(default=None, description="upper limit asked for, kHz")
    hardware_min_khz: CpuInts | None = field(default=None, description="lowest frequency, kHz")
    hardware_max_khz: CpuInts | None = field(
        default=None, description="highest frequency, kHz; with boost under amd-pstate, mostly without under acpi-cpufreq"
    )
    bios_limit_khz: CpuInts | None = field(default=None, description="upper limit that the firmware sets, kHz")
    boost: CpuFlags | None = field(
        default=None, description="boost (turbo) is allowed: by the policy and globally, where either can be told"
    )
    boost_from: Annotated[list[str] | None, EVIDENCE] = field(
        default=None, description="files that say so, below /sys/devices/system/cpu; policy* is each policy's own"
    )
    amd_pstate: AmdPstate | None = field(default=None, description="missing when that driver is not registered")
    intel_pstate: IntelPstate | None = field(default=None, description="missing when the kernel has not found it usable")
