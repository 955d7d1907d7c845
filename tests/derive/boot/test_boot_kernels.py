from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.boot.boot_kernels import boot_kernels
from snapshot.derive.boot.boot_loader import add, managed, refresh, seen
from snapshot.derive.facts import Derived
from snapshot.document import Snapshot

from ...pairs import snapshot

OLD, NEW = "6.8.12-9-pve", "6.14.11-1-pve"
WHOLE = {"image": True, "initrd": True, "modules": True}
ESP = {"AAAA-0001": {"configured": True}}
CFG = "/boot/grub/grub.cfg"
GRUB2: dict[str, Any] = {"loader": "grub", "menus": {"/boot/grub2/grub.cfg": {"entries": {}}}}


def host(
    boot: dict[str, Any], *, runs: str = OLD, installed: dict[str, Any] | None = None, boot_id: str = "a",
    unread: dict[str, list[list[str]]] | None = None,
) -> Snapshot:
    kernels = {OLD: WHOLE, NEW: WHOLE} if installed is None else installed
    kernel = {"release": runs, "installed": kernels, "newest": NEW if NEW in kernels else OLD}
    return snapshot({"kernel": kernel, "boot": boot}, meta={"boot_id": boot_id, "machine": "m"}, unread=unread)


def proxmox(following: str = NEW, by: str = "newest kernel in /boot", **more: Any) -> dict[str, Any]:
    """Section boot of a host whose ESPs proxmox-boot-tool writes."""
    choice = {"kernel": following, "by": by}
    return {"loader": "systemd-boot", "esps": ESP, "proxmox": {}, "next": choice, "default": choice} | more


def grub(kernel: str = NEW, *initrds: str) -> dict[str, Any]:
    entry = {"linux": f"/boot/vmlinuz-{kernel}", "kernel": kernel, "initrds": list(initrds), "words": [],
             "origin": {"file": CFG, "line": 1, "text": ""}}
    choice = {"kernel": kernel, "entry": "e", "menu": CFG, "by": "default of grub.cfg"}
    return {"loader": "grub", "menus": {CFG: {"entries": {"e": entry}}}, "next": choice, "default": choice}


def test_a_kernel_that_runs_and_one_that_comes() -> None:
    rows = boot_kernels(host(proxmox()), None).rows
    assert rows[OLD] == {"release": OLD, "running": True, "boots_next": False}
    assert rows[NEW] == {"release": NEW, "running": False, "boots_next": True, "by": "newest kernel in /boot",
                         "refresh": ["proxmox-boot-tool refresh"]}


@pytest.mark.parametrize(("boot", "missing"), [
    (proxmox("6.2"), ["/boot/vmlinuz-6.2", "/boot/initrd.img-6.2"]),
    (grub("6.2", "/boot/initrd.img-6.2"), ["/boot/vmlinuz-6.2", "/boot/initrd.img-6.2"]),
    (grub("6.2"), ["/boot/vmlinuz-6.2"]),
    (grub(NEW, "/boot/intel-ucode.img", f"/boot/initrd.img-{NEW}"), None),
])
def test_what_the_loader_takes_and_is_not_there(boot: dict[str, Any], missing: list[str] | None) -> None:
    following = boot["next"]["kernel"]
    assert boot_kernels(host(boot), None).rows[following].get("missing") == missing


def test_a_menu_on_an_esp_has_its_own_copies() -> None:
    boot = grub("6.2")
    boot["menus"] = {"AAAA-0001/grub/grub.cfg": boot["menus"][CFG]}
    boot["next"]["menu"] = "AAAA-0001/grub/grub.cfg"
    assert "missing" not in boot_kernels(host(boot), None).rows["6.2"]


@pytest.mark.parametrize(("by", "held"), [
    ("/etc/kernel/proxmox-boot-pin", NEW), ("saved_entry of grubenv", NEW), ("default of grub.cfg", None),
    ("/etc/kernel/next-boot-pin", None),
])
def test_what_holds_a_newer_kernel_back(by: str, held: str | None) -> None:
    assert boot_kernels(host(proxmox(OLD, by)), None).rows[OLD].get("held_back") == held


def planned(before: Snapshot, after: Snapshot) -> str | None:
    (running,) = [row for row in boot_kernels(after, before).rows.values() if row["running"]]
    found: str | None = running.get("planned")
    return found


def test_another_kernel_than_planned() -> None:
    assert planned(host(proxmox()), host(proxmox(), boot_id="b")) == NEW


@pytest.mark.parametrize("after", [
    host(proxmox(), runs=NEW, boot_id="b"), host(proxmox(), boot_id="a"), host(proxmox(OLD), boot_id="b"),
    host(proxmox(), boot_id="b", installed={OLD: WHOLE, NEW: WHOLE, "6.17": WHOLE}),
    host(proxmox(proxmox={"pin": OLD}), boot_id="b"),
], ids=["as planned", "same boot", "the default is another now", "a kernel came", "a pin was set"])
def test_plans_that_came_true_or_are_void(after: Snapshot) -> None:
    assert planned(host(proxmox()), after) is None


def test_a_choice_for_once_may_have_been_used_up() -> None:
    once = proxmox(default={"kernel": OLD, "by": "pin"})
    assert planned(host(once), host(proxmox(OLD), boot_id="b")) is None


def test_what_was_the_default_is_not_known() -> None:
    before = host(proxmox(default=None) | {"default": {"kernel": NEW, "by": "x"}})
    boot = proxmox()
    del boot["default"]
    row = boot_kernels(host(boot, boot_id="b", unread={"boot": [["default"]]}), before).rows[OLD]
    assert row["unknown"] == {"planned": {"source": "/src", "why": "EACCES"}} and "planned" not in row


def test_what_boots_next_is_not_known() -> None:
    found = boot_kernels(host({"loader": "grub"}, unread={"boot": [["next"]]}), None)
    assert not found.rows and [one["why"] for one in found.unknown] == ["EACCES"]


def test_a_host_that_shows_no_loader() -> None:
    bare = host({}, unread={"boot": [["next"], ["loader"]]})
    assert boot_kernels(bare, None) == Derived() and not seen(bare)


@pytest.mark.parametrize(("boot", "commands"), [
    (proxmox(), ["proxmox-boot-tool refresh"]), (grub(), ["update-grub"]), ({"loader": "grub"}, ["update-grub"]),
    (GRUB2, ["grub2-mkconfig -o /boot/grub2/grub.cfg"]),
    ({"loader": "systemd-boot"}, ["kernel-install add 6.8.12-9-pve /boot/vmlinuz-6.8.12-9-pve"]),
    ({"loader": "systemd-boot", "next": {"kernel": "6; rm -r /", "by": "x"}}, []), ({}, []),
])
def test_how_entries_are_made_anew(boot: dict[str, Any], commands: list[str]) -> None:
    assert refresh(host(boot)) == commands


def test_how_words_are_added() -> None:
    assert add(host(proxmox()), "iommu=pt") == [
        "sed -i '1s|$| iommu=pt|' /etc/kernel/cmdline", "proxmox-boot-tool refresh"]
    line = 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT pci=a,b c=1"'
    assert add(host(grub()), "pci=a,b c=1") == [
        f"echo '{line}' >> /etc/default/grub.d/90-cmdline.cfg", "update-grub"]
    assert add(host(GRUB2), "iommu=pt") == ["grubby --update-kernel=ALL --args='iommu=pt'"]


@pytest.mark.parametrize("words", ["a='b'", 'a="b c"', "a=$(x)", "a|b", "a&b", "a\nb", "", "a\\1"])
def test_hostile_words_are_in_no_command(words: str) -> None:
    assert add(host(proxmox()), words) == [] == add(host(grub()), words)


def test_whose_esps_are_managed() -> None:
    assert managed(host(proxmox())) and not managed(host({"esps": {"/boot/efi": {"mounted": "/boot/efi"}}}))
