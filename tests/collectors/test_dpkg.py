"""Package versions from dpkg's status file."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors.dpkg import versions


def paragraph(name: str, version: str, status: str = "install ok installed", more: str = "") -> str:
    return f"Package: {name}\nStatus: {status}\nPriority: optional\nVersion: {version}\n{more}\n"


def ask(text: str, *names: str) -> dict[str, str] | None:
    return versions(text.encode(), names)


def test_asked_packages_are_found_wherever_they_stand() -> None:
    text = paragraph("first", "1:1.0-1") + paragraph("middle", "2~rc1") + paragraph("last", "3.0+b1")
    found = {"first": "1:1.0-1", "middle": "2~rc1", "last": "3.0+b1"}
    assert ask(text, "first", "last", "middle", "none") == found
    assert ask(text.rstrip("\n"), "last") == {"last": "3.0+b1"}


@pytest.mark.parametrize(("status", "found"), [
    ("install ok installed", True), ("hold ok installed", True),
    ("install ok triggers-pending", True), ("install ok triggers-awaited", True),
    ("deinstall ok config-files", False), ("install ok unpacked", False),
    ("install ok half-configured", False), ("purge ok not-installed", False), ("install ok", False),
])
def test_only_what_is_installed_counts(status: str, found: bool) -> None:
    assert ask(paragraph("lxc", "5.0", status), "lxc") == ({"lxc": "5.0"} if found else {})


def test_a_removed_architecture_does_not_hide_the_installed_one() -> None:
    text = paragraph("lxc", "4.0", "deinstall ok config-files") + paragraph("lxc", "5.0")
    assert ask(text, "lxc") == {"lxc": "5.0"}


def test_names_are_whole_and_at_the_line_s_beginning() -> None:
    text = paragraph("lxc-pve", "6", more="Description: x\n Package: lxc\n Version: 9\n")
    assert ask(text + paragraph("xlxc", "7"), "lxc") == {}


def test_a_package_without_version_is_none() -> None:
    assert ask("Package: lxc\nStatus: install ok installed\n\n" + paragraph("other", "1"), "lxc") == {}


@pytest.mark.parametrize("data", [b"", b"\n\n\n", b"\0\xff" * 100, b"Package", b"  Package: lxc\n"])
def test_what_is_no_status_file_is_none(data: bytes) -> None:
    assert versions(data, ["lxc"]) is None


def test_a_truncated_file_gives_what_is_whole() -> None:
    text = paragraph("lxc", "5.0") + "Package: systemd\nStatus: install ok inst"
    assert ask(text, "lxc", "systemd") == {"lxc": "5.0"}


def test_a_large_file_is_searched_not_parsed() -> None:
    text = "".join(paragraph(f"p{i}", "1", more="Description: " + "x" * 900 + "\n") for i in range(5000))
    start = time.process_time()
    assert ask(text, "p4999", "missing") == {"p4999": "1"}
    assert time.process_time() - start < 0.5


@given(st.binary(max_size=300))
def test_any_bytes_are_survived(data: bytes) -> None:
    versions(b"Package: lxc\n" + data, ["lxc"])
