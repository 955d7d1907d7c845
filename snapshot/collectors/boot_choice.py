"""Which kernel the loader starts, from its menus, GRUB's environment, EFI variables and proxmox-boot-tool's pins.

GRUB takes the first entry where its default names none. systemd-boot takes LoaderEntryOneShot once, else
LoaderEntryDefault, else loader.conf's default, else the first of its list (bootctl(1), loader.conf(5)).
proxmox-boot-tool writes a pin into the loader's configuration at each refresh; a next-boot pin stands above it and is
taken away after that boot by proxmox-boot-cleanup.service; without one the newest kernel comes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..records import record
from ..sections.boot import Choice, Menu, Proxmox
from .boot_entries import GrubConfig
from .kernel import installed_kernels, newest


@record(frozen=True)
class Facts:
    """What decides."""

    loader: str | None
    proxmox: Proxmox | None
    managed: bool  # ESPs are written by proxmox-boot-tool
    menus: Mapping[str, Menu]
    environment: Mapping[str, str]
    images: Sequence[str]  # names in /boot
    one_shot: str | None
    chosen: str | None


def grub_entry(config: GrubConfig, wanted: str) -> str | None:
    """The key of the entry that GRUB takes for WANTED, or else its first; None when there is no entry."""
    return config.find(wanted) or config.find("0") or next(iter(config.names.values()), None)


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
        is_grub = key.endswith("grub.cfg")
        if facts.loader in (None, "grub" if is_grub else "systemd-boot") or len(facts.menus) == 1:
            wanted = facts.chosen.removesuffix(".conf") if facts.chosen and not is_grub else None
            entry = wanted if wanted in menu.entries else menu.default
            by = "LoaderEntryDefault" if wanted and entry == wanted else _reason(facts, is_grub, entry)
            found.append(_choice(menu, key, entry, by))
    kernels = {choice.kernel for choice in found if choice}
    return next(filter(None, found), None) if len(kernels) == 1 else None


def _reason(facts: Facts, is_grub: bool, entry: str | None) -> str:
    if entry and entry == facts.environment.get("saved_entry"):
        return "saved_entry of grubenv"
    return "default of grub.cfg" if is_grub else "loader.conf, else the newest entry"


def _choice(menu: Menu, key: str, entry: str | None, by: str) -> Choice | None:
    return Choice(kernel=menu.entries[entry].kernel, entry=entry, menu=key, by=by) if entry in menu.entries else None


def _once(facts: Facts) -> Choice | None:
    if facts.managed and facts.proxmox and facts.proxmox.next_boot_pin:
        return Choice(kernel=facts.proxmox.next_boot_pin, by="/etc/kernel/next-boot-pin")
    for key, menu in facts.menus.items():
        if menu.once:
            return _choice(menu, key, menu.once, "next_entry of grubenv")
        wanted = (facts.one_shot or "").removesuffix(".conf")
        if not key.endswith("grub.cfg") and wanted in menu.entries:
            return _choice(menu, key, wanted, "LoaderEntryOneShot")
    return None
