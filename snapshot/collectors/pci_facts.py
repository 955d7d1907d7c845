"""What one source says of a PCI function, and what it leaves unknown; sources of a function are joined here."""

from __future__ import annotations

from collections.abc import Iterable

from ..records import record
from ..sections.pci import Function

IDS = ("vendor", "device", "subsystem_vendor", "subsystem_device", "class_code", "revision")
EXTENDED = ("serial", "acs", "resizable_bars")
CAPABILITIES = ("express", *EXTENDED)
REGISTERS = (*IDS, *CAPABILITIES)
SYSTEM = ("driver", "numa_node", "iommu_group", "slot", "bars")
PLACE = ("path", "bridges", "aer")

DEAD = "device does not answer (all ones)"
NEEDS_ROOT = "needs root"


@record(frozen=True)
class Gap:
    """A fact of a function that a source cannot tell; the path stands for everything below it."""

    path: tuple[str, ...]
    source: str
    why: str


@record(frozen=True)
class Decoded:
    """What a source says. A field that is None and in no gap does not exist on the function."""

    function: Function
    gaps: tuple[Gap, ...] = ()

    def unknown(self, field: str) -> bool:
        """Whether the source cannot tell the whole FIELD."""
        return any(gap.path == (field,) for gap in self.gaps)


def gaps(fields: Iterable[str], source: str, why: str) -> tuple[Gap, ...]:
    """One gap for each of FIELDS."""
    return tuple(Gap((field,), source, why) for field in fields)


def combine(first: Decoded, second: Decoded) -> Decoded:
    """What FIRST says and, where it has a gap, SECOND. A fact that neither tells keeps the reason of FIRST."""
    taken = {g.path[0] for g in first.gaps if len(g.path) == 1 and not second.unknown(g.path[0])}
    update = {field: getattr(second.function, field) for field in taken}
    if first.function.source == "sysfs" and taken.intersection(CAPABILITIES):
        update["source"] = second.function.source
    kept = tuple(g for g in first.gaps if g.path[0] not in taken)
    added = tuple(g for g in second.gaps if g.path[0] in taken)
    return Decoded(first.function.copy(**update), kept + added)
