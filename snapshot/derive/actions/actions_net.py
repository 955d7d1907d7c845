"""What network configuration sets: ifupdown stanzas and their hooks, .link, .network and .netdev files, netplan.

interfaces(5), systemd.link(5), systemd.network(5), systemd.netdev(5), https://netplan.readthedocs.io. Of .link files
the first whose [Match] fits counts, and no other. netplan writes /run/systemd/network/10-netplan-* at each boot.
offload- and hardware- options of ifupdown are read by a script of the package ethtool, which is not recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from ...regexes import regex
from .action import NETWORK, UDEV, Action, Effect, Source
from .actions_nic import key_of
from .actions_shell import Runner
from .actions_starts import Starts
from .actions_tools import TOOLS
from .actions_words import Scope, literal

Table = Mapping[str, Any]
_LINK: dict[str, tuple[str, ...]] = {
    "MTUBytes": ("mtu",), "TransmitQueueLength": ("txqueuelen",), "RxBufferSize": ("ring", "rx"),
    "TxBufferSize": ("ring", "tx"), "RxMiniBufferSize": ("ring", "rx_mini"), "RxJumboBufferSize": ("ring", "rx_jumbo"),
    "RxChannels": ("channels", "rx"), "TxChannels": ("channels", "tx"), "OtherChannels": ("channels", "other"),
    "CombinedChannels": ("channels", "combined"), "RxCoalesceSec": ("coalesce", "rx-usecs"),
    "TxCoalesceSec": ("coalesce", "tx-usecs"), "UseAdaptiveRxCoalesce": ("coalesce", "adaptive-rx"),
    "UseAdaptiveTxCoalesce": ("coalesce", "adaptive-tx"), "ReceiveChecksumOffload": ("offload", "rx-checksumming"),
    "TransmitChecksumOffload": ("offload", "tx-checksumming"),
    "TCPSegmentationOffload": ("offload", "tcp-segmentation-offload"),
    "GenericSegmentationOffload": ("offload", "generic-segmentation-offload"),
    "GenericReceiveOffload": ("offload", "generic-receive-offload"),
    "LargeReceiveOffload": ("offload", "large-receive-offload"),
}
_NETPLAN: dict[str, tuple[str, ...]] = {
    "mtu": ("mtu",), "receive-ring": ("ring", "rx"), "transmit-ring": ("ring", "tx"),
    "receive-checksum-offload": ("offload", "rx-checksumming"),
    "transmit-checksum-offload": ("offload", "tx-checksumming"),
    **{name: ("offload", name) for name in ("tcp-segmentation-offload", "generic-segmentation-offload",
                                            "generic-receive-offload", "large-receive-offload")},
}
_IFUPDOWN = regex(r"(?P<plain>mtu|txqueuelen)|offload-(?P<offload>.+)|hardware-dma-ring-(?P<ring>.+)"
                       r"|hardware-irq-coalesce-(?P<coalesce>.+)|(?P<two>gro|tso|lro)-offload")
_HOOK = regex(r"(?:pre-up|up|post-up)\s+(.*)", re.DOTALL)
_TOOL = regex(r"(?<![\w.$-])[a-z_][\w-]*(?![\w.=-])")


def net_actions(net: Table, starts: Starts, runner: Runner) -> Iterator[Action]:
    """All that section net's files set."""
    yield from _ifupdown(net.get("ifupdown", {}), starts, runner)
    files = net.get("networkd", {})
    interfaces = list(net.get("interfaces", {}).values())
    for interface in interfaces:
        yield from _links(interface, files)
    names = [interface["name"] for interface in interfaces]
    yield from _networkd(files, names, *_fate(starts, "systemd-networkd.service"))
    for name, stanza in net.get("netplan", {}).items():
        yield from _netplan(name, stanza["options"], interfaces)


def _fate(starts: Starts, unit: str) -> tuple[str, str]:
    return starts.fate(unit) if unit in starts.units else ("", f"whether {unit} runs is not recorded")


def _ifupdown(stanzas: Mapping[str, Table], starts: Starts, runner: Runner) -> Iterator[Action]:
    why_not, unsure = _fate(starts, "networking.service")
    for nic, stanza in stanzas.items():
        doubt = unsure or ("" if stanza.get("auto") else f"{nic} is not brought up by itself")
        for option, setting in stanza["options"].items():
            source = Source("interfaces", NETWORK, setting["origin"], nic, doubt, why_not)
            yield from (source.action(effect) for effect in _option(nic, option, setting["value"]))
        for hook in stanza.get("hooks", ()):
            match = _HOOK.fullmatch(hook["value"])
            source = Source("interfaces", NETWORK, hook["origin"], nic, doubt, why_not)
            named = [tool for tool in _TOOL.findall(match[1]) if tool in TOOLS] if match else []
            scope = Scope({"IFACE": literal(nic)}, bash=False)
            found = runner.line(match[1], scope, named) if match else []
            yield from (source.action(f.effect, f.origin) for f in found)


def _option(nic: str, option: str, value: str) -> Iterator[Effect]:
    match = _IFUPDOWN.fullmatch(option)
    if not match:
        return
    if match["plain"]:
        yield Effect("ip", (nic, option), value)
        return
    group = "ring" if match["ring"] else "coalesce" if match["coalesce"] else "offload"
    key = key_of(group, match["two"] or match[group])
    yield Effect("ethtool", (nic, group, key), value, "a script has to be there that reads the option")


def _links(interface: Table, files: Mapping[str, Table]) -> Iterator[Action]:
    """What the .link file for INTERFACE sets; the first that may fit makes those behind it doubtful."""
    doubt = ""
    for name in sorted(file for file in files if file.endswith(".link")):
        options = files[name]["options"]
        fit = fits(interface, options)
        if fit is False:
            continue
        unsure = "" if fit else f"whether {name} fits {interface['name']} is not known"
        yield from _set(interface["name"], options, "Link", "link", UDEV, ("", doubt or unsure))
        if fit:
            return
        doubt = doubt or f"{name} may come before it"


def fits(interface: Table, options: Table) -> bool | None:
    """Whether the [Match] of a .link file is for INTERFACE; None: not known."""
    if not options:  # masked
        return False
    answers: list[bool | None] = []
    for key, setting in options.items():
        section, _, name = key.partition(".")
        if section == "Match":
            answers.append(_answer(interface, name, setting["value"].split()))
    return False if False in answers else None if None in answers or not answers else True


def _answer(interface: Table, name: str, values: list[str]) -> bool | None:
    if name in ("MACAddress", "PermanentMACAddress"):
        mac = interface.get("permanent_mac")
        return mac.lower() in [value.lower().replace("-", ":") for value in values] if mac else None
    if name == "Driver" and "driver" in interface:
        return any(fnmatchcase(interface["driver"], value) for value in values)
    return True if name == "OriginalName" and values == ["*"] else None


def _set(nic: str, options: Table, section: str, how: str, order: int, fate: tuple[str, str]) -> Iterator[Action]:
    """What the keys of SECTION set on NIC."""
    for key, setting in options.items():
        where = _LINK.get(key.removeprefix(f"{section}.")) if key.startswith(f"{section}.") else None
        if where:
            file = setting["origin"]["file"]
            gone = file.startswith("/run/") and "/10-netplan-" not in file
            source = Source(how, order, setting["origin"], nic, fate[1], fate[0] or ("it lies in /run only" * gone))
            target = "ip" if len(where) == 1 else "ethtool"
            yield source.action(Effect(target, (nic, *where), setting["value"]))


def _networkd(files: Mapping[str, Table], names: list[str], why_not: str, doubt: str) -> Iterator[Action]:
    for file, stanza in sorted(files.items()):
        options = stanza["options"]
        if file.endswith(".netdev") and "NetDev.Name" in options:
            yield from _set(options["NetDev.Name"]["value"], options, "NetDev", "networkd", NETWORK, (why_not, doubt))
        elif file.endswith(".network"):
            only = [key for key in options if key.startswith("Match.")] == ["Match.Name"]
            patterns = options["Match.Name"]["value"].split() if "Match.Name" in options else ["*"]
            more = doubt or ("" if only else f"[Match] of {file} asks for more than a name")
            for nic in (n for n in names if any(fnmatchcase(n, pattern) for pattern in patterns)):
                yield from _set(nic, options, "Link", "networkd", NETWORK, (why_not, more))


def _netplan(name: str, options: Table, interfaces: list[Table]) -> Iterator[Action]:
    nic, doubt = name.partition(".")[2], ""
    mac = options["match.macaddress"]["value"].lower() if "match.macaddress" in options else ""
    if any(key.startswith("match.") for key in options):
        found = [i["name"] for i in interfaces if mac and i.get("permanent_mac") == mac]
        doubt = "" if found else "which interface it matches is not known"
        nic = options["set-name"]["value"] if "set-name" in options else found[0] if found else nic
    for key, setting in options.items():
        if key in _NETPLAN:
            where = _NETPLAN[key]
            gone = setting["origin"]["file"].startswith("/run/")
            source = Source("netplan", NETWORK, setting["origin"], nic, doubt, "it lies in /run only" * gone)
            yield source.action(Effect("ip" if len(where) == 1 else "ethtool", (nic, *where), setting["value"]))
