"""/proc/driver/nvidia."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors.nvidia_driver import (
    parse_capability,
    parse_information,
    parse_params,
    parse_release,
    parse_switch,
    parse_version,
)
from snapshot.collectors.nvidia_userspace import parse_fabric_config, parse_fabric_version
from snapshot.collectors.pci_address import sysfs_address
from snapshot.errors import ParseError

PARSERS = (parse_capability, parse_information, parse_params, parse_release, parse_switch, parse_version)


@pytest.mark.parametrize(("line", "version", "flavour"), [
    ("Open Kernel Module for x86_64  595.45.04  Release Build  (x@y)  Mon", "595.45.04", "open"),
    ("x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024", "550.90.07", "proprietary"),
    ("x86_64 Kernel Module  390.157  Wed", "390.157", "proprietary"),
])
def test_versions(line: str, version: str, flavour: str) -> None:
    found = parse_version(f"NVRM version: NVIDIA UNIX {line}\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n")
    assert (found.version, found.flavour) == (version, flavour)


def test_a_parameter_may_hold_anything() -> None:
    text = 'Mobile: 4294967295\nRegistryDwords: "PeerMappingOverride=1;RMForceStaticBar1: "x""\r\nGpuBlacklist: ""\n'
    assert parse_params(text) == {
        "Mobile": 4294967295, "RegistryDwords": 'PeerMappingOverride=1;RMForceStaticBar1: "x"', "GpuBlacklist": ""}
    assert parse_params("") == {}


def test_question_marks_are_no_values() -> None:
    found = parse_information(
        "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-????????-????-????-????-????????????\nVideo BIOS: \t ??.??.??\n"
        "Bus Location: \t 0000:C1:00.0\nDevice Minor: \t 0\nGPU Firmware: \t N/A\nGPU Excluded:\t Yes\n")
    assert found.table() == {"address": "0000:c1:00.0", "minor": 0, "name": "NVIDIA H200", "excluded": True}


def test_a_mode_is_decimal() -> None:
    assert parse_capability("DeviceFileMinor: 4323\nDeviceFileMode: 292\n").table() == {"minor": 4323, "mode": "0444"}


@pytest.mark.parametrize(("text", "address"), [
    ("00000000:C1:00.0", "0000:c1:00.0"), ("PCI:0000:9b:00", "0000:9b:00.0"), ("0001:00:1f.7", "0001:00:1f.7"),
    ("00010000:01:00.0", "10000:01:00.0"), ("c1:00.0", "0000:c1:00.0"), ("0000:BA:80.0", None), ("", None),
    ("0000:c1:00.8", None), ("x0000:c1:00.0", None),
])
def test_addresses(text: str, address: str | None) -> None:
    assert sysfs_address(text) == address


@pytest.mark.parametrize("text", ["\0", "NVRM", "9" * 9999, "a: b: c\n" * 99, "NVRM version: Module x", "\xff\r\n"])
def test_other_text_is_an_error(text: str) -> None:
    for parse in PARSERS:
        with pytest.raises(ParseError):
            parse(text)


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    for parse in PARSERS:
        try:
            parse(text)
        except ParseError:
            continue
    sysfs_address(text)
    parse_fabric_config(text)
    parse_fabric_version(text)


def test_files_of_the_corpus(corpus: Path) -> None:
    texts = {path.name: path.read_text() for path in sorted((corpus / "proc-driver-nvidia").iterdir())}
    assert parse_version(texts["xeon-e3-parrot.version.txt"]).version == "510.73.08"
    assert parse_version(texts["i7-8750h-ubuntu1604-recovery.version.txt"]).version == "418.152.00"
    assert parse_params(texts["xeon-e3-parrot.params.txt"])["ResmanDebugLevel"] == 4294967295
    assert parse_params(texts["i7-8750h-ubuntu1604-recovery.params.txt"])["Mobile"] == 4294967295
    a6000 = parse_information(texts["A6000-2e.information.txt"])
    assert (a6000.name, a6000.vbios, a6000.address, a6000.minor) == (
        "NVIDIA RTX A6000", "94.02.5c.00.02", "0000:2e:00.0", 1)
    assert parse_information(texts["xeon-e3-01.information.txt"]).vbios == "82.07.5a.00.08"
