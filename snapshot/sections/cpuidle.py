"""Idle states of the CPUs (C-states)."""

from .base import CpuFlags, Model, field


class State(Model):
    """One idle state that the driver offers. A state that is not listed cannot be entered, as if disabled."""

    description: str | None = field(default=None, description="the driver's text, how the state is entered")
    latency_us: int | None = field(default=None, description="time to leave it, microseconds")
    residency_us: int | None = field(default=None, description="shortest stay that pays, microseconds")
    enabled_at_start: bool | None = field(default=None, description="default_status: how the driver set it up")
    disabled: CpuFlags | None = field(
        default=None, description="switched off by hand (disable), of the online CPUs that have the state; missing"
        " when the kernel cannot"
    )


class Cpuidle(Model):
    """/sys/devices/system/cpu/cpuidle and cpu*/cpuidle, of the online CPUs."""

    driver: str | None = field(default=None, description="acpi_idle, intel_idle, haltpoll, ...; none")
    governor: str | None = field(default=None, description="menu, teo, ladder, haltpoll; none")
    governors: list[str] | None = field(default=None, description="those that can be chosen, sorted")
    states: dict[str, State] | None = field(
        default=None, description="by name; where states of one name differ, by name and latency. Empty when no CPU has any"
    )
    processor_max_cstate: int | None = field(
        default=None, description="deepest state that acpi_idle may offer, as processor.max_cstate= says, 8 without it;"
        " other drivers do not care"
    )
    intel_idle_max_cstate: int | None = field(
        default=None, description="deepest state that intel_idle may offer, as intel_idle.max_cstate= says; 0: not this driver"
    )
