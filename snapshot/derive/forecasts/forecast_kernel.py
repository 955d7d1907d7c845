"""The kernel that boots next, and a host as it would be if another of its kernels did.

proxmox-boot-tool(8), grub-reboot(8). Every table that looks ahead reads boot.next: another kernel is forecast by
writing that anew, with the entry of the same menu that starts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ... import sections
from ...document import Snapshot
from ...errors import SnapError
from ..boot.kernel_config import WORDS
from .forecast_prediction import Prediction

if TYPE_CHECKING:
    from ...sections.base import Model

ASKED = "asked for"


def chosen(snapshot: Snapshot) -> tuple[str, str]:
    """Release of the kernel that boots next, and what decides so; both empty where that is not known."""
    found = snapshot.table("boot").get("next", {})
    return found.get("kernel", ""), found.get("by", "")


def booting(snapshot: Snapshot, kernel: str) -> Snapshot:
    """SNAPSHOT as if KERNEL booted next. SnapError when it is not installed, or the snapshot says nothing of that."""
    installed = snapshot.table("kernel").get("installed")
    if installed is None:
        raise SnapError(f"which kernels are installed is not in the snapshot: {kernel} cannot be forecast")
    if kernel not in installed:
        raise SnapError(f"kernel {kernel} is not installed; there is {', '.join(sorted(installed)) or 'none'}")
    boot = snapshot.table("boot")
    models: dict[str, Model] = {name: found for name in sections.NAMES if (found := snapshot.section(name)) is not None}
    table = {**boot, "next": {"kernel": kernel, "by": ASKED, **_entry(boot, kernel)}}
    models["boot"] = sections.model("boot").model_validate(table)
    return Snapshot.build(snapshot.meta, snapshot.outcomes, snapshot.files, models)


def built(snapshot: Snapshot) -> Iterator[Prediction]:
    """Defaults that the next kernel was built with, where they are not those of the running one."""
    installed, release = snapshot.table("kernel").get("installed", {}), chosen(snapshot)[0]
    now, then = (installed.get(kernel or "", {}).get("config", {}) for kernel in (snapshot.meta.kernel, release))
    for option in WORDS:
        if option in now and option in then and now[option] != then[option]:
            yield Prediction(
                f"config {option}", "config", WORDS[option], ("kernel", "installed", release, "config", option),
                "changes", f"kernel {release} is built so", now[option], then[option],
                source={"file": f"/boot/config-{release}"})


def _entry(boot: Mapping[str, Any], kernel: str) -> dict[str, str]:
    """Menu and entry that start KERNEL: of the menu that is used now, else of any; none where none does."""
    menus = boot.get("menus", {})
    used = boot.get("next", boot.get("default", {})).get("menu")
    for name in sorted(menus, key=lambda name: name != used):
        for entry, told in menus[name].get("entries", {}).items():
            if told.get("kernel") == kernel and not told.get("recovery"):
                return {"menu": name, "entry": entry}
    return {}
