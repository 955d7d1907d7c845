"""Swap areas: on or off, and what switches them on at boot.

fstab(5), systemd.swap(5), systemd-fstab-generator(8), systemd-gpt-auto-generator(8). Which device a UUID or a link
below /dev/disk means is not recorded: such a line may be of any area in use, and is not certain for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...records import replace
from ..actions.boot_unit import escaped
from .tunable import LOAD, Default, Setter, Tunable
from .tunable_facts import Facts, Kind
from .tunable_setters import Setters

SWAP = Kind("swap", ("swapon", "swapoff", "zramctl"), (("storage", "fstab"),))
FILE = Default(False, "systemd-gpt-auto-generator(8) finds partitions alone: a file needs a line that names it")
DEVICE = "which device that is, is not recorded"
_LINKS = ("/dev/disk/", "/dev/mapper/", "/dev/zvol/")
_TAGS = {"UUID": "uuid", "LABEL": "label", "PARTUUID": "partuuid", "PARTLABEL": "partlabel"}


def swaps(found: Setters) -> Iterator[Tunable]:
    """Each area in use, and each line of an area that is not."""
    facts, areas = Facts(found, SWAP), found.table("memory").get("swaps")
    if areas is None:
        return
    lines, tools = _lines(found)
    loose = [replace(line, certain=False, doubt=DEVICE) for source, line in lines.items() if not _named(source)]
    for area, swap in areas.items():
        own = [lines[area]] if area in lines else loose
        for tunable in _area(facts, area, [*own, *_switched(tools, area, bool(own))]):
            tunable.default = FILE if swap["type"] == "file" else None
            yield tunable
    for source, line in lines.items():
        if source not in areas and (_named(source) or not areas):
            yield from _area(facts, source, [line, *_switched(tools, source, True)])


def _switched(tools: list[tuple[str, Setter]], area: str, listed: bool) -> Iterator[Setter]:
    """What swapon and swapoff lines make of an area: "all" is each one, and of swapon each one that is LISTED."""
    for name, made in tools:
        if name == area or (name == "all" and (listed or made.value == "0")):
            yield made
        elif name != "all" and not _named(name):
            yield replace(made, certain=False, doubt=DEVICE)


def _area(facts: Facts, area: str, setters: list[Setter]) -> Iterator[Tunable]:
    path = ("memory", "swaps", area)
    return facts.one("swap", path, subject=area, setters=setters, show=bool, otherwise=False)


def unit_name(source: str) -> str:
    """The unit of an area, systemd-escape --path: /dev/sda3 -> dev-sda3.swap, UUID=... -> that of its link."""
    tag, equals, value = source.partition("=")
    path = f"/dev/disk/by-{_TAGS[tag]}/{value}" if equals and tag in _TAGS else source
    return f"{escaped(path)}.swap"


def _lines(found: Setters) -> tuple[dict[str, Setter], list[tuple[str, Setter]]]:
    """Area -> what switches it on at boot, fstab and swap units; and the lines of swapon and swapoff, by area."""
    units: dict[str, Any] = found.table("units").get("units", {})
    lines = {line["source"]: _line(line, units.get(unit_name(line["source"]), {}))
             for line in found.table("storage").get("fstab", {}).values() if line["fstype"] == "swap"}
    from_fstab, tools = bool(lines), list[tuple[str, Setter]]()
    for action in found.of("swap"):
        made = found.setter(action, {"on": "1", "off": "0"}.get(action.value or ""))
        if not action.unit.endswith(".swap"):
            tools.append((action.where[0], made))
        elif not (from_fstab and units.get(action.unit, {}).get("state") == "generated"):
            lines.setdefault(action.where[0], replace(made, rank=(LOAD,)))  # before any service
    return lines, tools


def _line(line: dict[str, Any], unit: dict[str, Any]) -> Setter:
    masked = unit.get("state", "").startswith("masked")
    why = "its unit is masked" if masked else "noauto" if "noauto" in line["options"] else ""
    return Setter("fstab", line["origin"], "1", rank=(LOAD,), why_not=why)


def _named(source: str) -> bool:
    """Whether it names a device or file as /proc/swaps does."""
    return source.startswith("/") and not source.startswith(_LINKS)
