"""Interfaces set up by netplan, from netplan/*.yaml in /etc, /run and /lib.

https://netplan.readthedocs.io, netplan-generate(8). A file hides those of its name in the later folders; then all are
read in order of their names, and a later value of a key counts. What wifis, modems and tunnels say is left out: it
holds keys and network names. An interface of which only addresses are set up has no options here, and is listed. The
files are for root only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ParseError
from ..sections.net import Setting, Stanza
from .base import Reading
from .net_lines import setting

if TYPE_CHECKING:
    from .net_yaml import Fact

FOLDERS = ("/run/netplan", "/etc/netplan", "/lib/netplan")
PATHS = (*FOLDERS, *(f"{folder}/*" for folder in FOLDERS))
_KINDS = ("ethernets", "bonds", "bridges", "vlans", "dummy-devices", "veths", "vrfs")
_KEPT = (
    "match", "set-name", "mtu", "macaddress", "interfaces", "parameters", "id", "link", "renderer", "optional",
    "critical", "receive-checksum-offload", "transmit-checksum-offload", "tcp-segmentation-offload",
    "tcp6-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload", "large-receive-offload",
    "virtual-function-count", "embedded-switch-mode", "delay-virtual-functions-rebind", "infiniband-mode",
    "receive-ring", "transmit-ring",
)
Stanzas = dict[str, dict[str, Setting]]


def read(reading: Reading) -> tuple[dict[str, Stanza] | None, dict[str, str]]:
    """What the files say (None without any), and hidden file -> hiding file."""
    chosen: dict[str, str] = {}
    hidden: dict[str, str] = {}
    for folder in FOLDERS:
        for name in reading.list(folder, "netplan"):
            if name.endswith(".yaml"):
                path = f"{folder}/{name}"
                if chosen.setdefault(name, path) != path:
                    hidden[path] = chosen[name]
    stanzas: Stanzas = {}
    for name in sorted(chosen):
        text = reading.config(chosen[name], "netplan")
        try:
            take(stanzas, text or "", chosen[name])
        except ParseError as error:
            reading.unread(("netplan",), chosen[name], str(error))
    table = {name: Stanza(options=options) for name, options in sorted(stanzas.items())}
    return (table if chosen else None), hidden


def take(stanzas: Stanzas, text: str, file: str) -> None:
    """Lays what FILE says over STANZAS. ParseError when its YAML is not understood."""
    from .net_yaml import parse_yaml  # most hosts have no such file

    lines = text.splitlines()
    own: dict[tuple[str, str], list[Fact]] = {}
    for fact in parse_yaml(text, file):
        path = tuple(key for key in fact.path if key != "[]")
        if len(path) > 3 and path[0] == "network" and path[1] in _KINDS:
            stanzas.setdefault(f"{path[1]}.{path[2]}", {})
            if path[3] in _KEPT:
                own.setdefault((f"{path[1]}.{path[2]}", ".".join(path[3:])), []).append(fact)
    for (interface, option), facts in own.items():
        first = facts[0]
        value = " ".join(fact.value for fact in facts)
        stanzas[interface][option] = setting(value, file, first.line, lines[first.line - 1])
