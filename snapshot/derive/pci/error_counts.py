"""Errors that PCI Express and memory counted since the boot, and how fast they come: from sections pci and memory.

Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats: the counts of a function are those that it has seen itself;
what an endpoint sends wrong may be counted by the port above it. Documentation/admin-guide/RAS/main.rst, "EDAC": counts
begin when the driver is loaded. Neither count is older than the boot, so that the rates are the least that they can be.

Row keys of pci_errors, by PCI address; a key without a value is missing:
    address, name
    noun           GPU, NIC, NVMe drive or PCI function
    correctable, nonfatal, fatal   totals
    per_hour       correctable errors an hour
    uptime_h       hours since the boot, rounded down

Row keys of memory_errors, by "CONTROLLER" or "CONTROLLER MODULE", and "EDAC" where a before shows controllers:
    controller, module, label, location
    corrected, uncorrected   counts; a controller's own row has what none of its modules counted
    per_day        corrected errors a day
    uptime_h       likewise
    driver_lost    of EDAC: no controller is left
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..facts import Derived
from .pci_tree import Table, functions_of, noun

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Row = dict[str, Any]
TOTALS, COUNTS = ("correctable", "nonfatal", "fatal"), ("corrected", "uncorrected")
HOUR_S = 3600


def pci_errors(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each PCI function that counts; unknown where its counts were not read. BEFORE adds nothing."""
    del before
    found = Derived()
    for address, function in functions_of(after).items():
        counts = {key: count for key in TOTALS if (count := function.get("aer", {}).get(key)) is not None}
        if counts:
            row = {"address": address, "noun": noun(function) or "PCI function", **counts}
            row |= {"name": function["name"]} if "name" in function else {}
            found.rows[address] = row | _rate(after, "per_hour", counts.get("correctable"), HOUR_S)
    found.unknown.extend(_unknown(after, "pci", found.rows))
    return found


def memory_errors(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each memory controller and module that counts; unknown where its counts were not read."""
    controllers = after.table("memory").get("edac", {})
    found = Derived({key: row for name, told in controllers.items() for key, row in _controller(name, told)})
    for row in found.rows.values():
        row |= _rate(after, "per_day", row.get("corrected"), 24 * HOUR_S)
    if before and before.table("memory").get("edac") and not after.unread("memory", ("edac",)):
        found.rows["EDAC"] = {"driver_lost": not controllers}
    found.unknown.extend(_unknown(after, "memory", found.rows))
    return found


def _controller(name: str, controller: Table) -> Iterator[tuple[str, Row]]:
    modules: dict[str, Table] = controller.get("modules", {})
    rest = {key: max(controller[key] - sum(module.get(key, 0) for module in modules.values()), 0)
            for key in COUNTS if key in controller}
    if rest:
        yield name, {"controller": name, **rest}
    for key, module in modules.items():
        told = {k: module[k] for k in ("label", "location", *COUNTS) if k in module}
        if any(count in told for count in COUNTS):
            yield f"{name} {key}", {"controller": name, "module": key, **told}


def _rate(snapshot: Snapshot, name: str, count: int | None, period_s: int) -> Row:
    """COUNT for each PERIOD_S of the uptime."""
    uptime_s = snapshot.meta.uptime_s
    if uptime_s is None:
        return {}
    rate = {} if count is None else {name: round(count * period_s / max(uptime_s, 1), 1)}
    return {"uptime_h": uptime_s // HOUR_S, **rate}


def _unknown(snapshot: Snapshot, section: str, rows: Iterable[str]) -> Iterator[Row]:
    """Counts that were not read, by their rows' key or the beginning of keys."""
    outcome = snapshot.outcomes.get(section)
    for fact in (outcome and outcome.unread) or ():
        subject = _pci_subject(fact) if section == "pci" else _memory_subject(fact)
        if subject is not None and subject not in rows:
            yield {"subject": subject, "what": "how many errors were counted", "source": fact.source, "why": fact.why}


def _pci_subject(fact: UnreadFact) -> str | None:
    """The address of which an unread fact takes in the counts, "" for all; None when it takes in none."""
    start, address, what = [*fact.path, "", "", ""][:3]
    return address if start in ("", "functions") and what in ("", "aer") else None


def _memory_subject(fact: UnreadFact) -> str | None:
    """Controller, or controller and module; likewise."""
    start, *keys = fact.path or ["edac"]
    leaf = keys[-1] if len(keys) in (2, 4) else "modules"
    return " ".join(keys[:3:2]) if start == "edac" and leaf in ("modules", *COUNTS) else None
