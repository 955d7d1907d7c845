"""PCI resource mappings, from /etc/pve/mapping/pci.cfg.

PVE::Mapping::PCI in pve-guest-common, PVE::SectionConfig in pve-common: a line without blanks before it is the
name of a mapping, indented ones are its properties (``map a=1,b=2`` once for each device on each node, and
``mdev 1``), an empty line ends it. Other nodes' devices are only counted.
"""

from __future__ import annotations

import re

from ..regexes import regex
from ..sections.base import Origin
from ..sections.lxc import Ignored
from ..sections.qemu import MappedDevice, Mapping
from . import pve_options
from .secrets import redacted

PATH = "/etc/pve/mapping/pci.cfg"
_PROPERTIES = ("node", "id", "subsystem-id", "path", "iommugroup", "description")
_NAME = regex(r"(\S+)\s*", re.ASCII)
_PROPERTY = regex(r"\s+(\S+)(?:\s+(\S.*?))?\s*", re.ASCII | re.DOTALL)
_ADDRESS = regex(r"[a-f0-9]{4,}:[a-f0-9]{2}:[a-f0-9]{2}(?:\.[a-f0-9])?")


def parse(text: str, node: str) -> tuple[dict[str, Mapping], list[Ignored]]:
    """The mappings by name, with the devices of NODE; and the lines that count for nothing."""
    found: dict[str, Mapping] = {}
    ignored: list[Ignored] = []
    name = ""
    for number, line in enumerate(text.split("\n"), 1):
        origin = Origin(file=PATH, line=number, text=redacted(line.rstrip()))
        header, pair = _NAME.fullmatch(line), _PROPERTY.fullmatch(line)
        if not line.strip():
            name = ""
        elif line.lstrip().startswith("#"):
            continue
        elif header:
            name = header[1]
            found[name] = Mapping()
        elif pair is None or not name:
            ignored.append(Ignored(why="Proxmox VE: cannot parse the line", origin=_short(origin)))
        else:
            try:
                found[name] = _with(found[name], pair[1], pair[2] or "", node, origin)
            except ValueError as error:
                ignored.append(Ignored(why=redacted(f"Proxmox VE: refuses {pair[1]}, {error}"), origin=_short(origin)))
    return found, ignored


def _with(mapping: Mapping, key: str, value: str, node: str, origin: Origin) -> Mapping:
    if key == "mdev":
        return mapping.copy(mdev=pve_options.boolean(value))
    if key != "map":
        return mapping
    words = pve_options.properties(value, _PROPERTIES)
    if words.get("node") != node:
        return mapping.copy(other_nodes=(mapping.other_nodes or 0) + 1)
    return mapping.copy(devices=[*(mapping.devices or ()), _device(words, origin)])


def _device(words: dict[str, str], origin: Origin) -> MappedDevice:
    paths = words.get("path", "").split(";")
    if wrong := [path for path in paths if not _ADDRESS.fullmatch(path)]:
        raise ValueError(f"{wrong[0]!r} is no PCI address")
    group = words.get("iommugroup")
    if group is not None and not re.fullmatch("-?[0-9]{1,9}", group):
        raise ValueError(f"{group!r} is no IOMMU group")
    return MappedDevice(
        paths=paths, id=words.get("id"), subsystem_id=words.get("subsystem-id"),
        iommu_group=None if group is None else int(group), origin=origin,
    )


def _short(origin: Origin) -> Origin:
    return origin.copy(text=origin.text[:200])
