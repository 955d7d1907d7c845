"""Interrupts: which CPUs may take them, and who moves them.

IRQ numbers differ from boot to boot, so an interrupt is known by its PCI function and its action's name; those of one
function that differ in a number only are the queues of one action. A per-CPU table here is read with queue numbers in
place of CPUs.
"""

from typing import Annotated

from .base import EVIDENCE, VOLATILE, CpuWords, Model, Origin, field


class Action(Model):
    """Interrupts that a driver asked for by one name, or by names that end in a number: the queues."""

    queues: str | None = field(
        default=None, description="list of queue numbers: the number in the name, else the place among equal names,"
        " from 0; missing for a single interrupt, which counts as queue 0"
    )
    affinity: CpuWords | None = field(
        default=None, description="list of allowed CPUs -> queues; own part of CPUs: each queue has some to itself;"
        " missing while irqbalance runs"
    )
    balanced: Annotated[CpuWords | None, VOLATILE] = field(
        default=None, description="affinity, while irqbalance moves it"
    )
    effective: Annotated[str | None, VOLATILE] = field(
        default=None, description="CPUs that the queues are routed to, all together: the kernel's choice among the"
        " allowed ones"
    )
    fixed: Annotated[str | None, EVIDENCE] = field(
        default=None, description="queues whose affinity cannot be set: the kernel manages it; old kernels do not tell"
    )
    irqs: Annotated[str, EVIDENCE] = field(description="list of IRQ numbers")


class Irqbalance(Model):
    """The daemon that spreads interrupts, and moves what was set by hand."""

    running: bool | None = field(default=None, description="systemd's irqbalance.service has a process")
    oneshot: bool | None = field(
        default=None, description="IRQBALANCE_ONESHOT: balances once after its start, then ends"
    )
    banned_cpus: str | None = field(
        default=None, description="CPUs it leaves alone, as configured; missing: isolated and nohz_full ones"
    )
    origins: Annotated[dict[str, Origin] | None, EVIDENCE] = field(
        default=None, description="where these stand, by fact"
    )


class Irq(Model):
    """Interrupts that are in use."""

    default_affinity: str | None = field(default=None, description="CPUs of an interrupt that nobody gave any")
    devices: dict[str, dict[str, Action]] | None = field(
        default=None, description="message-signalled ones, by PCI address, then by action: nvme0q* for nvme0q0, nvme0q1"
    )
    other: dict[str, Action] | None = field(
        default=None, description="by action; of a shared line all actions, sorted, with commas"
    )
    irqbalance: Irqbalance | None = field(default=None, description="the daemon irqbalance")
