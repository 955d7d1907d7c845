"""Run-time power management of each GPU, NIC and NVMe drive, now and before: from sections pci and power.

Documentation/ABI/testing/sysfs-devices-power, /sys/devices/.../power/control: at auto the kernel may suspend an idle
device, at on never. The section has it by PCI address, which may move; here it follows the device.

Row keys, by PCI address; a key without a value is missing:
    address, noun    GPU, NIC or NVMe drive
    control          on or auto
    control_before   of the same function before, by the diff's pairing
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..facts import Derived
from .pci_tree import functions_of, moved, noun

if TYPE_CHECKING:
    from ...document import Snapshot


def runtime_pm(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each device of AFTER; unknown as a whole where the PCI functions were not read."""
    if fact := after.unread("pci", ("functions",)):
        gap = {"subject": "", "what": "run-time power management", "source": fact.source, "why": fact.why}
        return Derived({}, [gap])
    now, olds = _control(after), moved(before, after)
    then = _control(before) if before else {}
    found = Derived()
    for address, function in functions_of(after).items():
        if what := noun(function):
            row = {"address": address, "noun": what, "control": now.get(address),
                   "control_before": then.get(olds.get(address, ""))}
            found.rows[address] = {key: value for key, value in row.items() if value is not None}
    return found


def _control(snapshot: Snapshot) -> dict[str, str]:
    found: dict[str, str] = snapshot.table("power").get("runtime_pm", {})
    return found
