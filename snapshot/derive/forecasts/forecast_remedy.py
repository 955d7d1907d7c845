"""The unit that sets at boot what the next boot would lose: one for each kind, with a command for each setting.

setpci(8), cpupower-frequency-set(1), cpupower-idle-set(1), nvidia-smi(1), ethtool(8), ip-link(8). A value or name that
is not plain makes no command: in a unit % and $ are special (systemd.service(5)), and so are a shell's signs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ..actions.boot_unit import install
from ..pci.read_requests import operand
from ..tunables.tunable_cpuidle import numbers
from .forecast_prediction import Prediction

if TYPE_CHECKING:
    from ...document import Snapshot

_PLAIN = regex(r"[A-Za-z0-9][\w.,:+-]*(?:/[\w.-]+)*", re.ASCII)
AFTER = "systemd-modules-load.service nvidia-persistenced.service"
MM = "/sys/kernel/mm"
NVIDIA = {"persistence": "pm", "compute-mode": "c", "applications-clocks": "ac", "mig": "mig"}
ETHTOOL = {"ring": "-G", "channels": "-L", "coalesce": "-C"}
TITLES = {
    "pci": "PCIe MaxReadReq", "thp": "transparent huge pages", "cpufreq": "CPU frequency scaling",
    "cpuidle": "CPU idle states", "nvidia": "settings of NVIDIA GPUs", "net": "network interfaces", "block": "disks",
}
DEVICES = {"net": "/sys/subsystem/net/devices", "block": "/dev"}
Command = Callable[[Prediction, str], str]


def _mrrs(one: Prediction, _: str) -> str:
    write = operand(one.now) if one.name == "MaxReadReq" and isinstance(one.now, int) else None
    return f"setpci -s {one.subject} CAP_EXP+8.w={write}" if write else ""


def _thp(one: Prediction, value: str) -> str:
    return f"echo {value} > {MM}/{one.name}"


def _cpufreq(one: Prediction, value: str) -> str:
    if one.name == "boost":
        return f"echo {value} > /sys/devices/system/cpu/cpufreq/boost"
    return f"cpupower --cpu {one.subject} frequency-set -g {value}" if one.name == "scaling_governor" else ""


def _nvidia(one: Prediction, value: str) -> str:
    if one.name == "power-limit" and isinstance(one.now, int):
        return f"nvidia-smi -i {one.subject} -pl {one.now / 1000:g}"
    option = NVIDIA.get(one.name)
    return f"nvidia-smi -i {one.subject} -{option} {value}" if option else ""


def _net(one: Prediction, value: str) -> str:
    group, _, key = one.name.partition("/")
    if one.name == "mtu":
        return f"ip link set dev {one.subject} mtu {value}"
    return f"ethtool {ETHTOOL[group]} {one.subject} {key} {value}" if group in ETHTOOL and value.isdigit() else ""


def _block(one: Prediction, value: str) -> str:
    return f"echo {value} > /sys/block/{one.subject}/queue/{one.name}"


COMMANDS: Mapping[str, Command] = {
    "pci": _mrrs, "thp": _thp, "cpufreq": _cpufreq, "nvidia": _nvidia, "net": _net, "block": _block,
}


def remedies(snapshot: Snapshot, found: Iterable[Prediction]) -> dict[str, list[str]]:
    """By key of what reverts: commands that install a unit which sets all of its kind to what they are now."""
    order = numbers(snapshot.table("cpuidle").get("states", {}))
    made: dict[str, dict[str, str]] = {}
    devices: dict[str, dict[str, None]] = {}  # kind -> paths of what its unit waits for
    for one in found:
        if one.status == "reverts" and (command := _command(one, order)):
            made.setdefault(one.kind, {})[one.key] = command
            if one.kind in DEVICES:
                devices.setdefault(one.kind, {})[f"{DEVICES[one.kind]}/{one.subject}"] = None
    units = {kind: _unit(kind, commands.values(), devices.get(kind, ())) for kind, commands in made.items()}
    return {key: units[kind] for kind, commands in made.items() for key in commands}


def _unit(kind: str, commands: Iterable[str], devices: Iterable[str]) -> list[str]:
    lines = [f"/bin/sh -c '{command}'" for command in dict.fromkeys(commands)]
    return install(f"hostsnap-{kind}", TITLES[kind], lines, AFTER, devices)


def _command(one: Prediction, order: Mapping[str, int]) -> str:
    """What sets ONE to its value of now; empty where nothing is known that does."""
    value = _text(one.now)
    if not all(map(_PLAIN.fullmatch, filter(None, (value, one.subject, one.name)))):
        return ""
    if one.kind == "cpuidle":
        number = order.get(one.path[2])
        return f"cpupower --cpu {one.subject} idle-set -d {number}" if one.now is True and number is not None else ""
    return COMMANDS[one.kind](one, value) if one.kind in COMMANDS else ""


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
