"""Whether the NVIDIA driver could initialise each GPU, and with which GSP firmware, from section nvidia.

NVIDIA driver README, "GSP Firmware": the firmware is of the driver's version; the open kernel modules need it, the
proprietary one can do without (N/A). "RmInitAdapter failed" in the kernel log is a try that failed; a later one may
have gone well. The driver does not know a GPU's UUID before it has initialised it.

Row keys, by UUID, else PCI address; a key without a value is missing:
    gpu, address, name
    failures        how often RmInitAdapter failed in this boot
    initialised     nvidia-smi has an answer from it; where that is not known: the driver has read its UUID
    firmware        version of the GSP firmware that runs
    driver_version, flavour   of the loaded module
    firmware_fits   firmware is of the driver's version
    recovery_action what the driver asks for, when it is not None
    unknown         {key: {source, why}} of keys above that could not be told
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..facts import Derived
from .gpu_layers import EMPTY

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]


def gpu_init(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each GPU that the driver lists; BEFORE adds nothing."""
    del before
    section = after.table("nvidia")
    gpus = section.get("gpus", {})
    if not gpus and (fact := after.unread("nvidia", ("gpus",))):
        return Derived({}, [{"subject": "", "what": "the driver's GPUs", "source": fact.source, "why": fact.why}])
    rows = {key: _row(after, key, gpu, section.get("driver", EMPTY)) for key, gpu in gpus.items()}
    return Derived({key: {name: v for name, v in row.items() if v is not None} for key, row in rows.items()})


def _row(after: Snapshot, key: str, gpu: Any, driver: Any) -> Row:
    address, firmware, version = gpu.get("address"), gpu.get("firmware"), driver.get("version")
    events = after.table("nvidia").get("events", {}).get(address, EMPTY)
    unread = None if "init_failed" in events else after.unread("nvidia", ("events",))
    action = gpu.get("state", EMPTY).get("health", EMPTY).get("recovery_action")
    return {
        "gpu": key, "address": address, "name": gpu.get("name"), "failures": events.get("init_failed"),
        "initialised": gpu.get("answers", "uuid" in gpu), "firmware": firmware, "driver_version": version,
        "flavour": driver.get("flavour"), "firmware_fits": firmware == version if firmware and version else None,
        "recovery_action": action if action != "None" else None,
        "unknown": {"failures": {"source": unread.source, "why": unread.why}} if unread else None,
    }
