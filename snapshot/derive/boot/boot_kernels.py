"""The kernel that runs and the one that boots next: whether it is there, and whether it is the one that was to come.

From sections boot and kernel. A pin of proxmox-boot-tool, saved_entry of GRUB's environment and the EFI variable
LoaderEntryDefault stay when a newer kernel is installed. What was to boot is told by the snapshot before the boot, as
long as all that decides it still says so: a kernel installed since, or another choice, makes that plan void. Where a
host shows nothing of its loader there is no row.

Row keys, by release; a key without a value is missing:
    release
    running          it runs now
    boots_next       the next boot starts it
    by               of the next one: what decides so
    missing          of the next one: paths in /boot that the loader needs, and that are not there
    held_back        of the next one: a newer installed kernel, which a pin or saved choice keeps from starting
    planned, planned_by   of the running one: the release that was to boot instead, and what decided so
    refresh          commands that make the loader's entries anew
    unknown          {planned: {source, why}} when that could not be told
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...sections.debversion import release_order
from ..facts import Derived
from .boot_loader import managed, refresh, seen

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Table = Mapping[str, Any]
HELD = ("/etc/kernel/proxmox-boot-pin", "saved_entry of grubenv", "LoaderEntryDefault")


def boot_kernels(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for the running kernel and one for the next, or one for both; BEFORE tells which was to come."""
    running = after.table("kernel").get("release") or after.meta.kernel
    following = after.table("boot").get("next", {}).get("kernel")
    if not seen(after) or running is None:
        return Derived()
    gap = after.unread("boot", ("next",)) or after.unread("kernel", ("installed",))
    if gap:
        return Derived({}, [{"subject": "", "what": "which kernel boots next", "source": gap.source, "why": gap.why}])
    found = Derived()
    for release in dict.fromkeys(filter(None, (running, following))):
        row: Row = {"release": release, "running": release == running, "boots_next": release == following}
        row |= _next(after, release) if release == following else {}
        row |= _planned(after, before, release) if before and release == running else {}
        found.rows[release] = row
    return found


def _next(snapshot: Snapshot, release: str) -> Row:
    by, newest = snapshot.table("boot").get("next", {}).get("by"), snapshot.table("kernel").get("newest")
    found: Row = {"by": by, "missing": list(_missing(snapshot, release)), "refresh": refresh(snapshot)}
    if by in HELD and newest and release_order(newest) > release_order(release):
        found["held_back"] = newest
    return {key: value for key, value in found.items() if value}


def _missing(snapshot: Snapshot, release: str) -> Iterator[str]:
    """What the loader takes from /boot by the kernel's own name, and is not there."""
    there = snapshot.table("kernel").get("installed", {}).get(release, {})
    for path in _files(snapshot, release):
        folder, _, name = path.rpartition("/")
        kind = {f"vmlinuz-{release}": "image", f"initrd.img-{release}": "initrd"}.get(name)
        if folder in ("", "/boot") and kind and not there.get(kind):
            yield f"/boot/{name}"


def _files(snapshot: Snapshot, release: str) -> list[str]:
    """The paths that the loader, or proxmox-boot-tool for it, takes."""
    boot = snapshot.table("boot")
    chosen: Table = boot["next"]
    if chosen.get("menu", "").startswith("/boot/grub"):
        entry = boot.get("menus", {}).get(chosen["menu"], {}).get("entries", {}).get(chosen.get("entry"), {})
        return [entry.get("linux", ""), *entry.get("initrds", ())]
    copied = managed(snapshot) and "menu" not in chosen
    return [f"/boot/vmlinuz-{release}", f"/boot/initrd.img-{release}"] if copied else []


def _planned(after: Snapshot, before: Snapshot, release: str) -> Row:
    """The kernel that BEFORE says was to boot, when RELEASE is none that was or is meant."""
    boot, then, now = before.meta.boot_id, before.table("boot"), after.table("boot")
    rebooted = boot and after.meta.boot_id and boot != after.meta.boot_id and before.meta.machine == after.meta.machine
    plan: Table | None = then.get("next")
    if not rebooted or plan is None or _changed(before, after):
        return {}
    meant = {plan["kernel"], *(side.get("default", {}).get("kernel") for side in (then, now))}
    gap = before.unread("boot", ("default",)) or after.unread("boot", ("default",))
    if release in meant:
        return {}
    if gap:
        return {"unknown": {"planned": {"source": gap.source, "why": gap.why}}}
    return {"planned": plan["kernel"], "planned_by": plan["by"], "refresh": refresh(after)}


def _changed(before: Snapshot, after: Snapshot) -> bool:
    """Whether kernels came or went, or a pin was set or taken away, so that another kernel may be meant now."""
    kernels = [side.table("kernel").get("installed", {}).keys() for side in (before, after)]
    pins = [side.table("boot").get("proxmox", {}).get("pin") for side in (before, after)]
    return bool(kernels[0] != kernels[1] or pins[0] != pins[1])
