"""The installed system: names and package versions."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors import os
from snapshot.collectors.os import parse_os_release

from .fake import Content, MemoryHost, gather
from .test_dpkg import paragraph

DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 13"\nID=debian\nVERSION_ID="13"\nVERSION_CODENAME=trixie\n'
VERSIONS = {"proxmox_ve": "9.1.2", "systemd": "257.8-1", "lxc": "6.0.5-3", "pve_container": "6.0.18"}
PVE = "".join(map(paragraph, ["pve-manager", "systemd", "lxc-pve", "pve-container"], VERSIONS.values()))
BARE = {"/proc/cpuinfo": "flags\t\t: fpu\n\n", "/sys/class/dmi/id/sys_vendor": "Maker"}


def found(files: dict[str, Content]) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    model, reading = gather(os, MemoryHost(files))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def test_a_proxmox_host() -> None:
    packages = PVE + paragraph("liblxc1", "1:6.0.4-1")
    table, unread = found({**BARE, "/etc/os-release": DEBIAN, "/var/lib/dpkg/status": packages})
    assert table == {
        "id": "debian", "version_id": "13", "codename": "trixie", "pretty_name": "Debian GNU/Linux 13",
        **VERSIONS, "virtualization": "none",
    }
    assert not unread


def test_the_lxc_that_runs_containers_is_named() -> None:
    status = paragraph("liblxc1", "3") + paragraph("lxc", "2", "deinstall ok config-files")
    assert found({"/var/lib/dpkg/status": status})[0]["lxc"] == "3"
    assert found({"/var/lib/dpkg/status": status + paragraph("lxc", "4")})[0]["lxc"] == "4"


def test_usr_lib_counts_only_without_etc() -> None:
    both: dict[str, Content] = {"/etc/os-release": "ID=a\n", "/usr/lib/os-release": "ID=b\nVERSION_ID=2\n"}
    table, _ = found(both)
    assert table["id"] == "a"
    assert "version_id" not in table
    assert found({"/usr/lib/os-release": "ID=b\n"})[0]["id"] == "b"


def test_what_cannot_be_read_is_unknown_and_not_taken_from_elsewhere() -> None:
    denied = PermissionError(errno.EACCES, "denied")
    table, unread = found({
        **BARE, "/etc/os-release": denied, "/usr/lib/os-release": DEBIAN, "/var/lib/dpkg/status": denied,
    })
    assert table == {"virtualization": "none"}
    assert set(unread.values()) == {"EACCES"}
    assert set(unread) == {
        "id", "version_id", "codename", "pretty_name", "proxmox_ve", "systemd", "lxc", "pve_container",
    }


@pytest.mark.parametrize("junk", [b"", b"\0\1\2\xff\n" * 50, b"just words\n"])
def test_junk_is_unknown(junk: bytes) -> None:
    table, unread = found({"/etc/os-release": junk, "/var/lib/dpkg/status": junk})
    assert table == {}
    assert unread["pretty_name"] == "no assignment in it"
    assert unread["proxmox_ve"] == "no package in it"
    assert len(unread) == 9


def test_a_host_without_dpkg_has_unknown_versions_but_a_name() -> None:
    table, unread = found({**BARE, "/etc/os-release": "ID=fedora\n"})
    assert table == {"id": "fedora", "virtualization": "none"}
    assert unread == dict.fromkeys(["proxmox_ve", "systemd", "lxc", "pve_container"], "not there")


@pytest.mark.parametrize(("line", "value"), [
    ("A=b", "b"), ("A=", ""), ('A=""', ""), ("A='b c'", "b c"), ('A="b c"', "b c"),
    (" A=b ", "b"), ("A=b\r", "b"),
    (r'A="a \"b\" \$c \\ \`"', r'a "b" $c \ `'), (r'A="\n"', r"\n"), (r"A='\$'", r"\$"), (r"A=b\ c", "b c"),
    ("A=b # note", "b"), ('A="b" # "note"', "b"), ("A=b#c", "b#c"), ("A=1\nA=2", "2"), ("A=ü", "ü"),
])
def test_values_are_unquoted_as_a_shell_would(line: str, value: str) -> None:
    assert parse_os_release(line) == {"A": value}


@pytest.mark.parametrize(
    "line", ["# A=b", "A", "A b", "1A=b", 'A="b', "A='b", "A=b c", 'A="b"c', "export A=b", "A =b", "A=\\"]
)
def test_what_is_no_assignment_sets_nothing(line: str) -> None:
    assert parse_os_release(line) == {}


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    parse_os_release(text)


def test_a_long_line_takes_no_time() -> None:
    assert parse_os_release('A="' + "\\" * 100_000) == {}
