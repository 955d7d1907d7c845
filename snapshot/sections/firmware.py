"""The firmware of the machine: BIOS, board, DIMMs, BMC, TPM and Secure Boot."""

from typing import Annotated, Literal

from .base import EVIDENCE, IDENTITY, Model, Private, field


class Bios(Model):
    """What the firmware says of itself. A new version may have put every one of its settings back."""

    vendor: str | None = field(default=None, description="who made it")
    version: str | None = field(default=None, description="version, as the vendor writes it")
    date: str | None = field(default=None, description="release date, as the vendor writes it, mostly month/day/year")
    release: str | None = field(default=None, description="System BIOS release, major.minor")


class Board(Model):
    """The machine as its vendor calls it."""

    system_vendor: str | None = field(default=None, description="who made the system")
    product: str | None = field(default=None, description="product name of the system")
    vendor: str | None = field(default=None, description="who made the board")
    name: str | None = field(default=None, description="product name of the board")
    version: str | None = field(default=None, description="version of the board")


class Dimm(Model):
    """A populated memory slot: SMBIOS type 17."""

    size_bytes: int | None = field(default=None, description="size; missing when the firmware does not know it")
    type: str | None = field(default=None, description="DDR4, DDR5, ...; type N for a number that has no name here")
    speed_mts: int | None = field(default=None, description="highest speed of the module, MT/s")
    configured_mts: int | None = field(default=None, description="speed that it is run at, MT/s")
    ranks: int | None = field(default=None, description="ranks")
    bank: str | None = field(default=None, description="bank locator")
    manufacturer: str | None = field(default=None, description="who made it")
    part_number: str | None = field(default=None, description="part number")
    serial: Annotated[str | None, IDENTITY, Private("serial")] = field(default=None, description="serial number")


class Bmc(Model):
    """The management controller."""

    devices: list[str] = field(description="IPMI interfaces that have a driver, by name; none without one")
    interface: str | None = field(default=None, description="how SMBIOS type 38 says to reach it: KCS, SMIC, BT, SSIF")
    version: str | None = field(default=None, description="firmware revision that it reports, major.minor")


class Firmware(Model):
    """DMI, SMBIOS tables, EFI variables, IPMI and TPM drivers. Facts that the firmware leaves blank are missing."""

    mode: Literal["uefi", "bios"] | None = field(default=None, description="how the running kernel was started")
    secure_boot: bool | None = field(default=None, description="the SecureBoot variable; missing without UEFI or variable")
    bios: Bios | None = field(default=None, description="the system firmware")
    board: Board | None = field(default=None, description="system and board")
    dimm_slots: int | None = field(default=None, description="memory slots, empty ones too")
    dimms: dict[str, Dimm] | None = field(
        default=None, description="populated slots by locator, or bank / locator where locators repeat"
    )
    smbios_source: Annotated[str | None, EVIDENCE] = field(default=None, description="file of the SMBIOS structures")
    bmc: Bmc | None = field(default=None, description="missing when neither a driver nor SMBIOS shows one")
    tpm: dict[str, str] | None = field(default=None, description="TPM device -> version 1.2 or 2.0; missing without one")
