"""Queues of block devices, interrupts, power management and the clock: tunables that are a file of /sys or /proc each.

Documentation/ABI/stable/sysfs-block, Documentation/core-api/irq/irq-affinity.rst, Documentation/ABI/testing/
{sysfs-devices-power,sysfs-class-powercap,sysfs-platform_profile}, kernel-parameters.txt. Numbers of interrupts move
from boot to boot: a line that names one is not certain for it. With a scheduler nr_requests is set anew
(block/blk-mq-sched.c, blk_mq_init_sched()).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...records import replace
from ...regexes import regex
from ...sections.base import format_cpus, parse_cpus
from .tunable import Tunable, Value
from .tunable_cpus import POWER as OF_CPUS
from .tunable_cpus import Asked
from .tunable_facts import Facts, Kind
from .tunable_setters import Setters, matcher

if TYPE_CHECKING:
    from ..actions.action import Action

BLOCK, IRQ = Kind("block", ("hdparm", "blockdev", "tuned", "tuned-adm")), Kind("irq", (
    "irqbalance", "set_irq_affinity", "set_irq_affinity.sh", "tuned", "tuned-adm"), (("cmdline", ""),))
POWER = Kind("power", ("powertop", "cpupower", "x86_energy_perf_policy", "tuned", "tuned-adm"), (("cmdline", ""),))
KERNEL = Kind("kernel", (), (("cmdline", ""),))
QUEUE = {  # file -> field
    "scheduler": "scheduler", "read_ahead_kb": "read_ahead_kb", "nr_requests": "nr_requests", "nomerges": "nomerges",
    "rq_affinity": "rq_affinity", "max_sectors_kb": "max_sectors_kb", "wbt_lat_usec": "wbt_latency_us",
    "write_cache": "write_cache", "io_poll": "io_poll",
}
ANEW = "another scheduler sets this anew"
DEFAULT = "/proc/irq/default_smp_affinity"
_MASK = regex(r"(?:0x)?[0-9a-fA-F]{1,8}(?:,[0-9a-fA-F]{8}){0,255}")
CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
ASPM, ZONES = "/sys/module/pcie_aspm/parameters/policy", "/sys/class/powercap"


def block(found: Setters) -> Iterator[Tunable]:
    """The queue of each block device."""
    facts = Facts(found, BLOCK)
    for key, device in found.table("storage").get("blocks", {}).items():
        name, queue = device["name"], device.get("queue", {})
        files = {file: [f"{top}/{name}/queue/{file}" for top in ("/sys/block", "/sys/class/block")] for file in QUEUE}
        anew = [replace(one, value=None, certain=False, doubt=ANEW) for one in found.file(*files["scheduler"])]
        for file, field in QUEUE.items():
            if field in queue:
                yield from facts.one(file, ("storage", "blocks", key, "queue", field), *files[file], subject=name,
                                     setters=anew if file == "nr_requests" else ())


def irq(found: Setters) -> Iterator[Tunable]:
    """The allowed CPUs of each action whose affinity can be set and is not moved by irqbalance."""
    facts, table = Facts(found, IRQ), found.table("irq")
    lines = [found.setter(line, mask_cpus(line.value)) for line in found.of("irq") if line.where[:1] == (DEFAULT,)]
    yield from facts.one("default_smp_affinity", ("irq", "default_affinity"),
                         setters=[*found.words.taken("irqaffinity"), *lines])
    groups = [(("irq", "devices", address), actions) for address, actions in table.get("devices", {}).items()]
    for path, actions in (*groups, (("irq", "other"), table.get("other", {}))):
        for name, action in actions.items():
            if "affinity" in action and action.get("fixed") != (action.get("queues") or "0"):
                yield from _action(facts, (*path, name), name, action)


def _action(facts: Facts, path: tuple[str, ...], name: str, action: Mapping[str, Any]) -> Iterator[Tunable]:
    own = [line for line in facts.found.of("irq") if _may_move(line, action["irqs"])]
    setters = [facts.found.setter(line, None, "numbers of interrupts move") for line in own]
    subject = path[2] if path[1] == "devices" else ""
    yield from facts.one(f"{name} smp_affinity", (*path, "affinity"), subject=subject, setters=setters, show=affinity)


def mask_cpus(mask: str | None) -> str | None:
    """A hexadecimal mask of CPUs, in groups of 32 bits or in one, as a list; None when it is none."""
    if mask is None or not _MASK.fullmatch(mask.strip()):
        return None
    bits = bin(int(mask.strip().replace(",", ""), 16))[:1:-1]
    return format_cpus(cpu for cpu, bit in enumerate(bits) if bit == "1")


def _may_move(line: Action, irqs: str) -> bool:
    """Whether a line may set the affinity of these interrupts: it writes the file of one, or is a tool's."""
    path = line.where[0] if line.where else ""
    files = (f"/proc/irq/{irq}/{file}" for irq in parse_cpus(irqs) for file in ("smp_affinity_list", "smp_affinity"))
    return not path.startswith("/") or any(matcher(path).fullmatch(file) for file in files)


def affinity(table: Mapping[str, str]) -> Value:
    """Allowed CPUs -> queues as one text: the CPUs when they are the same for all, else "0-3 of queues 0-1, ..."."""
    if len(table) == 1:
        return next(iter(table))
    return ", ".join(f"{cpus} of queue{'' if queues.isdecimal() else 's'} {queues}" for cpus, queues in table.items())


def power(found: Setters) -> Iterator[Tunable]:
    """Policies of the host, limits on latency of each CPU, and power zones. Functions' own are in ``tunable_pci``."""
    facts, words = Facts(found, POWER), found.words
    yield from facts.one("pcie_aspm/policy", ("power", "aspm_policy"), ASPM, setters=words.taken("pcie_aspm.policy"))
    yield from facts.one("mem_sleep", ("power", "mem_sleep"), "/sys/power/mem_sleep",
                         setters=words.taken("mem_sleep_default"))
    yield from facts.one("platform_profile", ("power", "platform_profile"), "/sys/firmware/acpi/platform_profile")
    latency, bias = "pm_qos_resume_latency_us", "energy_perf_bias"
    limit, hint = Asked(found, OF_CPUS, latency), Asked(found, OF_CPUS, bias, option="perf-bias")
    yield from limit.tunables(facts, latency, ("power", "cpu_resume_latency_us"), str)
    yield from hint.tunables(facts, bias, ("power", bias), int)
    for zone, parts in found.table("power").get("zones", {}).items():
        yield from facts.one("enabled", ("power", "zones", zone, "enabled"), f"{ZONES}/{zone}/enabled", subject=zone)
        yield from _limits(facts, zone, parts.get("limits", {}))


def _limits(facts: Facts, zone: str, limits: Mapping[str, Any]) -> Iterator[Tunable]:
    """Limits of a zone; which number each constraint has is not recorded, so that of several none is certain."""
    files = [f"{ZONES}/{zone}/constraint_{number}_power_limit_uw" for number in range(len(limits))]
    lines = [replace(made, certain=made.certain and len(limits) == 1) for made in facts.found.file(*files)]
    for name in limits:
        path = ("power", "zones", zone, "limits", name, "power_uw")
        yield from facts.one(f"{name} power_limit_uw", path, subject=zone, setters=lines)


def kernel(found: Setters) -> Iterator[Tunable]:
    """Clock source and preemption model."""
    facts, words = Facts(found, KERNEL), found.words
    yield from facts.one("clocksource", ("kernel", "clocksource"), CLOCK, setters=words.taken("clocksource"))
    yield from facts.one("preempt", ("kernel", "preempt"), "/sys/kernel/debug/sched/preempt",
                         setters=words.taken("preempt"))
