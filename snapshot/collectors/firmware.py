"""BIOS, board, DIMMs, BMC, TPM and Secure Boot, from /sys/class/dmi, /sys/firmware, /sys/class/{ipmi,tpm}.

Documentation/ABI/testing/sysfs-firmware-dmi-tables, sysfs-class-tpm and efivarfs.rst; UEFI 2.10, 3.3 (SecureBoot).
A variable is 4 bytes of attributes and its value. The DMI texts are readable by all, serials and the SMBIOS table by
root. A BMC's firmware_revision asks the controller itself, which may hang: a live host reads it with a time limit.
"""

from __future__ import annotations

from typing import Literal

from ..errors import ParseError
from ..sections.firmware import Bios, Bmc, Board, Dimm, Firmware
from .base import Reading, Reads
from .smbios import dimms, ipmi_interface, structures, told

_DMI = "/sys/class/dmi/id"
_TABLE = "/sys/firmware/dmi/tables/DMI"
_EFI = "/sys/firmware/efi"
_SECURE_BOOT = f"{_EFI}/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_IPMI, _REVISION = "/sys/class/ipmi", "/sys/devices/platform/ipmi_bmc.*/firmware_revision"
_TPM = "/sys/class/tpm"
_BIOS = {"vendor": "bios_vendor", "version": "bios_version", "date": "bios_date", "release": "bios_release"}
_BOARD = {
    "system_vendor": "sys_vendor", "product": "product_name", "vendor": "board_vendor", "name": "board_name",
    "version": "board_version",
}
READS = Reads(
    paths=(
        *(f"{_DMI}/{name}" for name in (*_BIOS.values(), *_BOARD.values())), "/sys/firmware", _EFI, f"{_EFI}/efivars",
        _SECURE_BOOT, _TABLE, _IPMI, _REVISION, _TPM, f"{_TPM}/*/tpm_version_major",
    ),
    root="the DIMMs, and the interface of the BMC, from the SMBIOS table",
)


def collect(reading: Reading) -> Firmware:
    """What the firmware tells. Without DMI (many ARM machines, containers) those facts do not exist."""
    slots, found, interface = _smbios(reading)
    mode = _mode(reading)
    return Firmware(
        mode=mode, secure_boot=_secure_boot(reading) if mode == "uefi" else None,
        bios=Bios(**bios) if (bios := _texts(reading, "bios", _BIOS)) else None,
        board=Board(**board) if (board := _texts(reading, "board", _BOARD)) else None,
        dimm_slots=slots, dimms=found, smbios_source=_TABLE if slots is not None else None,
        bmc=_bmc(reading, interface), tpm=_tpm(reading),
    )


def _texts(reading: Reading, section: str, names: dict[str, str]) -> dict[str, str]:
    read = {field: told(reading.text(f"{_DMI}/{name}", section, field)) for field, name in names.items()}
    return {field: text for field, text in read.items() if text}


def _mode(reading: Reading) -> Literal["uefi", "bios"] | None:
    """The kernel makes the folder where EFI started it; that it is not there counts only if its parent is."""
    if reading.stat(_EFI, "mode"):
        return "uefi"
    if reading.stat("/sys/firmware", "mode"):
        return "bios"
    reading.settle(False, _EFI, "/sys/firmware is not there", "mode")
    reading.depends(("mode",), ("secure_boot",))
    return None


def _secure_boot(reading: Reading) -> bool | None:
    data = reading.bytes(_SECURE_BOOT, "secure_boot")
    if data is None:
        if not reading.list(f"{_EFI}/efivars", "secure_boot"):
            reading.settle(False, f"{_EFI}/efivars", "not mounted, or empty", "secure_boot")
        return None
    if len(data) != 5 or data[4] > 1:
        reading.unread(("secure_boot",), _SECURE_BOOT, f"not 4 bytes and 0 or 1: {data[:8].hex(' ')}")
        return None
    return data[4] == 1


def _smbios(reading: Reading) -> tuple[int | None, dict[str, Dimm] | None, str | None]:
    """Slots, DIMMs and the interface of the BMC."""
    table = reading.bytes(_TABLE, "dimms")
    try:
        found = structures(table) if table is not None else []
    except ParseError as error:
        reading.unread(("dimms",), _TABLE, str(error))
        found = []
    if not found:
        if any(u.path == ("dimms",) for u in reading.unreads):
            reading.unread_together(_TABLE, "", "dimms", "dimm_slots", "smbios_source")
            reading.unread(("bmc", "interface"), _TABLE, next(u.why for u in reading.unreads if u.path == ("dimms",)))
        return None, None, None
    slots, populated = dimms(found)
    return (slots, populated, ipmi_interface(found)) if slots else (None, None, ipmi_interface(found))


def _bmc(reading: Reading, interface: str | None) -> Bmc | None:
    """Without a driver the SMBIOS table alone tells that there is a controller, not its version."""
    devices = reading.list(_IPMI, "bmc")
    revisions = reading.glob(_REVISION, "bmc", "version") if devices else []
    texts = (reading.text(path, "bmc", "version") for path in revisions)
    version = next((text.strip() for text in texts if text and text.strip()), None)
    if not devices and interface is None:
        return None
    if version is None:
        reason = "no IPMI driver is bound" if not devices else "it tells no revision"
        reading.settle(False, _REVISION, reason, "bmc", "version")
    return Bmc(devices=devices, interface=interface, version=version)


def _tpm(reading: Reading) -> dict[str, str] | None:
    """The file is there since 5.6; before, which version it is stays unknown."""
    found = {}
    for name in reading.list(_TPM, "tpm"):
        if not name.startswith("tpm") or not name[3:].isdigit():
            continue
        path = f"{_TPM}/{name}/tpm_version_major"
        major = (reading.text(path, "tpm", name) or "").strip()
        version = {"1": "1.2", "2": "2.0"}.get(major)
        if version:
            found[name] = version
        else:
            reading.settle(False, path, f"no version in it: {major[:20]!r}", "tpm", name)
    return found or None
