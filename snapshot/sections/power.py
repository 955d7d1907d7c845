"""Power management that costs latency or speed, beside cpufreq and cpuidle."""

from .base import CpuInts, CpuWords, Model, field


class Limit(Model):
    """One constraint of a power zone."""

    power_uw: int | None = field(default=None, description="highest average power, microwatts")
    window_us: int | None = field(default=None, description="time over which the average is taken, microseconds")


class Zone(Model):
    """A power zone (RAPL)."""

    name: str | None = field(default=None, description="package-0, core, dram, psys, ...")
    enabled: bool | None = field(default=None, description="the limits are in force")
    limits: dict[str, Limit] | None = field(default=None, description="by name: long_term, short_term, peak_power")


class Power(Model):
    """Runtime power management, PM QoS, ASPM policy, profiles and power limits."""

    runtime_pm: dict[str, str] | None = field(
        default=None, description="PCI address -> on (never suspended by itself) or auto (suspended when idle)"
    )
    autosuspend_ms: dict[str, int] | None = field(
        default=None, description="PCI address -> idle time before it is suspended, milliseconds; of those at auto that"
        " use it; negative: never"
    )
    resume_latency_us: dict[str, str] | None = field(
        default=None, description="PCI address -> PM QoS limit on the resume latency, microseconds; 0: none, n/a: no"
        " latency at all"
    )
    cpu_resume_latency_us: CpuWords | None = field(
        default=None, description="PM QoS limit on the exit latency of idle states, microseconds; 0: none, n/a: no"
        " latency at all"
    )
    energy_perf_bias: CpuInts | None = field(default=None, description="Intel's hint, 0 performance to 15 powersave")
    aspm_policy: str | None = field(
        default=None, description="pcie_aspm: default, performance, powersave or powersupersave"
    )
    mem_sleep: str | None = field(default=None, description="what suspend does: s2idle, shallow or deep")
    platform_profile: str | None = field(default=None, description="ACPI platform profile")
    zones: dict[str, Zone] | None = field(
        default=None, description="power zones by powercap's name: intel-rapl:0 (of AMD too)"
    )
