"""Interrupts whose CPUs were chosen and are the default again, and irqbalance switched on: from sections irq and cpu.

Documentation/core-api/irq/irq-affinity.rst, irqbalance(1). Numbers of interrupts differ from boot to boot: actions
pair by PCI function and name, their queues by number. What the kernel manages (``fixed``) is nobody's choice, and
drivers spread queues as they like: only an affinity that was not the default and now is counts as lost. The default
is lost when it was a choice and is all CPUs again.

Row keys, by "default", "irqbalance", "ADDRESS ACTION" or "ACTION"; a key without a value is missing:
    what             default, irqbalance or action
    action, address
    queues           list of the queues that are back at the default
    cpus, cpus_before     allowed CPUs, of several queues those of the first
    running, running_before   of irqbalance
    lost             it is so
    now              commands that bring it back
    unknown          {lost: {source, why}} when that could not be read
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...pairing import pair
from ...sections.base import format_cpus, parse_cpus
from ...sections.shape import of_section
from ..facts import Derived
from ..hardware.cpu_lists import cpus

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Row = dict[str, Any]
Action = Mapping[str, Any]
NO_SYSTEMD = ("none", "offline")
DEFAULT = "/proc/irq/default_smp_affinity"


def irq_moves(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each that could be lost; with no BEFORE none is known to be. Unknown where AFTER was not read."""
    if fact := after.unread("irq", ()):
        return Derived({}, [_gap("", fact)])
    found = Derived()
    if before:
        found.rows.update(_rows(after, before))
    return found


def _rows(after: Snapshot, before: Snapshot) -> Iterator[tuple[str, Row]]:
    if after.meta.system_state not in NO_SYSTEMD:
        yield from _irqbalance(after, before)
    now, then = after.table("irq"), before.table("irq")
    default, default_before = now.get("default_affinity"), then.get("default_affinity")
    if fact := _unread(after, before, "default_affinity"):
        yield "default", {"what": "default", "unknown": {"lost": _why(fact)}}
        return
    if default is None or default_before is None:
        return
    yield "default", _default(after, before, default, default_before)
    for key, action, old in _actions(after, before):
        if row := _action(action, old, default, default_before):
            yield key, row


def _irqbalance(after: Snapshot, before: Snapshot) -> Iterator[tuple[str, Row]]:
    now, then = (side.table("irq").get("irqbalance", {}).get("running") for side in (after, before))
    row: Row = {"what": "irqbalance", "running": now, "running_before": then}
    if now is not None and then is not None:
        row |= {"lost": now and not then, "now": ["systemctl stop irqbalance"]}
    elif now is not False and then is not True:
        fact = (after if now is None else before).unread("irq", ("irqbalance", "running"))
        row |= {"unknown": {"lost": _why(fact)}} if fact else {}
    yield "irqbalance", {key: value for key, value in row.items() if value is not None}


def _default(after: Snapshot, before: Snapshot, now: str, then: str) -> Row:
    chosen, all_again = not _all(before, then), _all(after, now)
    return {"what": "default", "cpus": now, "cpus_before": then, "lost": now != then and chosen and all_again,
            "now": [f"printf '%x' {_mask(then)} > {DEFAULT}"] if _mask(then) else []}


def _all(snapshot: Snapshot, listed: str) -> bool:
    """Whether a list is that of all CPUs; of a host whose CPUs are not known, one that begins at 0 and has no gap."""
    table, own = snapshot.table("cpu"), cpus(listed)
    known = [cpus(table.get(name)) for name in ("possible", "online", "present") if name in table]
    return own in known if known else own == set(range(len(own or ())))


def _mask(listed: str) -> int:
    """Bits of a short list; 0 of one that does not fit a group of 32."""
    bits = sum(1 << cpu for cpu in cpus(listed) or ())
    return bits if bits < 1 << 32 else 0


def _actions(after: Snapshot, before: Snapshot) -> Iterator[tuple[str, Action, Action]]:
    """Key and both sides of each action that is on both."""
    now, then = after.table("irq"), before.table("irq")
    shape = of_section("pci").at(("functions",))
    functions = [side.table("pci").get("functions", {}) for side in (before, after)]
    olds = pair(functions[0], functions[1], shape.item).before_of if shape and shape.item else {}
    for address, actions in now.get("devices", {}).items():
        old = then.get("devices", {}).get(olds.get(address, ""), {})
        yield from ((f"{address} {name}", {**own, "action": name, "address": address}, old[name])
                    for name, own in actions.items() if name in old)
    for name, own in now.get("other", {}).items():
        if name in then.get("other", {}):
            yield name, {**own, "action": name}, then["other"][name]


def _action(action: Action, old: Action, default: str, default_before: str) -> Row | None:
    """The row of an action whose affinity can be set; None without one."""
    now, then = _by_queue(action), _by_queue(old)
    fixed = cpus(action.get("fixed")) or set()
    lost = [queue for queue, allowed in now.items() if queue not in fixed and allowed == default
            and then.get(queue, allowed) not in (allowed, default_before)]
    if not now or not then:
        return None
    row: Row = {"what": "action", "action": action["action"], "lost": bool(lost), "address": action.get("address"),
                "cpus": default if lost else None, "cpus_before": then[lost[0]] if lost else None,
                "queues": format_cpus(lost) if lost and "queues" in action else None}
    if lost:
        row["now"] = _restore(action, lost, then)
    return {key: value for key, value in row.items() if value is not None}


def _by_queue(action: Action) -> dict[int, str]:
    return {queue: allowed for allowed, queues in action.get("affinity", {}).items() for queue in cpus(queues) or ()}


def _restore(action: Action, lost: list[int], then: Mapping[int, str]) -> list[str]:
    """Commands by IRQ numbers of this boot; none when numbers and queues do not match one to one."""
    numbers = parse_cpus(action["irqs"])
    queues = parse_cpus(action.get("queues", "0"))
    if len(numbers) != len(queues):
        return []
    place = dict(zip(queues, numbers, strict=True))
    return [f"echo {shlex.quote(then[queue])} > /proc/irq/{place[queue]}/smp_affinity_list"
            for queue in lost if queue in place and cpus(then[queue]) is not None]


def _unread(after: Snapshot, before: Snapshot, name: str) -> UnreadFact | None:
    sides = (side for side in (after, before) if name not in side.table("irq"))
    return next((fact for side in sides if (fact := side.unread("irq", (name,)))), None)


def _why(fact: UnreadFact) -> dict[str, str]:
    return {"source": fact.source, "why": fact.why}


def _gap(subject: str, fact: UnreadFact) -> Row:
    return {"subject": subject, "what": "which CPUs take interrupts", **_why(fact)}
