"""The commands that bring words onto the kernel command line, for the loader that this host has.

grub-mkconfig(8), grubby(8), kernel-install(8); proxmox-boot-tool writes the entries of the EFI partitions that
/etc/kernel/proxmox-boot-uuids names, GRUB's too. grub-mkconfig of Debian and Ubuntu reads /etc/default/grub.d, that of
Fedora and its kin does not: there grubby changes the entries.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...regexes import regex

if TYPE_CHECKING:
    from ...document import Snapshot

GRUBBY = ("fedora", "rhel", "centos", "rocky", "almalinux")
DROP_IN, KERNEL_CMDLINE = "/etc/default/grub.d/90-cmdline.cfg", "/etc/kernel/cmdline"
_PLAIN = regex(r"[\w.,:=/+@%-]+(?: [\w.,:=/+@%-]+)*", re.ASCII)


def refresh(snapshot: Snapshot) -> list[str]:
    """Commands that make the loader's entries anew from the configuration; none when the loader is not known."""
    boot = snapshot.table("boot")
    kernel = boot.get("next", {}).get("kernel") or snapshot.meta.kernel
    if managed(snapshot):
        return ["proxmox-boot-tool refresh"]
    if _grub2(snapshot):
        return ["grub2-mkconfig -o /boot/grub2/grub.cfg"]
    if boot.get("loader") == "systemd-boot" and kernel and re.fullmatch(r"[\w.+~-]+", kernel, re.ASCII):
        return [f"kernel-install add {kernel} /boot/vmlinuz-{kernel}"]
    return ["update-grub"] if boot.get("loader") == "grub" else []


def add(snapshot: Snapshot, words: str) -> list[str]:
    """Commands that put WORDS onto every later command line; none where the loader or a safe spelling is not known."""
    loader = snapshot.table("boot").get("loader")
    if loader not in ("grub", "systemd-boot") or not _PLAIN.fullmatch(words):
        return []
    if loader == "systemd-boot":
        return [f"sed -i '1s|$| {words}|' {KERNEL_CMDLINE}", *refresh(snapshot)]
    if _grub2(snapshot):
        return [f"grubby --update-kernel=ALL --args='{words}'"]
    line = f'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT {words}"'
    return [f"echo '{line}' >> {DROP_IN}", *refresh(snapshot)]


def seen(snapshot: Snapshot) -> bool:
    """Whether this host shows anything of its loader; a guest whose kernel comes from outside has none."""
    boot = snapshot.table("boot")
    return any(boot.get(key) for key in ("loader", "menus", "proxmox"))


def managed(snapshot: Snapshot) -> bool:
    """Whether proxmox-boot-tool writes the entries."""
    return any(esp.get("configured") for esp in snapshot.table("boot").get("esps", {}).values())


def by_grubby(snapshot: Snapshot) -> bool:
    """Whether grubby changes the entries: GRUB of Fedora and its kin, by its menu, else by the system's id."""
    return _grub2(snapshot) or snapshot.table("os").get("id") in GRUBBY


def _grub2(snapshot: Snapshot) -> bool:
    return any(key.endswith("grub2/grub.cfg") for key in snapshot.table("boot").get("menus", {}))
