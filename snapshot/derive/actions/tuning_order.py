"""Units of the administrator's that tune GPUs, and whether something orders them behind the driver.

From ``unit_order``, and where it has rows from ``tunables``: a unit that nothing orders may have come late enough in
this boot, which shows in what it sets.

Row keys, by unit; a key without a value is missing:
    unit
    ordered          something orders it behind the driver, or nothing says that it tunes GPUs
    tools, early, after, driver, line   as in ``unit_order``; line: {file, line, text}
    effective        all that it alone sets is so now, as far as that shows; missing where nothing does
    missing          tunables that are not what it sets
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..facts import Derived
from ..tunables.tunable_values import agrees
from ..tunables.tunables import tunables
from .unit_order import unit_order

if TYPE_CHECKING:
    from ...document import Snapshot

GPU = frozenset(("nvidia-smi", "setpci"))


def tuning_order(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each unit that uses nvidia-smi or setpci; BEFORE adds nothing."""
    del before
    found = unit_order(after, None)
    rows: dict[str, dict[str, Any]] = {
        name: {"unit": name, "ordered": True} for name, unit in after.table("units").get("units", {}).items()
        if any(GPU.intersection(command.get("tools", ())) for command in unit.get("commands", ()))
    }
    states = _states(after) if found.rows else {}
    for name, row in found.rows.items():
        rows[name] = {key: row[key] for key in ("unit", "tools", "early", "after", "driver")} | {
            "ordered": False, "line": {key: row[key] for key in ("file", "line", "text")}}
        differ = [tunable for tunable, fits in states.get(name, {}).items() if not fits]
        rows[name] |= {"effective": not differ} if name in states else {}
        rows[name] |= {"missing": differ} if differ else {}
    return Derived(rows, found.unknown)


def _states(snapshot: Snapshot) -> dict[str, dict[str, bool]]:
    """By unit that alone sets them: its tunables, and whether each is what it sets."""
    found: dict[str, dict[str, bool]] = {}
    for row in tunables(snapshot, None).rows.values():
        setters = row.get("setters", ())
        unit, value = (setters[0].get("unit"), setters[0].get("value")) if len(setters) == 1 else (None, None)
        fits = agrees(row["live"], value) if unit and value is not None and "live" in row else None
        if unit and fits is not None:
            found.setdefault(unit, {})[" ".join(filter(None, (row.get("subject"), row["name"])))] = fits
    return found
