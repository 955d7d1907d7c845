"""Xid errors that the kernel log of this boot has of each GPU, from section nvidia, and what they ask for.

The log has no end of an error: after a reset the line is still there. From driver R565 on the GPU's recovery action
tells whether anything is left to do. A log that does not reach back to the boot may have had more.

Row keys, by "GPU CODE"; a key without a value is missing:
    gpu        UUID, else PCI address
    address, name
    code       Xid code
    times      how often since the boot
    meaning    in words, of ``xid_codes``
    action     none, application (restart it), reset, reboot, power-cable, nvlink, support; missing when NVIDIA's
               catalog has none for the code
    recovered  the GPU answers, and its driver asks for no reset or reboot any more
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..facts import Derived
from .gpu_layers import EMPTY
from .xid_codes import XIDS

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
LEFT = ("Reset", "Reboot", "Drain and Reset", "Drain P2P")


def gpu_errors(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each GPU and code; BEFORE adds nothing."""
    del before
    found, section = Derived(), after.table("nvidia")
    if fact := after.unread("nvidia", ("events",)):
        what = "Xid errors of this boot"
        found.unknown.append({"subject": "", "what": what, "source": fact.source, "why": fact.why})
    gpus = {gpu["address"]: (key, gpu) for key, gpu in section.get("gpus", {}).items() if "address" in gpu}
    for address, events in section.get("events", {}).items():
        key, gpu = gpus.get(address, (address, EMPTY))
        for code, count in ((c, n) for c, n in events.get("xid", {}).items() if c.isdecimal()):
            row = {"gpu": key, "address": address, "name": gpu.get("name"), "code": int(code), "times": count}
            row |= _meant(int(code)) | {"recovered": _recovered(gpu)}
            found.rows[f"{key} {code}"] = {name: value for name, value in row.items() if value is not None}
    return found


def _meant(code: int) -> Row:
    meaning, action = XIDS.get(code, (None, None))
    return {"meaning": meaning, "action": action}


def _recovered(gpu: Any) -> bool | None:
    """None where the driver does not tell."""
    action = gpu.get("state", EMPTY).get("health", EMPTY).get("recovery_action")
    return None if action is None or "answers" not in gpu else gpu["answers"] and action not in LEFT
