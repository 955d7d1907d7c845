"""The running kernel and the installed ones."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors import kernel
from snapshot.collectors.kernel import installed_kernels, newest, parse_banner, taint_letters

from .fake import Content, MemoryHost, gather

DENIED = PermissionError(errno.EACCES, "denied")
SYS, CLOCK = "/proc/sys/kernel", "/sys/devices/system/clocksource/clocksource0"
HOST: dict[str, Content] = {
    f"{SYS}/osrelease": "6.8.12-9-pve\n", f"{SYS}/version": "#1 SMP PREEMPT_DYNAMIC PMX 6.8.12-9\n",
    f"{SYS}/arch": "x86_64\n", f"{SYS}/tainted": "12289\n", "/proc/cmdline": "quiet\n",
    "/sys/kernel/security/lockdown": "none [integrity] confidentiality\n",
    "/sys/kernel/debug/sched/preempt": "none (voluntary) full \n",
    f"{CLOCK}/current_clocksource": "tsc\n", f"{CLOCK}/available_clocksource": "tsc hpet acpi_pm \n",
    "/boot/vmlinuz-6.8.12-9-pve": b"", "/boot/initrd.img-6.8.12-9-pve": b"", "/boot/config-6.8.12-9-pve": b"",
    "/boot/vmlinuz-6.8.12-10-pve": b"", "/lib/modules/6.8.12-9-pve/modules.dep": b"",
    "/lib/modules/6.5.13-1-pve/build": b"",
}


def found(files: dict[str, Content]) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    model, reading = gather(kernel, MemoryHost(files))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def test_a_proxmox_host() -> None:
    table, unread = found(HOST)
    assert table == {
        "release": "6.8.12-9-pve", "version": "#1 SMP PREEMPT_DYNAMIC PMX 6.8.12-9", "machine": "x86_64",
        "tainted": 12289, "taints": ["P", "O", "E"], "lockdown": "integrity", "preempt": "voluntary",
        "clocksource": "tsc", "clocksources": ["tsc", "hpet", "acpi_pm"], "newest": "6.8.12-10-pve",
        "installed": {
            "6.8.12-9-pve": {"image": True, "initrd": True, "modules": True},
            "6.8.12-10-pve": {"image": True, "initrd": False, "modules": False},
        },
    }
    assert not unread


def test_without_root_the_mode_is_that_of_the_boot() -> None:
    config = b"CONFIG_X86_64=y\nCONFIG_PREEMPT_DYNAMIC=y\nCONFIG_PREEMPT_VOLUNTARY=y\n"
    files = {**HOST, "/proc/cmdline": "preempt=full\n", "/sys/kernel/debug/": DENIED}
    files["/boot/config-6.8.12-9-pve"] = config
    del files["/sys/kernel/debug/sched/preempt"], files[f"{SYS}/arch"]
    table, unread = found(files)
    assert (table["preempt"], table["machine"], unread) == ("full", "x86_64", {})


def test_without_root_and_config_the_mode_is_unknown() -> None:
    files = {**HOST, "/sys/kernel/debug/sched/preempt": DENIED, f"{SYS}/arch": DENIED}
    table, unread = found(files)
    assert not {"preempt", "machine"} & set(table)
    assert unread == {"preempt": "EACCES", "machine": "EACCES"}


def test_a_host_that_tells_nothing_is_unknown_throughout() -> None:
    table, unread = found({})
    assert table == {"installed": {}}
    assert set(unread) == {
        "release", "version", "machine", "tainted", "taints", "lockdown", "preempt", "clocksource",
        "clocksources",
    }


@pytest.mark.parametrize("junk", [b"", b"\0", b"\xff\xfe" * 3000, b"[" * 9, b"9" * 5000])
def test_junk_is_no_number_and_no_word(junk: bytes) -> None:
    table, unread = found(dict.fromkeys(HOST, junk))
    assert not {"tainted", "taints", "lockdown"} & set(table)
    assert unread["tainted"] == unread["taints"] == "no number in it"
    assert unread["lockdown"] == "no word is marked"


def test_no_lockdown_is_a_fact_only_with_securityfs() -> None:
    files = {path: content for path, content in HOST.items() if "lockdown" not in path}
    table, unread = found({**files, "/sys/kernel/security/lsm": "capability,apparmor"})
    assert ("lockdown" in table, unread) == (False, {})
    assert found(files)[1] == {"lockdown": "securityfs is not mounted"}
    assert found({**HOST, "/sys/kernel/security/lockdown": DENIED})[1] == {"lockdown": "EACCES"}


@pytest.mark.parametrize("folder", ["/boot/", "/lib/modules/", "/lib/modules/6.8.12-9-pve/"])
def test_kernels_are_unknown_when_a_folder_is_closed(folder: str) -> None:
    files = {path: content for path, content in HOST.items() if not path.startswith(folder)}
    table, unread = found({**files, folder: DENIED})
    assert not {"installed", "newest"} & set(table)
    assert unread == {"installed": "EACCES", "newest": "EACCES"}


def test_a_release_does_not_lead_out_of_boot() -> None:
    table, _ = found({**HOST, f"{SYS}/osrelease": "../../etc/shadow"})
    assert table["release"] == "../../etc/shadow"


def test_copies_and_leftovers_are_no_kernels() -> None:
    boot = [
        "vmlinuz-6.1.0-9-amd64", "vmlinuz-6.1.0-9-amd64.old", "vmlinuz-6.1.0-9-amd64.dpkg-new", "vmlinuz",
        "vmlinuz-0-rescue-0123456789abcdef", "vmlinuz-linux", "initrd.img-6.1.0-9-amd64.bak",
        "initramfs-linux.img", "initramfs-5.14.0-1.el9.x86_64kdump.img", "initramfs-5.14.0-1.el9.x86_64.img",
        "initrd-6.4.0-150-default", "config-6.2", "System.map-6.2", "vmlinuz-6.1.0-9-amd64.sig",
        "initrd.img-6.1.0-9-amd64.old-dkms",
    ]
    found = installed_kernels(boot, [])
    assert list(found) == ["5.14.0-1.el9.x86_64", "6.1.0-9-amd64", "6.4.0-150-default"]
    assert [kernel.initrd for kernel in found.values()] == [True, False, True]
    assert newest(found) == "6.1.0-9-amd64"
    assert newest({}) is None


def test_a_release_candidate_is_older_than_the_release() -> None:
    boot = ["vmlinuz-6.14.0", "vmlinuz-6.14.0-rc7", "vmlinuz-6.9.1"]
    assert newest(installed_kernels(boot, [])) == "6.14.0"


@pytest.mark.parametrize(("mask", "letters"), [
    (0, ""), (1, "P"), (12289, "POE"), (12801, "PWOE"), (12288, "OE"), (1 << 14, "L"), (1 << 19, "J"),
    (0xFFFFF, "PFSRMBUDAWCIOELKXTNJ"),
])
def test_taints_have_letters(mask: int, letters: str) -> None:
    assert "".join(taint_letters(mask)) == letters


def test_a_taint_without_letter_is_a_bit() -> None:
    assert taint_letters(1 << 31 | 1) == ["P", "bit 31"]


def test_the_banner_stands_in() -> None:
    banner = "Linux version 6.1.0-57-amd64 (a@b) (gcc-12 (Debian #2) 12.2) #1 SMP Debian 6.1.192 (2026)\n"
    told = ("6.1.0-57-amd64", "#1 SMP Debian 6.1.192 (2026)")
    assert parse_banner(banner) == told
    closed: dict[str, Content] = {f"{SYS}/osrelease": DENIED, f"{SYS}/version": b""}
    table, unread = found({**HOST, **closed, "/proc/version": banner})
    assert ((table["release"], table["version"]), unread) == (told, {})


@given(st.text(), st.lists(st.text()))
def test_any_text_is_survived(text: str, names: list[str]) -> None:
    parse_banner(text)
    installed_kernels(names, names)


def test_banners_of_the_corpus(corpus: Path) -> None:
    files = sorted(corpus.glob("proc-version/*"))
    assert files
    told = {path.name: parse_banner(path.read_text()) for path in files}
    assert told["jc-1.txt"] == ("5.8.0-63-generic", "#71-Ubuntu SMP Tue Jul 13 15:59:12 UTC 2021")
    assert all(release and version for release, version in told.values())
