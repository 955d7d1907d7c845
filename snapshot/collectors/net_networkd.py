"""Interfaces named and set up by systemd, from .link, .network and .netdev files.

systemd.link(5), systemd.network(5), systemd.netdev(5), systemd.syntax(7). Of the files with one name that of the first
folder hides the others; one that is empty or leads to /dev/null masks the name with all its drop-ins, which else come
on top from NAME.d/*.conf of all folders. Of .link files the first in order of names whose [Match] fits an interface
counts, and no other. Lines [Section] and Key=Value, # and ; begin comments, a \\ at the end goes on. Of a key's lines
the last counts, but a list is added to (systemd's link-config-gperf.gperf, networkd-network-gperf.gperf and
netdev-gperf.gperf say which), and [SR-IOV] stands once for each function. An empty value forgets what stood before;
that of a device stacked on top says nothing.

What /usr/lib ships of .network and .netdev is for containers and the like, and is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..regexes import regex
from ..sections.net import Setting, Stanza
from .base import Reading
from .net_lines import setting, shown
from .secrets import is_secret

FOLDERS = (
    "/etc/systemd/network", "/run/systemd/network", "/usr/local/lib/systemd/network", "/usr/lib/systemd/network",
)
PATHS = (*FOLDERS, *(f"{folder}/*" for folder in FOLDERS), *(f"{folder}/*.d/*" for folder in FOLDERS))
_SUFFIXES = (".link", ".network", ".netdev")
_ALL = ("Match", "Link", "NetDev", "Bond", "Bridge", "VLAN", "SR-IOV")
_SOME = {"Network": ("Bridge", "Bond", "VLAN", "MACVLAN", "IPVLAN", "VXLAN", "MACVTAP")}
_STACKED = ("Network.VLAN", "Network.MACVLAN", "Network.MACVTAP", "Network.IPVLAN", "Network.VXLAN")
_LISTS = regex(
    r"Match\.(?:(?:Permanent)?MACAddress|Path|Driver|Type|Kind|OriginalName|Name|Property|WLANInterfaceType|BSSID)"
    r"|Link\.(?:AlternativeName|Advertise|WakeOnLan)|Bond\.ARPIPTargets|VLAN\.(?:E|In)gressQOSMaps|SR-IOV\..*"
)
_PRIVATE = regex("SSID|Password|Host|Credential|Key", re.IGNORECASE)
_SECTION = regex(r"\[([^\[\]]+)\]")


def read(reading: Reading) -> tuple[dict[str, Stanza] | None, dict[str, str]]:
    """What the files say by name (None without any folder), and hidden file -> hiding file."""
    chosen: dict[str, str] = {}
    hidden: dict[str, str] = {}
    drop_ins: dict[str, dict[str, str]] = {}
    for folder in FOLDERS:
        for name in reading.list(folder, "networkd"):
            path = f"{folder}/{name}"
            if name.endswith(tuple(f"{suffix}.d" for suffix in _SUFFIXES)):
                parts = (part for part in reading.list(path, "networkd") if part.endswith(".conf"))
                for part in parts:
                    drop_ins.setdefault(name[:-2], {}).setdefault(part, f"{path}/{part}")
            elif _is_read(folder, name) and chosen.setdefault(name, path) != path:
                hidden[path] = chosen[name]
    table = {name: _stanza(reading, chosen[name], drop_ins.get(name, {})) for name in sorted(chosen)}
    return table or None, hidden


def _is_read(folder: str, name: str) -> bool:
    return name.endswith(_SUFFIXES if not folder.startswith("/usr/lib/") else _SUFFIXES[:1])


def _stanza(reading: Reading, path: str, drop_ins: dict[str, str]) -> Stanza:
    """What the file at PATH and its DROP_INS by name say; nothing of one that is masked."""
    options: dict[str, Setting] = {}
    for file in (path, *(drop_ins[name] for name in sorted(drop_ins))):
        stat = reading.stat(file, "networkd")
        if stat is not None and stat.type == "file" and stat.size:
            take(options, reading.config(file, "networkd") or "", file)
        elif file == path and (stat is not None or reading.readlink(file, "networkd") == "/dev/null"):
            break
    return Stanza(options=options)


def take(options: dict[str, Setting], text: str, file: str) -> None:
    """Lays what FILE says over OPTIONS. Any text is such a file; a line of another form sets nothing."""
    section = ""
    for number, line in _lines(text):
        if match := _SECTION.fullmatch(line.strip()):
            section = match[1]
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not _kept(section, key):
            continue
        name = f"{section}.{key}"
        if not value:
            if name not in _STACKED:
                options.pop(name, None)
        elif name in options and (name in _STACKED or _LISTS.fullmatch(name)):
            options[name] = options[name].copy(value=f"{options[name].value} {shown(' '.join(value.split()))}")
        else:
            options[name] = setting(value, file, number, line)


def _kept(section: str, key: str) -> bool:
    return (section in _ALL or key in _SOME.get(section, ())) and not _PRIVATE.search(key) and not is_secret(key)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    joined, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip()[:1] in ("#", ";") or (not joined and not line.strip()):
            continue
        start = start if joined else number
        if line.endswith("\\"):
            joined += f"{line[:-1]} "
            continue
        yield start, joined + line
        joined = ""
    if joined:
        yield start, joined
