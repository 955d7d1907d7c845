"""Tuning units that nothing orders behind the NVIDIA driver, which they need or tune the devices of.

systemd.unit(5), bootup(7), modules-load.d(5). A service comes after basic.target, and so after the modules of
modules-load.d, unless it is ordered before that; a driver that udev loads may come later. nvidia-smi loads the driver
when it is not there; what it sets before the daemon opens the devices can be lost with its own end.

Row keys, by unit; a key without a value is missing:
    unit, file, line, text   the unit, and the first line that sets something of a GPU
    tools    what it uses: nvidia-smi, setpci
    early    true: it surely runs before basic.target, and so before the driver
    after    what it is ordered after
    driver   what loads the driver: modules-load.d, or udev as far as is known
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ..facts import Derived
from .action import Action
from .actions_starts import Starts
from .boot_actions import boot_actions, unknown_rows

if TYPE_CHECKING:
    from ...document import Snapshot

_BEHIND = ("nvidia-*.service", "dev-nvidia*.device", "systemd-udev-settle.service", "multi-user.target",
           "graphical.target", "systemd-modules-load.service")
_VENDOR = "10de"


def unit_order(after: Snapshot, before: Snapshot | None) -> Derived:  # noqa: ARG001 - of one snapshot
    """A row for each unit that will run, sets something of NVIDIA GPUs, and is behind nothing that has the driver."""
    starts = Starts.of(after)
    loaded = "nvidia" in after.table("modules").get("load", {})
    functions = after.table("pci").get("functions", {})
    rows: dict[str, dict[str, Any]] = {}
    for action in boot_actions(after):
        hidden = starts.unlisted and action.doubt == starts.unlisted
        if action.why_not or hidden or action.unit not in starts.units or not _of_gpu(action, functions):
            continue
        unit = starts.units[action.unit]
        if action.unit.startswith("nvidia-") or _ordered(starts, action.unit, loaded):
            continue
        row = rows.setdefault(action.unit, {
            **action.origin, "unit": action.unit, "tools": [], "early": starts.is_early(action.unit),
            "after": unit.get("after", []), "driver": "modules-load.d" if loaded else "udev",
        })
        row["tools"] = sorted({*row["tools"], action.target})
    return Derived(rows, unknown_rows(after, "order behind the driver"))


def _of_gpu(action: Action, functions: Mapping[str, Any]) -> bool:
    if action.target == "setpci":
        selector = action.where[0]
        return selector.startswith(f"{_VENDOR}:") or functions.get(selector, {}).get("vendor") == _VENDOR
    return action.target == "nvidia-smi"


def _ordered(starts: Starts, unit: str, loaded: bool) -> bool:
    """Whether the unit is behind something that has the driver."""
    behind = starts.all_before(unit)
    if not starts.is_early(unit) and loaded:
        return True
    useful = _BEHIND if loaded else _BEHIND[:-1]
    return any(fnmatchcase(other, pattern) for other in behind for pattern in useful)
