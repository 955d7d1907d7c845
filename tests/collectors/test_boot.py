"""Loader, menus and the kernel that comes next, on hosts of each loader."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from fixtures import epyc
from fixtures.parts import boot as part
from snapshot.collectors import boot
from snapshot.collectors.boot import parse_variable
from snapshot.collectors.boot_menus import mounts

from .fake import Content, MemoryHost, gather

DENIED = PermissionError(errno.EACCES, "denied")
OLD, NEW = "6.8.0-40-generic", "6.8.0-45-generic"
IMAGES: dict[str, Content] = {f"/boot/vmlinuz-{release}": b"" for release in (OLD, NEW)}
GRUB_ENV = "# GRUB Environment Block\n{}{}"
GRUB_CFG = """\
if [ "${{next_entry}}" ] ; then
   set default="${{next_entry}}"
else
   set default="{default}"
fi
menuentry 'Ubuntu' --class os $menuentry_id_option 'gnulinux-simple-1' {{
	linux	/vmlinuz-{new} root=UUID=1 ro quiet iommu=pt
	initrd	/initrd.img-{new}
}}
submenu 'Advanced options for Ubuntu' $menuentry_id_option 'gnulinux-advanced-1' {{
	menuentry 'Ubuntu, with Linux {new}' $menuentry_id_option 'gnulinux-{new}-advanced-1' {{
		linux	/vmlinuz-{new} root=UUID=1 ro quiet iommu=pt
	}}
	menuentry 'Ubuntu, with Linux {old}' $menuentry_id_option 'gnulinux-{old}-advanced-1' {{
		linux	/vmlinuz-{old} root=UUID=1 ro quiet
	}}
	menuentry 'Ubuntu, with Linux {old} (recovery mode)' $menuentry_id_option 'gnulinux-{old}-recovery-1' {{
		linux	/vmlinuz-{old} root=UUID=1 ro recovery nomodeset
	}}
}}
"""


def cfg(default: str = "0") -> str:
    return GRUB_CFG.format(default=default, new=NEW, old=OLD)


def ubuntu(default: str = "0", env: str = "") -> dict[str, Content]:
    return IMAGES | {
        "/proc/cmdline": f"BOOT_IMAGE=/vmlinuz-{OLD} root=UUID=1 ro quiet\n", "/boot/grub/grub.cfg": cfg(default),
        "/boot/grub/grubenv": GRUB_ENV.format(env, "#" * (1024 - 25 - len(env))),
        "/etc/default/grub": 'GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT="quiet iommu=pt"\n',
        "/proc/self/mountinfo": "1 0 8:2 / / rw - ext4 /dev/sda2 rw\n2 1 8:1 / /boot/efi rw - vfat /dev/sda1 rw\n",
    }


def found(files: dict[str, Content], links: dict[str, str] | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    model, reading = gather(boot, MemoryHost(files, links))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def proxmox(more: dict[str, Content], kernel: str = epyc.BEFORE) -> tuple[dict[str, Any], dict[str, str]]:
    host = epyc.host(kernel)
    files: dict[str, Content] = dict(host.files)
    part.plant(kernel, files, host.links, {}, {})
    return found(files | more, host.links)


def test_the_epyc_host_boots_the_newest_kernel_next() -> None:
    table, unread = proxmox({})
    assert (table["loader"], table["loader_info"]) == ("systemd-boot", "systemd-boot 252.36-1~deb12u1")
    assert table["default"] == {"kernel": epyc.AFTER, "by": "newest kernel in /boot"} == table["next"]
    configured = table["configured"]["kernel-cmdline"]
    assert configured["words"][-2:] == ["amd_pstate=active", "processor.max_cstate=1"]
    assert (configured["used"], table["configured"]["default-grub"]["used"]) == (True, False)
    assert table["esps"] == {uuid: {"configured": True, "present": True} for uuid in part.UUIDS}
    assert "menus" not in table
    assert unread == {
        f"menus.{uuid}/{name}": "the partition is not mounted"
        for uuid in part.UUIDS for name in ("grub/grub.cfg", "loader/entries")
    }


def test_pins_of_proxmox() -> None:
    pin: dict[str, Content] = {"/etc/kernel/proxmox-boot-pin": "6.8.12-9-pve\n"}
    table, _ = proxmox(pin)
    assert table["default"] == {"kernel": "6.8.12-9-pve", "by": "/etc/kernel/proxmox-boot-pin"} == table["next"]
    table, _ = proxmox(pin | {
        "/etc/kernel/next-boot-pin": "6.8.12-10-pve\n", "/etc/kernel/proxmox-boot-manual-kernels": "6.5.13-6-pve\n\n",
    })
    assert (table["default"]["kernel"], table["next"]["kernel"]) == ("6.8.12-9-pve", "6.8.12-10-pve")
    assert table["proxmox"]["manual_kernels"] == ["6.5.13-6-pve"]


def test_an_esp_that_is_missing_is_told() -> None:
    table, _ = proxmox({"/etc/kernel/proxmox-boot-uuids": "5A1B-0001\nDEAD-BEEF\n"})
    assert table["esps"]["DEAD-BEEF"] == {"configured": True, "present": False}


def test_a_mounted_esp_is_looked_into() -> None:
    entry = "title P\nversion {0}\noptions root=ZFS=rpool quiet\nlinux /EFI/proxmox/{0}/vmlinuz-{0}\n"
    esp: dict[str, Content] = {
        "/proc/self/mountinfo": "9 1 259:2 / /efi rw - vfat /dev/nvme0n1p2 rw\n", "/efi/loader/loader.conf":
        "timeout 3\ndefault proxmox-*\n", "/efi/EFI/proxmox/6.8.12-9-pve/initrd.img-6.8.12-9-pve": b"12345",
    }
    for release in ("6.8.12-9-pve", "6.8.12-10-pve"):
        esp[f"/efi/loader/entries/proxmox-{release}.conf"] = entry.format(release)
    table, _ = proxmox(esp)
    assert table["esps"]["5A1B-0001"]["initrds"] == {"6.8.12-9-pve": 5}
    assert table["default"] == {
        "kernel": "6.8.12-10-pve", "entry": "proxmox-6.8.12-10-pve", "menu": "5A1B-0001/loader/entries",
        "by": "loader.conf, else the first entry",
    }
    found = table["menus"]["5A1B-0001/loader/entries"]["entries"]["proxmox-6.8.12-9-pve"]
    assert (found["kernel"], found["words"]) == ("6.8.12-9-pve", ["root=ZFS=rpool", "quiet"])


def test_grub_by_number_id_and_title() -> None:
    table, unread = found(ubuntu())
    assert unread == {}
    assert table["loader"] == "grub"
    assert table["default"] == {
        "kernel": NEW, "entry": "gnulinux-simple-1", "menu": "/boot/grub/grub.cfg", "by": "default of grub.cfg",
    }
    wanted = (
        "1>1", f"gnulinux-advanced-1>gnulinux-{OLD}-advanced-1",
        f"Advanced options for Ubuntu>Ubuntu, with Linux {OLD}", f"1>gnulinux-{OLD}-advanced-1",
    )
    for default in wanted:
        assert found(ubuntu(default))[0]["default"]["kernel"] == OLD
    assert found(ubuntu("no such entry"))[0]["default"]["kernel"] == NEW


def test_saved_and_next_entries_of_grub() -> None:
    saved = f"saved_entry=gnulinux-advanced-1>gnulinux-{OLD}-advanced-1\n"
    table, _ = found(ubuntu("${saved_entry}", saved))
    assert (table["default"]["kernel"], table["next"]["kernel"]) == (OLD, OLD)
    assert table["default"]["by"] == "saved_entry of grubenv"
    assert found(ubuntu("0", "saved_entry=gnulinux-simple-1\n"))[0]["default"]["by"] == "default of grub.cfg"
    table, _ = found(ubuntu("0", f"next_entry=1>gnulinux-{OLD}-advanced-1\nboot_success=1\n"))
    assert (table["default"]["kernel"], table["next"]["kernel"]) == (NEW, OLD)
    assert table["next"]["by"] == "next_entry of grubenv"
    assert set(table["grub_env"]) == {"next_entry"}


@pytest.mark.parametrize("env", [DENIED, "", "junk", b"\xff\xfe" * 600])
def test_a_saved_entry_that_cannot_be_read_is_not_guessed(env: Content) -> None:
    table, unread = found(ubuntu("${saved_entry}") | {"/boot/grub/grubenv": env})
    assert not {"default", "next"} & set(table)
    assert {"grub_env", "default", "next", "menus./boot/grub/grub.cfg.default"} <= set(unread)
    table, unread = found(ubuntu("0") | {"/boot/grub/grubenv": env})
    assert (table["default"]["kernel"], "next" in table) == (NEW, False)


def test_without_root_the_menu_is_unread() -> None:
    table, unread = found(ubuntu() | {"/boot/grub/grub.cfg": DENIED, "/boot/efi/": DENIED})
    assert not {"default", "next", "menus"} & set(table)
    assert unread["menus./boot/grub/grub.cfg"] == "EACCES"
    assert unread["default"] == unread["next"] == "no entry, pin or image tells"
    assert table["configured"]["default-grub"]["words"] == ["quiet", "iommu=pt"]


@pytest.mark.parametrize("junk", ["", "\0", "x" * 9000, "}\n" * 50, "menuentry 'a' {\n" * 50])
def test_a_grub_cfg_without_sense_is_unread(junk: str) -> None:
    table, unread = found(ubuntu() | {"/boot/grub/grub.cfg": junk})
    assert not {"default", "next"} & set(table)
    assert "default" in unread


def test_an_automount_of_boot_is_not_triggered() -> None:
    class Watched(MemoryHost):
        def _resolve(self, path: str, follow: bool = True) -> str:
            assert path != "/boot" and not path.startswith("/boot/"), path
            return super()._resolve(path, follow)

    autofs = "5 1 0:40 / /boot rw - autofs systemd-1 rw,fd=45\n"
    model, reading = gather(boot, Watched(ubuntu() | {"/proc/self/mountinfo": autofs}))
    assert "menus" not in model.table()
    assert {("menus",), ("default",), ("next",), ("grub_env",)} <= {u.path for u in reading.unreads}


def test_systemd_boot_and_what_it_was_asked_for_once() -> None:
    guid = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"
    entry = "title Linux\nlinux /m/{0}/linux\ninitrd /m/{0}/initrd\noptions root=UUID=1 password=hunter2\n"
    files: dict[str, Content] = {
        "/proc/cmdline": "initrd=\\m\\6.1\\initrd root=UUID=1\n",
        "/proc/self/mountinfo": "5 1 8:1 / /efi rw - vfat /dev/sda1 rw\n",
        "/efi/loader/entries/m-6.1.0-9.conf": entry.format("6.1.0-9"),
        "/efi/loader/entries/m-6.1.0-10.conf": entry.format("6.1.0-10"),
    }
    table, unread = found(files)
    assert (table["default"]["kernel"], unread) == ("6.1.0-10", {})
    assert "hunter2" not in repr(table)
    files[f"/sys/firmware/efi/efivars/LoaderEntryOneShot-{guid}"] = b"\7\0\0\0" + "m-6.1.0-9.conf\0".encode("utf-16-le")
    table, _ = found(files)
    assert (table["default"]["kernel"], table["next"]["kernel"]) == ("6.1.0-10", "6.1.0-9")
    files[f"/sys/firmware/efi/efivars/LoaderEntryOneShot-{guid}"] = DENIED
    assert "next" not in found(files)[0]


EFI_VARIABLE = "/sys/firmware/efi/efivars/{}-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"


def systemd_boot(*entries: str, conf: str = "", **variables: str) -> dict[str, Content]:
    files: dict[str, Content] = {
        "/proc/cmdline": "initrd=\\m\\initrd\n", "/efi/loader/loader.conf": conf,
        "/proc/self/mountinfo": "5 1 8:1 / /efi rw - vfat /dev/sda1 rw\n",
    }
    files |= {f"/efi/loader/entries/{name}.conf": f"linux /vmlinuz-{name[2:].partition('+')[0]}\n" for name in entries}
    return files | {
        EFI_VARIABLE.format(name): b"\7\0\0\0" + f"{value}\0".encode("utf-16-le") for name, value in variables.items()
    }


def test_an_entry_without_tries_left_comes_last() -> None:
    table, unread = found(systemd_boot("m-6.1+3", "m-6.5+0-3", "m-6.0"))
    assert (table["default"]["kernel"], table["default"]["entry"], unread) == ("6.1", "m-6.1", {})
    assert set(table["menus"]["/efi/loader/entries"]["entries"]) == {"m-6.0", "m-6.1", "m-6.5"}
    table, unread = found(systemd_boot("m-6.1+3", "m-6.5+0-3", "m-6.0", conf="default m-6.5.conf\n"))
    assert not {"default", "next"} & set(table)  # it depends on the loader's age
    assert {"default", "next", "menus./efi/loader/entries.default"} <= set(unread)


def test_the_saved_entry_of_systemd_boot() -> None:
    saved = systemd_boot("m-6.1", "m-6.5", conf="default @saved\n", LoaderEntryLastBooted="m-6.1.conf")
    table, unread = found(saved)
    assert (table["default"]["kernel"], unread) == ("6.1", {})
    assert table["menus"]["/efi/loader/entries"]["default"] == "m-6.1"
    assert found(systemd_boot("m-6.1", "m-6.5", conf="default @saved\n"))[0]["default"]["kernel"] == "6.5"
    for hidden in (EFI_VARIABLE.format("LoaderEntryLastBooted"), "/efi/loader/loader.conf"):
        table, unread = found(saved | {hidden: DENIED})
        assert "default" not in table and {"default", "menus./efi/loader/entries.default"} <= set(unread)
    saved = systemd_boot("m-6.1", "m-6.5", LoaderEntryDefault="@saved", LoaderEntryLastBooted="m-6.1.conf")
    table, _ = found(saved)
    assert (table["default"]["kernel"], table["default"]["by"]) == ("6.1", "LoaderEntryDefault")
    assert table["menus"]["/efi/loader/entries"]["default"] == "m-6.5"


def test_what_systemd_boot_is_asked_for_is_a_pattern() -> None:
    table, _ = found(systemd_boot("m-6.1", "m-6.5", LoaderEntryDefault="M-6.1*", LoaderEntryOneShot="m-6.5.conf"))
    assert (table["default"]["kernel"], table["next"]["kernel"]) == ("6.1", "6.5")
    table, unread = found(systemd_boot("m-6.1+2", "m-6.5", LoaderEntryOneShot="m-6.1.conf"))
    assert (table["default"]["kernel"], "next" in table, "next" in unread) == ("6.5", False, True)


def test_entries_of_fedora_are_grubs() -> None:
    files: dict[str, Content] = {
        "/proc/cmdline": "BOOT_IMAGE=(hd0,gpt2)/vmlinuz-5.14.0-1.el9.x86_64 root=/dev/sda2\n",
        "/boot/grub2/grub.cfg": 'set default="${saved_entry}"\ninsmod blscfg\nblscfg\n',
        "/boot/grub2/grubenv": GRUB_ENV.format("saved_entry=m-5.14.0-1\nkernelopts=root=/dev/sda2 ro\n", ""),
        "/boot/loader/entries/m-5.14.0-1.conf": "linux /vmlinuz-5.14.0-1\noptions $kernelopts quiet\n",
        "/boot/loader/entries/m-5.14.0-2.conf": "linux /vmlinuz-5.14.0-2\noptions $kernelopts\n",
    }
    table, unread = found(files)
    assert (table["default"]["kernel"], table["default"]["by"]) == ("5.14.0-1", "saved_entry of grubenv")
    entry = table["menus"]["/boot/loader/entries"]["entries"]["m-5.14.0-1"]
    assert (entry["words"], unread) == (["root=/dev/sda2", "ro", "quiet"], {})


def test_only_the_first_line_of_kernel_cmdline_counts() -> None:
    table, _ = proxmox({"/etc/kernel/cmdline": "root=ZFS=a quiet\niommu=pt\n\n"})
    configured = table["configured"]["kernel-cmdline"]
    assert (configured["words"], configured["unused_lines"]) == (["root=ZFS=a", "quiet"], 1)
    configured = proxmox({"/etc/kernel/cmdline": "\nroot=ZFS=a\n"})[0]["configured"]["kernel-cmdline"]
    assert (configured["words"], configured["unused_lines"]) == ([], 1)


def test_a_host_that_tells_nothing_is_unknown() -> None:
    table, unread = found({})
    assert table == {}
    assert set(unread) == {"loader", "default", "next"}


def test_variables_and_mounts() -> None:
    assert parse_variable(b"\6\0\0\0" + "GRUB 2.12\0".encode("utf-16-le")) == "GRUB 2.12"
    assert [parse_variable(data) for data in (b"", b"\6\0\0\0", b"\6\0\0\0\0\xd8", b"\6\0\0\0a\0\0\0b\0")] == [None] * 4
    assert list(mounts("1 0 8:1 / /a\\040b rw - vfat /dev/x rw\nx\n - \n")) == [("/a b", "vfat", "/dev/x")]
