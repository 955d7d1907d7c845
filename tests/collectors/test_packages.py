"""Packages, holds, pins and automatic upgrades."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import packages as part
from snapshot.collectors import apt_conf, apt_pins, packages, rpm
from snapshot.errors import ParseError
from snapshot.host.base import Result

from .epyc_parts import planted
from .fake import Content, MemoryHost, gather

STATUS, DENIED = "/var/lib/dpkg/status", PermissionError(errno.EACCES, "denied")
QUERY = " ".join(rpm.QUERY.argv)


def paragraph(name: str, version: str, status: str = "install ok installed") -> str:
    return f"Package: {name}\nStatus: {status}\nVersion: {version}\nDescription: x\n\n"


def found(
    files: dict[str, Content], results: dict[str, Result | str] | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    model, reading = gather(packages, MemoryHost(files, None, None, results))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def installed(status: str) -> dict[str, Any]:
    table: dict[str, Any] = found({STATUS: status})[0]["installed"]
    return table


def test_packages_that_decide_held_ones_and_broken_ones() -> None:
    assert installed(
        paragraph("proxmox-kernel-6.8.12-9-pve-signed", "6.8.12-9") + paragraph("vim", "9")
        + paragraph("nvidia-driver", "580", "hold ok installed") + paragraph("nano", "7", "hold ok installed")
        + paragraph("tmux", "3", "install ok half-configured")
        + paragraph("zfs-dkms", "2", "deinstall ok config-files")
        + paragraph("bash", "5", "install reinstreq installed")
        + paragraph("lxc-pve", "6", "install ok triggers-pending")
    ) == {
        "bash": {"version": "5", "state": "reinstreq"}, "lxc-pve": {"version": "6"},
        "nano": {"version": "7", "held": True}, "nvidia-driver": {"version": "580", "held": True},
        "proxmox-kernel-6.8.12-9-pve-signed": {"version": "6.8.12-9"},
        "tmux": {"version": "3", "state": "half-configured"},
    }


@pytest.mark.parametrize("name", [
    "linux-image-6.1.0-9-amd64", "linux-headers-6.1.0-9-common", "proxmox-headers-6.14", "pve-firmware", "libcuda1",
    "libnvidia-ml1", "nvidia-kernel-open-dkms", "liblxc1", "kernel-core", "amd64-microcode", "zfsutils-linux", "dkms",
    "r8125-dkms", "linux-firmware", "firmware-misc-nonfree", "docker-ce", "initramfs-tools-core", "unattended-upgrades",
])
def test_names_that_decide(name: str) -> None:
    assert list(installed(paragraph(name, "1") + paragraph("vim", "1"))) == [name]


@pytest.mark.parametrize("name", ["vim", "kerneloops", "python3-lxc", "libsystemd0", "pvesomething", "mykernel"])
def test_names_that_do_not(name: str) -> None:
    assert installed(paragraph(name, "1")) == {}


def test_pins() -> None:
    text = ("Explanation: why\nPackage: nvidia-*\n libcuda1\nPin: version 580.*\nPin-Priority: 1001\n\n# no\n"
            "Package: *\nPin: release n=sid\n\nPackage: a\r\nPin: origin x\r\nPin-Priority: high\r\n")
    table, _ = found({
        STATUS: paragraph("dkms", "1"), "/etc/apt/preferences.d/b": text, "/etc/apt/preferences.d/b.bak": text,
        "/etc/apt/preferences": "Package: z\nPin: version 1\nPin-Priority: -1",
    })
    pins = [(p["packages"], p["pin"], p.get("priority"), p["origin"]["line"]) for p in table["pins"]]
    assert pins == [("nvidia-* libcuda1", "version 580.*", 1001, 2), ("a", "origin x", None, 11),
                    ("z", "version 1", -1, 1)]


def test_automatic_upgrades() -> None:
    table, _ = found({
        STATUS: paragraph("dkms", "1"),
        "/etc/apt/apt.conf.d/20auto": 'APT::Periodic::Unattended-Upgrade "1"; // daily\n',
        "/etc/apt/apt.conf.d/50unattended-upgrades":
            'Unattended-Upgrade {\n  Package-Blacklist {\n    "nvidia-"; # not these\n    /* "x"; */ "linux-";\n  };\n'
            '  Mail "root@example.org";\n  Automatic-Reboot "true";\n};\nUnattended-Upgrade::Origins:: "a=b";\n',
        "/etc/apt/apt.conf.d/60local": 'apt::periodic::UNATTENDED-UPGRADE "0";\n#clear Unattended-Upgrade::Origins;\n',
        "/etc/apt/apt.conf.d/70.bak": 'APT::Periodic::Unattended-Upgrade "7";\n',
        "/etc/apt/apt.conf": 'Acquire::http::Proxy "http://u:hunter2@proxy/";\n',
    })
    automatic = table["automatic"]
    assert {name: option.get("value", option.get("values")) for name, option in automatic.items()} == {
        "apt::periodic::unattended-upgrade": "0", "unattended-upgrade::automatic-reboot": "true",
        "unattended-upgrade::package-blacklist": ["nvidia-", "linux-"],
    }
    assert automatic["unattended-upgrade::package-blacklist"]["origins"][1]["line"] == 4
    assert "hunter2" not in str(table) and "example.org" not in str(table)


def test_rpm_kernels_beside_each_other() -> None:
    said = "kernel-core\t5.14.0-70.el9\nkernel-core\t5.14.0-503.el9\nvim\t9-1\nkmod-nvidia-open-dkms\t580-1\n"
    files: dict[str, Content] = {"/var/lib/rpm/rpmdb.sqlite": "", rpm.LOCKS[0]: "# x\nkernel-core-0:5.14*\n\n"}
    table, unread = found(files, {QUERY: said})
    assert table == {
        "manager": "rpm", "locks": ["kernel-core-0:5.14*"], "installed": {
            "kernel-core": {"version": "5.14.0-503.el9", "older": ["5.14.0-70.el9"]},
            "kmod-nvidia-open-dkms": {"version": "580-1"},
        },
    }
    assert unread == {}


@pytest.mark.parametrize(("result", "why"), [
    (Result(None, why="timeout"), "timeout"), (Result(None, why="not-found"), "not-found"),
    (Result(1, b""), "exit code 1"), (Result(0, b""), "rpm names no package: ''"),
])
def test_an_rpm_that_does_not_answer_is_unread(result: Result, why: str) -> None:
    table, unread = found({"/usr/lib/sysimage/rpm/": ""}, {QUERY: result})
    assert "installed" not in table and unread == {"installed": why}


def test_no_database_is_unknown_not_absent() -> None:
    assert found({}) == ({}, dict.fromkeys(("manager", "installed"), "no database of dpkg or rpm"))


def test_without_root_what_is_closed_is_unread() -> None:
    table, unread = found({STATUS: DENIED, "/etc/apt/preferences.d/": DENIED, "/etc/apt/apt.conf.d/": DENIED})
    assert unread == {"installed": "EACCES", "unattended": "EACCES", "pins": "EACCES", "automatic": "EACCES"}
    assert not {"installed", "pins", "automatic"} & set(table)


@pytest.mark.parametrize("junk", [b"", b"\0" * 99, b"\xff\xfe{}\";" * 3000, b"{" * 9000, b'"' * 9001, b"}" * 9000])
def test_junk_is_survived(junk: bytes) -> None:
    table, unread = found({STATUS: junk, "/etc/apt/preferences": junk, "/etc/apt/apt.conf": junk})
    assert unread == dict.fromkeys(("installed", "unattended"), "no package in it") and not table.get("automatic")


@given(st.text(alphabet='aA:"{};#/*\n clear-', max_size=150) | st.text(max_size=100))
def test_any_text_is_survived(text: str) -> None:
    apt_conf.parse(text, "/etc/apt/apt.conf", {})
    apt_pins.parse(text, "/etc/apt/preferences")
    rpm.locks(text)
    try:
        rpm.parse(text, packages.PATTERN)
    except ParseError as error:
        assert len(str(error)) < 600


@pytest.mark.parametrize("kernel", [epyc.BEFORE, epyc.AFTER])
def test_the_story_s_host(kernel: str) -> None:
    model, reading = gather(packages, planted(part, kernel))
    table = model.table()
    assert reading.unreads == []
    assert table["installed"]["nvidia-kernel-open-dkms"] == {"version": part.DRIVER, "held": True}
    assert table["installed"][f"proxmox-headers-{epyc.AFTER}"]["version"] == "6.14.11-1"
    assert table["installed"]["pve-manager"]["version"] == epyc.PACKAGES["pve-manager"]
    assert table["automatic"]["apt::periodic::unattended-upgrade"]["value"] == "0"
    assert table["pins"][0]["priority"] == 1001


def test_the_corpus_names_only_packages_that_count(corpus: Path) -> None:
    """pveversion -v prints packages of Proxmox VE with their versions: they have to be among those recorded."""
    names = 0
    for file in sorted((corpus / "pveversion").glob("*.txt")):
        for line in file.read_text().splitlines():
            name, colon, version = line.partition(": ")
            if colon and " " not in name and not name.startswith("pve-manager/"):
                names += 1
                assert installed(paragraph(name, version.split()[0]))[name] == {"version": version.split()[0]}
    assert names == 12
