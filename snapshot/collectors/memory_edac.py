"""Memory controllers and modules, from /sys/devices/system/edac/mc.

Documentation/driver-api/edac.rst; Documentation/ABI/testing/sysfs-devices-edac. A driver calls the modules dimmN, or
rankN where it knows chip select rows only (amd64_edac). Counters begin when the driver is loaded. The directory mc is
there without a driver, and then holds no controller.
"""

from __future__ import annotations

from ..regexes import regex
from ..sections.memory import Controller, Module
from .attributes import integer
from .base import Reading
from .kernel_values import parse_word, value

MC = "/sys/devices/system/edac/mc"
_MODULE = ("dimm_label", "dimm_location", "size", "dimm_ce_count", "dimm_ue_count")
EDAC_PATHS = (
    MC, f"{MC}/mc*", *(f"{MC}/mc*/{name}" for name in ("mc_name", "size_mb", "ce_count", "ue_count")),
    *(f"{MC}/mc*/{kind}*/{name}" for kind in ("dimm", "rank") for name in _MODULE),
)
_NAME = regex("(?:dimm|rank)[0-9]+")


def read_edac(reading: Reading) -> dict[str, Controller] | None:
    """The controllers; None when no driver of EDAC has any."""
    names = [name for name in reading.list(MC, "edac") if name[:2] == "mc" and name[2:].isdecimal()]
    return {name: _controller(reading, f"{MC}/{name}", "edac", name) for name in names} or None


def _controller(reading: Reading, folder: str, *fact: str) -> Controller:
    modules = {
        name: _module(reading, f"{folder}/{name}", *fact, "modules", name)
        for name in reading.list(folder, *fact, "modules") if _NAME.fullmatch(name)
    }
    return Controller(
        name=value(reading, parse_word, f"{folder}/mc_name", *fact, "name"),
        size_mib=value(reading, integer, f"{folder}/size_mb", *fact, "size_mib"),
        corrected=value(reading, integer, f"{folder}/ce_count", *fact, "corrected"),
        uncorrected=value(reading, integer, f"{folder}/ue_count", *fact, "uncorrected"),
        modules=modules or None,
    )


def _module(reading: Reading, folder: str, *fact: str) -> Module:
    return Module(
        label=value(reading, str, f"{folder}/dimm_label", *fact, "label") or None,
        location=value(reading, str, f"{folder}/dimm_location", *fact, "location") or None,
        size_mib=value(reading, integer, f"{folder}/size", *fact, "size_mib"),
        corrected=value(reading, integer, f"{folder}/dimm_ce_count", *fact, "corrected"),
        uncorrected=value(reading, integer, f"{folder}/dimm_ue_count", *fact, "uncorrected"),
    )
