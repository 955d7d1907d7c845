"""Interrupts, from /proc/irq and /sys/kernel/irq.

Documentation/core-api/irq/irq-affinity.rst; Documentation/ABI/testing/sysfs-kernel-irq; kernel/irq/proc.c.

/proc/interrupts holds a counter for each CPU and interrupt, which the kernel adds up at each read: it is not touched.
An interrupt without an action is in nobody's use. Which PCI function one belongs to stands in the function's msi_irqs;
legacy interrupts may be shared and stand apart. Files of interrupts whose affinity the kernel manages are read-only in
late kernels, older ones show mode 0644 and refuse the write.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping

from ..records import record
from ..sections.base import format_cpus
from ..sections.irq import Action, Irq
from . import irq_balance
from .base import Reading, Reads, decode, why
from .irq_names import Family, families, parse_mask, share_out
from .kernel_values import each_cpu, parse_cpus, parse_list, value
from .pci_sysfs import ADDRESS, DEVICES

PROC, KERNEL = "/proc/irq", "/sys/kernel/irq"
DEFAULT = f"{PROC}/default_smp_affinity"
READS = Reads(
    paths=(
        DEFAULT, *(f"{PROC}/*/{name}" for name in ("smp_affinity_list", "effective_affinity_list")),
        KERNEL, f"{KERNEL}/*/actions", DEVICES, f"{DEVICES}/*/msi_irqs", *irq_balance.PATHS,
    ),
)


def collect(reading: Reading) -> Irq:
    """The section; the affinities of all interrupts that a driver uses."""
    actions, owners = _actions(reading), _owners(reading)
    balance = irq_balance.collect(reading)
    group = _Group(reading, moved=bool(balance and balance.running), modes=_modes(reading))
    by_owner: dict[str, dict[int, str]] = {}
    for irq, action in actions.items():
        by_owner.setdefault(owners.get(irq, ""), {})[irq] = action
    other = group.table(by_owner.pop("", {}), "", "other")
    devices = {a: group.table(found, a, "devices", a) for a, found in sorted(by_owner.items())}
    default = value(reading, parse_mask, DEFAULT, "default_affinity")
    if default is None and not actions:  # else a kernel for one CPU, which has none
        reading.settle(False, DEFAULT, "ENOENT", "default_affinity")
    return Irq(
        default_affinity=default,
        devices=devices or None, other=other or None, irqbalance=balance,
    )


def _actions(reading: Reading) -> dict[int, str]:
    """The actions of each interrupt that has some."""
    found: dict[int, str] = {}
    known = len(reading.unreads)
    names = [name for name in reading.list(KERNEL, "devices") if name.isdecimal() and len(name) < 10]
    for name in names:
        content = reading.attempt(f"{KERNEL}/{name}/actions")
        if not isinstance(content, OSError):
            if text := decode(content).strip(" \t\r\n\0"):
                found[int(name)] = text
        elif content.errno not in (errno.ENOENT, errno.ENOTDIR) and len(reading.unreads) == known:
            reading.unread(("devices",), f"{KERNEL}/{name}/actions", why(content))
    if not names or len(reading.unreads) > known:
        reading.unread_together(KERNEL, "shows no interrupt", "devices", "other")
    return found


def _owners(reading: Reading) -> dict[int, str]:
    """The PCI function of each message-signalled interrupt."""
    return {
        int(irq): address
        for address in reading.list(DEVICES, "devices") if ADDRESS.fullmatch(address)
        for irq in reading.list(f"{DEVICES}/{address}/msi_irqs", "devices", address)
        if irq.isdecimal() and len(irq) < 10
    }


def _modes(reading: Reading) -> bool:
    """Whether file modes are the kernel's: the default affinity can be written everywhere but in a poor copy."""
    stat = reading.stat(DEFAULT, "default_affinity")
    return stat is not None and bool(stat.mode & 0o200)


@record(frozen=True)
class _Group:
    """Reads the files of interrupts; MOVED: by irqbalance; MODES: whether their modes say something."""

    reading: Reading
    moved: bool
    modes: bool

    def table(self, actions: Mapping[int, str], address: str, *fact: str) -> dict[str, Action]:
        return {name: self.action(queues, *fact, name) for name, queues in families(actions, address).items()}

    def action(self, queues: Family, *fact: str) -> Action:
        lists = {queue: f"{PROC}/{irq}/smp_affinity_list" for queue, irq in queues.items()}
        routes = {queue: f"{PROC}/{irq}/effective_affinity_list" for queue, irq in queues.items()}
        allowed = each_cpu(self.reading, lists, parse_list, *fact, "balanced" if self.moved else "affinity")
        taken = each_cpu(self.reading, routes, parse_cpus, *fact, "effective")
        affinity = share_out(allowed) or None
        return Action(
            queues=format_cpus(queues) if len(queues) > 1 else None,
            affinity=None if self.moved else affinity, balanced=affinity if self.moved else None,
            effective=format_cpus(cpu for cpus in taken.values() for cpu in cpus) or None,
            fixed=self.fixed(lists, *fact) or None, irqs=format_cpus(queues.values()),
        )

    def fixed(self, lists: Mapping[int, str], *fact: str) -> str:
        """The queues whose affinity nobody may write."""
        if not self.modes:
            return ""
        stats = {queue: self.reading.stat(path, *fact, "fixed") for queue, path in lists.items()}
        return format_cpus(queue for queue, stat in stats.items() if stat and not stat.mode & 0o222)
