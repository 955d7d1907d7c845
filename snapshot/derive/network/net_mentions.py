"""Where network configuration names interfaces, and which bridges get which ports: from section net.

interfaces(5), and ifupdown2's ifupdown-addons-interfaces(5); netplan's YAML reference, "match", "set-name"; of
systemd.network(5) [Match] Name= and [Network] Bridge=. The oddities:

* Installers leave ``iface NAME inet manual`` for each NIC that they saw. Such a stanza, never brought up by itself and
  without options, needs no interface, and so names none.
* netplan's bonds, bridges and VLANs name the ids of others. An id is an interface's name only where its definition has
  no ``match``; ``set-name`` gives that name to what matches.
* ``bridge-ports`` may be none or all, or a glob or regex of ifupdown2: these name nothing that has to be there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from ...records import record
from ...regexes import regex

Manager = Literal["ifupdown", "netplan", "networkd"]
Table = Mapping[str, Any]
SOURCES = ("ifupdown", "netplan", "networkd")
_WORD = regex(r"[\w.@:-]+")
_PLAIN = regex(r"[\w.@:-]{1,15}", re.ASCII)  # IFNAMSIZ of include/uapi/linux/if.h, less the end
_PATTERNS = ("none", "all", "glob", "regex")
_NETPLAN = ("interfaces", "link", "parameters.primary")


@record(frozen=True)
class Mention:
    """An interface that MANAGER's files name; ORIGIN is the line, where it is recorded."""

    name: str
    manager: Manager
    origin: Table | None = None


@record(frozen=True)
class Port:
    """A port that a bridge is configured to have; AUTO: the bridge is made at boot."""

    bridge: str
    name: str
    manager: Manager
    origin: Table
    auto: bool = True


def mentions(net: Table) -> Iterator[Mention]:
    """Every interface that the configuration in section NET names, once for each place."""
    for name, stanza in net.get("ifupdown", {}).items():
        yield from _ifupdown(name, stanza)
    for key, stanza in net.get("netplan", {}).items():
        yield from _netplan(net, key, stanza["options"])
    for file, stanza in net.get("networkd", {}).items():
        if file.endswith(".network") and (match := stanza["options"].get("Match.Name")):
            yield from (Mention(name, "networkd", match["origin"]) for name in _plain(match["value"]))


def ports(net: Table) -> Iterator[Port]:
    """Every port of a bridge that the configuration names literally."""
    for bridge, stanza in net.get("ifupdown", {}).items():
        if (found := stanza["options"].get("bridge-ports")) and not {*found["value"].split()} & {*_PATTERNS}:
            auto = bool(stanza.get("auto"))
            yield from (Port(bridge, name, "ifupdown", found["origin"], auto) for name in _plain(found["value"]))
    for key, stanza in net.get("netplan", {}).items():
        if key.startswith("bridges.") and (found := stanza["options"].get("interfaces")):
            told = (interface_of(net, one) for one in found["value"].split())
            yield from (Port(key.partition(".")[2], name, "netplan", found["origin"]) for name in told if name)
    for file, stanza in net.get("networkd", {}).items():
        options = stanza["options"]
        if file.endswith(".network") and (bridge := options.get("Network.Bridge")) and "Match.Name" in options:
            names = _plain(options["Match.Name"]["value"])
            yield from (Port(bridge["value"], name, "networkd", bridge["origin"]) for name in names)


def interface_of(net: Table, identifier: str) -> str | None:
    """The interface that a netplan id stands for; None where it matches what cannot be told."""
    options = _definition(net, identifier)
    if "set-name" in options:
        name: str = options["set-name"]["value"]
        return name
    if not any(key.startswith("match.") for key in options):
        return identifier
    if mac := options.get("match.macaddress"):
        return named_by_mac(net, mac["value"])
    matched = options.get("match.name", {}).get("value", "")
    return matched if _PLAIN.fullmatch(matched) else None


def named_by_mac(net: Table, mac: str) -> str | None:
    """The name of the one interface with this permanent MAC."""
    found = [i["name"] for i in net.get("interfaces", {}).values() if i.get("permanent_mac") == mac.lower()]
    return found[0] if len(found) == 1 else None


def pinned_by(net: Table, name: str) -> Table | None:
    """The line of a .link file, netplan or udev that gives an interface this very name; None without one."""
    stanzas = [stanza["options"] for key in ("networkd", "netplan") for stanza in net.get(key, {}).values()]
    settings = [options[key] for options in stanzas for key in ("Link.Name", "set-name") if key in options]
    origins = (one["origin"] for one in (*settings, *net.get("udev_names", ())) if one["value"] == name)
    return next(origins, None)


def _ifupdown(name: str, stanza: Table) -> Iterator[Mention]:
    settings = [*stanza["options"].values(), *stanza.get("hooks", ())]
    if stanza.get("auto") or settings:
        yield from (Mention(one, "ifupdown") for one in _with_base(name))
    for setting in settings:
        for name in _words(setting["value"]):
            yield Mention(name, "ifupdown", setting["origin"])


def _netplan(net: Table, key: str, options: Table) -> Iterator[Mention]:
    kind, _, identifier = key.partition(".")
    origin = next((setting["origin"] for setting in options.values()), None)
    by_name = kind == "ethernets" and not {"set-name", "match.macaddress"} & options.keys()
    if by_name and (name := interface_of(net, identifier)):
        yield Mention(name, "netplan", origin)
    for word in _NETPLAN if kind != "ethernets" else ():
        for one in options.get(word, {}).get("value", "").split():
            if not _definition(net, one):
                yield Mention(one, "netplan", options[word]["origin"])


def _definition(net: Table, identifier: str) -> Table:
    options: Table = net.get("netplan", {}).get(f"ethernets.{identifier}", {}).get("options", {})
    return options


def _words(text: str) -> set[str]:
    return {name for word in _WORD.findall(text) for name in _with_base(word)}


def _with_base(name: str) -> tuple[str, ...]:
    """A VLAN's name, eno1.100, names its base too."""
    base = re.split("[.@:]", name)[0]
    return (name,) if base in ("", name) else (name, base)


def _plain(text: str) -> list[str]:
    return [word for word in text.split() if _PLAIN.fullmatch(word)]
