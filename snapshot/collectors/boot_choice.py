"""Which kernel the loader starts, from its menus, GRUB's environment, EFI variables and proxmox-boot-tool's pins.

GRUB takes the first entry where its default names none. systemd-boot takes LoaderEntryOneShot once, else
LoaderEntryDefault, else loader.conf's default, else the first of its list (bootctl(1), loader.conf(5)); @saved in one
of the latter two stands for LoaderEntryLastBooted.
proxmox-boot-tool writes a pin into the loader's configuration at each refresh; a next-boot pin stands above it and is
taken away after that boot by proxmox-boot-cleanup.service; without one the newest kernel comes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..records import record
from ..sections.boot import Choice, Menu, Proxmox
from .boot_bls import Folder
from .kernel import installed_kernels, newest


@record(frozen=True)
class Facts:
    """What decides."""

    loader: str | None
    proxmox: Proxmox | None
    managed: bool  # ESPs are written by proxmox-boot-tool
    menus: Mapping[str, Menu]
    reasons: Mapping[str, str]  # why a menu's default is that
    folders: Mapping[str, Folder]  # systemd-boot's of the menus
    images: Sequence[str]  # names in /boot
    one_shot: str | None
    chosen: str | None


def choices(facts: Facts) -> dict[str, Choice | None]:
    """default: what starts when nobody asks for another; next: what the next boot starts; None where nothing tells."""
    default = _of_menus(facts) or _of_proxmox(facts)
    return {"default": default, "next": _once(facts) or default}


def _of_proxmox(facts: Facts) -> Choice | None:
    if not facts.managed or facts.proxmox is None:
        return None
    if facts.proxmox.pin:
        return Choice(kernel=facts.proxmox.pin, by="/etc/kernel/proxmox-boot-pin")
    return Choice(kernel=newest(installed_kernels(facts.images, [])), by="newest kernel in /boot")


def _of_menus(facts: Facts) -> Choice | None:
    """Of several menus the one of the loader that started this kernel; none where two of them disagree."""
    found = []
    for key, menu in facts.menus.items():
        is_grub = key not in facts.folders
        if facts.loader in (None, "grub" if is_grub else "systemd-boot") or len(facts.menus) == 1:
            asked = facts.folders[key].asked(facts.chosen) if not is_grub else {None}
            entries = {entry or menu.default for entry in asked}
            found.append(_choice(menu, key, entries, "LoaderEntryDefault" if asked - {None} else facts.reasons[key]))
    kernels = {choice.kernel for choice in found}
    return next(iter(found), None) if len(kernels) == 1 else None


def _choice(menu: Menu, key: str, entries: set[str | None], by: str) -> Choice:
    """The one of ENTRIES; without a kernel when there are several, or what it is cannot be told."""
    entry = next(iter(entries)) if len(entries) == 1 else None
    return Choice(kernel=menu.entries[entry].kernel if entry else None, entry=entry, menu=key, by=by)


def _once(facts: Facts) -> Choice | None:
    if facts.managed and facts.proxmox and facts.proxmox.next_boot_pin:
        return Choice(kernel=facts.proxmox.next_boot_pin, by="/etc/kernel/next-boot-pin")
    for key, menu in facts.menus.items():
        if menu.once:
            return _choice(menu, key, {menu.once}, "next_entry of grubenv")
        asked = facts.folders[key].asked(facts.one_shot) if key in facts.folders else set()
        if asked - {None}:
            return _choice(menu, key, asked, "LoaderEntryOneShot")
    return None
