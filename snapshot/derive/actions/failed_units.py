"""Units that failed, and what hangs on them: from section units.

systemctl(1). A template's instances (pve-container@101.service) count as the template does. The state of units changes
while systemd is still starting.

Row keys, by unit; a key without a value is missing:
    unit
    failed           it has failed; false: it had before, and has not now
    role             gpu, guests, storage, network, clock or tuning: what it is for; missing for all others
    guest            id of the guest that it is
    driver           nvidia, if it is a service of that driver's, or it or a script of its runs one of its tools
    file             its file, where the section has it
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Snapshot

ROLES = {
    "gpu": r"nvidia-.*|nv-hostengine|dcgm.*|gpu-manager|rocm.*|amdgpu.*",
    "guests": r"pve-(?:container|guests|cluster|lxc-.*)|pvedaemon|qmeventd|lxc(?:-.*|fs)?|docker|containerd|podman.*"
    r"|kubelet|libvirtd|virtqemud",
    "storage": r"zfs-.*|zpool-.*|.*\.mount|.*\.swap|lvm2-.*|mdadm.*|mdmonitor.*|multipathd|iscsid?|nvmf-.*|remote-fs"
    r"|local-fs",
    "network": r"networking|systemd-networkd|NetworkManager|openibd|opensm|srp_daemon.*|mlx.*",
    "clock": r"chronyd?|systemd-timesyncd|ntp|ntpd|ntpsec",
    "tuning": r"systemd-(?:sysctl|modules-load|udevd|tmpfiles-setup.*)|tuned|cpupower|cpufrequtils|irqbalance|rc-local",
}
_NVIDIA = regex(r"nvidia-.*|nv-hostengine|dcgm.*")


def failed_units(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each unit that failed on either side."""
    if fact := after.unread("units", ("failed",)):
        return Derived({}, [{"subject": "", "what": "which units failed", "source": fact.source, "why": fact.why}])
    section = after.table("units")
    failed = section.get("failed", {})
    then = before.table("units").get("failed", {}) if before else {}
    return Derived({unit: {"unit": unit, "failed": unit in failed, **_more(unit, section)}
                    for unit in (*failed, *(unit for unit in then if unit not in failed))})


def _more(unit: str, section: dict[str, Any]) -> dict[str, Any]:
    told = section["units"].get(unit)
    stem = unit.removesuffix(".service").removesuffix(".target")
    template, at, instance = stem.partition("@")
    roles = (role for role, pattern in ROLES.items() if re.fullmatch(pattern, template))
    row = {"role": next(roles, "tuning" if told and told.get("commands") else None)}
    nvidia = _NVIDIA.fullmatch(template) or any(tool.startswith("nvidia-") for tool in _tools(unit, section))
    row |= {"driver": "nvidia"} if nvidia else {}
    row |= {"guest": instance} if at and template in ("pve-container", "lxc") else {}
    row |= {"file": told["file"]} if told and "file" in told else {}
    return {key: value for key, value in row.items() if value is not None}


def _tools(unit: str, section: dict[str, Any]) -> Iterator[str]:
    """The tools that its commands run, and the scripts that it calls."""
    scripts = (one for one in section.get("scripts", {}).values() if unit in one.get("called_by", ()))
    lines = (line for script in scripts for line in script.get("lines", ()))
    for command in (*section["units"].get(unit, {}).get("commands", ()), *lines):
        yield from command.get("tools", ())
