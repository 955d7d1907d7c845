"""BIOS, DIMMs, BMC, TPM and Secure Boot, of a whole host and of firmware that says little or nonsense."""

from __future__ import annotations

import errno
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import firmware as part
from snapshot.collectors import firmware
from snapshot.collectors.smbios import dimms, ipmi_interface, structures, told
from snapshot.errors import ParseError

from .fake import Content, MemoryHost, gather

DENIED = PermissionError(errno.EACCES, "denied")
TABLE, EFI = "/sys/firmware/dmi/tables/DMI", "/sys/firmware/efi"
MORE = "/sys/devices/platform/ipmi_bmc.0x2000/firmware_revision"


def found(files: dict[str, Content]) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    model, reading = gather(firmware, MemoryHost(files))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def whole() -> dict[str, Content]:
    host = epyc.host(epyc.BEFORE)
    files: dict[str, Content] = dict(host.files)
    part.plant(epyc.BEFORE, files, host.links, {}, {})
    return files


def test_the_epyc_host() -> None:
    table, unread = found(whole())
    assert (table["mode"], table["secure_boot"], table["dimm_slots"]) == ("uefi", False, 24)
    assert table["bios"] == {
        "vendor": "American Megatrends Inc.", "version": "1.4", "date": "05/02/2025", "release": "5.35",
    }
    assert table["board"]["product"] == "ESC8000A-E13"
    assert table["dimms"]["DIMM_BA1"] == {
        "size_bytes": 64 << 30, "type": "DDR5", "speed_mts": 6400, "configured_mts": 6400, "ranks": 2,
        "bank": "P1 CHANNEL A", "manufacturer": "Samsung", "part_number": "M321R8GA0PB2-CCPEC", "serial": "0200110C",
    }
    assert len(table["dimms"]) == 24
    assert table["bmc"] == {"devices": ["ipmi0"], "interface": "KCS", "version": "2.10"}
    assert (table["tpm"], unread) == ({"tpm0": "2.0"}, {})


def test_without_root_the_dimms_are_unread_and_the_rest_is_told() -> None:
    table, unread = found(whole() | {TABLE: DENIED})
    assert not {"dimms", "dimm_slots"} & set(table)
    assert table["bios"]["version"] == "1.4"
    assert unread == dict.fromkeys(("dimms", "dimm_slots", "smbios_source", "bmc.interface"), "EACCES")


def test_bios_mode_is_a_fact_only_where_sys_firmware_is() -> None:
    assert found({"/sys/firmware/acpi/tables/FACP": b""}) == ({"mode": "bios"}, {})
    reason = "/sys/firmware is not there"
    assert found({}) == ({}, {"mode": reason, "secure_boot": reason})


@pytest.mark.parametrize(
    ("data", "value", "why"),
    [
        (b"\x06\0\0\0\1", True, None), (b"\x06\0\0\0\0", False, None), (b"", None, "not 4 bytes and 0 or 1: "),
        (b"\x06\0\0\0\7", None, "not 4 bytes and 0 or 1: 06 00 00 00 07"), (DENIED, None, "EACCES"),
    ],
)
def test_secure_boot(data: Content, value: bool | None, why: str | None) -> None:
    table, unread = found({part.SECURE_BOOT: data})
    assert (table.get("secure_boot"), unread.get("secure_boot")) == (value, why)


def test_efi_without_its_variables_does_not_say_that_secure_boot_is_off() -> None:
    assert found({f"{EFI}/fw_platform_size": "64\n"})[1] == {"secure_boot": "not mounted, or empty"}
    assert found({f"{EFI}/efivars/BootOrder-8be4df61": b""}) == ({"mode": "uefi"}, {})


def test_words_for_nothing_are_nothing() -> None:
    for blank in ("To Be Filled By O.E.M.", "Default string", " ", "NO DIMM", "Not Specified", "Unknown"):
        assert told(blank) is None
    table, _ = found({"/sys/class/dmi/id/bios_version": "Default string\n", "/sys/class/dmi/id/board_name": " X  1 \n"})
    assert (table.get("bios"), table["board"]) == (None, {"name": "X 1"})


def test_sizes_and_speeds_of_dimms() -> None:
    table = b"".join((
        part.memory_device(1, "A", "0", size_mib=16384), part.memory_device(2, "B", "0", size_mib=0),
        part.memory_device(3, "C", "0", size_mib=131072, speed=0xFFFF, configured=0),
    ))
    slots, full = dimms(structures(table))
    assert (slots, {name: dimm.size_bytes for name, dimm in full.items()}) == (3, {"A": 16 << 30, "C": 128 << 30})
    assert (full["C"].speed_mts, full["C"].configured_mts) == (None, None)


def test_an_old_short_structure_has_what_it_has() -> None:
    body = struct.pack("<HHHHHBBBBBH", 0, 0, 72, 64, 0x8200, 9, 0, 1, 0, 2, 0)
    (dimm,) = dimms(structures(part.structure(17, 1, body, "DIMM0")))[1].values()
    assert dimm.table() == {"size_bytes": 512 << 10}


def test_locators_that_repeat_are_told_apart() -> None:
    table = b"".join(part.memory_device(n, "DIMM 0", bank) for n, bank in enumerate(("P0 A", "P0 B", "P0 B")))
    assert list(dimms(structures(table))[1]) == ["P0 A / DIMM 0", "P0 B / DIMM 0", "P0 B / DIMM 0 #2"]


@pytest.mark.parametrize("junk", [b"\1", b"\x11\x02\0\0\0\0", b"\x11\xff\0\0abc", part.table()[:100], b"\xff" * 5000])
def test_a_broken_table_is_unread(junk: bytes) -> None:
    table, unread = found(whole() | {TABLE: junk})
    assert "dimms" not in table
    assert "SMBIOS" in unread["dimms"]


def test_a_bmc_that_hangs_or_has_no_driver() -> None:
    table, unread = found(whole() | {MORE: TimeoutError(errno.ETIMEDOUT, "")})
    assert (table["bmc"], unread) == ({"devices": ["ipmi0"], "interface": "KCS"}, {"bmc.version": "timeout"})
    files = {path: content for path, content in whole().items() if "ipmi" not in path}
    assert found(files)[1] == {"bmc.version": "no IPMI driver is bound"}


def test_a_tpm_that_does_not_say_its_version() -> None:
    _, unread = found({"/sys/firmware/x": "", "/sys/class/tpm/tpm0/dev": "10:224\n"})
    assert unread == {"tpm.tpm0": "no version in it: ''"}


@given(st.binary(max_size=300))
def test_any_table_is_survived(data: bytes) -> None:
    try:
        parts = structures(data)
    except ParseError:
        return
    dimms(parts)
    ipmi_interface(parts)


@given(st.integers(0, 255), st.integers(0, 90), st.binary(max_size=90))
def test_any_memory_device_is_survived(kind: int, length: int, body: bytes) -> None:
    dimms(structures(part.structure(17, 1, body[:length], "A")) + structures(part.structure(kind, 1, body[:80])))
