"""How the kernel that ran before is started again at every boot: sections kernel, boot and os of both sides.

grub-mkconfig(8), GRUB manual, default: an entry below a submenu is named by all titles, joined by >; Debian and Ubuntu
read /etc/default/grub.d besides. grubby(8) on Fedora and its kin; bootctl(1), set-default; proxmox-boot-tool.

One row, by the empty key, where another kernel runs than before:
    kernel     the one that ran before
    entry      of the loader's menu: title below its submenus, or id
    durable    commands that start it at every boot; a remark where the loader or its entry is not known
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from ..facts import Derived
from .boot_loader import by_grubby, managed

if TYPE_CHECKING:
    from ...document import Snapshot

DEFAULT = "/etc/default/grub.d/90-default.cfg"
BY_HAND = "# choose {} in the loader's menu, and make it the default there"


def kernel_return(after: Snapshot, before: Snapshot | None) -> Derived:
    """The row, where both releases are known and differ."""
    old = before.table("kernel").get("release") if before else None
    if not old or old == after.table("kernel").get("release", old):
        return Derived()
    entry = _entry(after, old)
    row = {"kernel": old, "entry": entry, "durable": _durable(after, old, entry)}
    return Derived({"": {key: value for key, value in row.items() if value is not None}})


def _durable(after: Snapshot, old: str, entry: str | None) -> list[str]:
    boot, name = after.table("boot"), shlex.quote(old)
    if managed(after) or "proxmox" in boot:
        return [f"proxmox-boot-tool kernel pin {name}"]
    if by_grubby(after):
        return [f"grubby --set-default={shlex.quote(f'/boot/vmlinuz-{old}')}"]
    if entry and boot.get("loader") == "systemd-boot":
        return [f"bootctl set-default {shlex.quote(entry)}"]
    if entry and boot.get("loader") == "grub":
        line = f"GRUB_DEFAULT={shlex.quote(entry)}"
        return [f"echo {shlex.quote(line)} > {DEFAULT}", "update-grub"]
    return [BY_HAND.format(name)]


def _entry(after: Snapshot, old: str) -> str | None:
    """What names OLD in the menu of the loader that started this kernel; None when no entry is known to start it."""
    boot = after.table("boot")
    for menu in boot.get("menus", {}).values():
        for key, entry in menu["entries"].items():
            if entry.get("kernel") == old and not entry.get("recovery"):
                title: str | None = entry.get("title") if boot.get("loader") == "grub" else key
                return title
    return None
