from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.boot.kernel_return import kernel_return

from ..made import snapshot

OLD, NEW = "6.8.0-58-generic", "6.8.0-60-generic"
TITLE = f"Advanced options for Ubuntu>Ubuntu, with Linux {OLD}"
UBUNTU = {"id": "ubuntu"}


def entry(kernel: str = OLD, **more: Any) -> dict[str, Any]:
    at = {"file": "/boot/grub/grub.cfg", "line": 1, "text": ""}
    return {"title": TITLE, "kernel": kernel, "linux": f"/vmlinuz-{kernel}", "origin": at} | more


def boot(loader: str = "grub", menu: str = "/boot/grub/grub.cfg", **entries: dict[str, Any]) -> dict[str, Any]:
    return {"loader": loader, "menus": {menu: {"entries": entries}}}


def durable(old: str = OLD, **sections: dict[str, Any]) -> list[str]:
    after = snapshot(None, "", kernel={"release": NEW}, **sections)
    row = kernel_return(after, snapshot(kernel={"release": old})).rows[""]
    assert row["kernel"] == old
    commands: list[str] = row["durable"]
    return commands


@pytest.mark.parametrize(("sections", "commands"), [
    ({"boot": {"proxmox": {}}}, [f"proxmox-boot-tool kernel pin {OLD}"]),
    ({"boot": boot(old=entry())}, [
        f"""echo 'GRUB_DEFAULT='"'"'{TITLE}'"'"'' > /etc/default/grub.d/90-default.cfg""", "update-grub"]),
    ({"os": {"id": "fedora"}, "boot": {"loader": "grub"}}, [f"grubby --set-default=/boot/vmlinuz-{OLD}"]),
    ({"boot": boot(menu="/boot/grub2/grub.cfg", old=entry())}, [f"grubby --set-default=/boot/vmlinuz-{OLD}"]),
    ({"boot": boot("systemd-boot", "/boot/loader/entries", **{"a.conf": entry()})}, ["bootctl set-default a.conf"]),
])
def test_by_the_loader_of_the_host(sections: dict[str, Any], commands: list[str]) -> None:
    assert durable(**sections) == commands


@pytest.mark.parametrize("sections", [
    {}, {"os": UBUNTU}, {"os": UBUNTU, "boot": {"loader": "grub"}}, {"boot": boot(new=entry(NEW))},
    {"boot": boot(old=entry(recovery=True))}, {"boot": boot(old=entry(title=None))},
])
def test_without_loader_or_entry_it_is_a_remark(sections: dict[str, Any]) -> None:
    (remark,) = durable(**sections)
    assert remark.startswith("#") and OLD in remark


def test_values_of_the_host_are_quoted() -> None:
    assert durable("6; reboot", boot={"proxmox": {}}) == ["proxmox-boot-tool kernel pin '6; reboot'"]


def test_the_same_kernel_or_one_that_is_not_known_has_no_row() -> None:
    same, unread = snapshot(kernel={"release": NEW}), snapshot({"kernel": ["release"]}, kernel={})
    for after, before in ((same, same), (same, None), (same, unread), (unread, same)):
        assert kernel_return(after, before).rows == {}
