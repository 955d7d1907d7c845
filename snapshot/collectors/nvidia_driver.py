"""The NVIDIA kernel module, from /proc/driver/nvidia.

kernel-open/nvidia/nv-procfs.c of open-gpu-kernel-modules. information has lines "Name: \\t value"; the UUID and the
video BIOS are question marks until the GPU was first used. params has one line an option, numbers bare (4294967295:
not set) and strings quoted, in which " is not escaped. The version is the first number behind the word Module; the
build's date and compiler stand behind it. File modes below capabilities are decimal (292 is 0444).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import ParseError
from ..regexes import regex
from ..sections.nvidia import Capability, Driver, Gpu
from .pci_address import sysfs_address

_VERSION = regex(r"Module\b.*?\s([0-9]+\.[0-9]+(?:\.[0-9]+)?)(?:\s|$)")
_PARAMETER = regex(r"(\w{1,80}): (?:([0-9]{1,18})|\"(.*)\")", re.DOTALL)
_SWITCH = {"Y": True, "N": False, "1": True, "0": False}


def parse_version(text: str) -> Driver:
    """Version and flavour from /proc/driver/nvidia/version. ParseError when there is no version in it."""
    line = text.split("\n", 1)[0]
    found = _VERSION.search(line)
    if not found or not line.startswith("NVRM version:"):
        raise ParseError(f"no NVRM version: {line[:80]!r}")
    return Driver(version=found[1], flavour="open" if "Open Kernel Module" in line else "proprietary")


def parse_release(text: str) -> str:
    """The version from /sys/module/nvidia/version. ParseError when it is none."""
    if not re.fullmatch(r"[0-9]{1,5}\.[0-9]{1,5}(\.[0-9]{1,5})?", text.strip()):
        raise ParseError(f"no version: {text[:80]!r}")
    return text.strip()


def parse_params(text: str) -> dict[str, int | str]:
    """The options of /proc/driver/nvidia/params by name. ParseError on a line that is none."""
    values: dict[str, int | str] = {}
    for line in filter(str.strip, text.splitlines()):
        found = _PARAMETER.fullmatch(line.strip())
        if not found:
            raise ParseError(f"no option NAME: VALUE: {line[:80]!r}")
        values[found[1]] = int(found[2]) if found[2] else found[3]
    return values


def parse_information(text: str) -> Gpu:
    """A GPU from gpus/ADDRESS/information; what is still question marks is left out. ParseError on other text."""
    values = fields(text)
    if "Model" not in values and "GPU UUID" not in values:
        raise ParseError(f"neither Model nor GPU UUID: {text[:80]!r}")
    minor, excluded = values.get("Device Minor", ""), values.get("GPU Excluded")
    return Gpu(
        uuid=_known(values.get("GPU UUID")), address=sysfs_address(values.get("Bus Location", "")),
        minor=int(minor) if re.fullmatch("[0-9]{1,9}", minor) else None, name=values.get("Model"),
        vbios=_known(values.get("Video BIOS", "").lower()), firmware=_known(values.get("GPU Firmware")),
        excluded={"Yes": True, "No": False}.get(excluded or ""),
    )


def parse_capability(text: str) -> Capability:
    """The node of a file below capabilities. ParseError when it names no minor."""
    values = fields(text)
    numbers = {key: int(value) for key, value in values.items() if re.fullmatch("[0-9]{1,9}", value)}
    if "DeviceFileMinor" not in numbers:
        raise ParseError(f"no DeviceFileMinor: {text[:80]!r}")
    mode = numbers.get("DeviceFileMode")
    return Capability(minor=numbers["DeviceFileMinor"], mode=None if mode is None else f"{mode & 0o7777:04o}")


def parse_switch(text: str) -> bool:
    """A boolean module parameter. ParseError when it is none."""
    if text.strip() not in _SWITCH:
        raise ParseError(f"neither Y nor N: {text[:80]!r}")
    return _SWITCH[text.strip()]


def fields(text: str) -> Mapping[str, str]:
    """Lines "Name: value" by name; the first of a name counts."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip(), value.strip())
    return found


def _known(value: str | None) -> str | None:
    return None if not value or "?" in value or value == "N/A" else value
