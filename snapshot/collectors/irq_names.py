"""Names of interrupts, and the CPUs they may use, in few words.

kernel/irq/irqdesc.c (actions_show), kernel/irq/proc.c. Drivers name their queues as they like: nvme0q1,
eth0-TxRx-3, mlx5_comp0@pci:0000:c1:00.0, vfio-msix[2](0000:41:00.0). Drivers on a shared line stand in the order of
their arrival.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..errors import ParseError
from ..regexes import regex
from ..sections.base import format_cpus, parse_cpus

Family = dict[int, int]  # queue -> IRQ number
OWN = "own part of "
_FEW = 8  # queues with CPUs of their own that are still told one by one
_NUMBERED = regex(r"(.*\D)([0-9]{1,5})(\]?)", re.DOTALL)
_MASK = regex(r"(?:0x)?([0-9a-f]{1,8}(?:,[0-9a-f]{8})*|[0-9a-f]{1,16384})", re.IGNORECASE)


def parse_mask(text: str) -> str:
    """A hexadecimal CPU mask, in groups of 32 bits or in one, as a list. ParseError when it is none."""
    match = _MASK.fullmatch(text) if len(text) <= 1 << 15 else None
    if not match:
        raise ParseError(f"no CPU mask: {text[:80]!r}")
    bits = bin(int(match[1].replace(",", ""), 16))[:1:-1]
    return format_cpus(cpu for cpu, bit in enumerate(bits) if bit == "1")


def families(actions: Mapping[int, str], address: str = "") -> dict[str, Family]:
    """The queues of each action, from the actions of IRQs; of the function at ADDRESS, which goes out of the names."""
    plain, numbered = dict[str, list[int]](), dict[str, list[tuple[int, int]]]()
    names = {irq: _name(action, address) for irq, action in sorted(actions.items())}
    for irq, name in names.items():
        if match := _NUMBERED.fullmatch(name):
            numbered.setdefault(f"{match[1]}*{match[3]}", []).append((int(match[2]), irq))
        else:
            plain.setdefault(name, []).append(irq)
    found = {name: dict(enumerate(irqs)) for name, irqs in plain.items()}
    for name, pairs in numbered.items():
        queues = dict(pairs)
        if len(queues) == len(pairs) > 1 and max(queues) < 1 << 16 and name not in found:
            found[name] = dict(sorted(queues.items()))
        else:
            for _, irq in pairs:
                family = found.setdefault(names[irq], {})
                family[len(family)] = irq
    return dict(sorted(found.items()))


def _name(actions: str, address: str) -> str:
    words = (part.strip() for part in actions.split(","))
    return ",".join(sorted(word.removesuffix(f"@pci:{address}").removesuffix(f"({address})") for word in words))


def share_out(allowed: Mapping[int, str]) -> dict[str, str]:
    """Queue -> allowed CPUs, as allowed CPUs -> queues.

    Many queues that have each some CPUs to itself are one line; who has which is the order of the CPUs mostly, and
    would be a line a queue.
    """
    holders: dict[str, list[int]] = {}
    for queue, cpus in allowed.items():
        holders.setdefault(cpus, []).append(queue)
    own, union = _apart(cpus for cpus, queues in holders.items() if len(queues) == 1)
    if len(own) > _FEW:
        holders[OWN + format_cpus(union)] = [queue for cpus in own for queue in holders.pop(cpus)]
    return {cpus: format_cpus(queues) for cpus, queues in sorted(holders.items())}


def _apart(lists: Iterable[str]) -> tuple[list[str], set[int]]:
    """Those of LISTS that share no CPU with another, the short ones first, and all CPUs in them."""
    taken: set[int] = set()
    kept = []
    for _, cpus, text in sorted((len(cpus := parse_cpus(text)), cpus, text) for text in lists):
        if cpus and taken.isdisjoint(cpus):
            taken.update(cpus)
            kept.append(text)
    return kept, taken
