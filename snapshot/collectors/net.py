"""Network interfaces, from /sys/class/net, ethtool and ip; what sets them up stands in net_ifupdown and its like.

Documentation/ABI/testing/sysfs-class-net. The permanent MAC has no file: it is the address of an interface that keeps
it, a bond knows those of its members, and else ip is asked. /proc/net/vlan/config is for root only; ip tells all.

ethtool's questions wake a device that runtime power management put to sleep (ethnl_ops_begin in net/ethtool/netlink.c),
so of such a device they are unread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping
from typing import Any

from ..errors import ParseError
from ..host.base import Command, Result
from ..records import record
from ..regexes import regex
from ..sections.net import Interface, Net
from . import net_ethtool, net_ifupdown, net_ip, net_netplan, net_networkd, net_udev
from .base import Reading, Reads, decode
from .identity import keys_of, move_unread
from .net_interface import NET, PATHS, Entry, asleep, facts, hardware_address, is_guest, open_entry
from .sysctl import guest_kind

VLANS = "/proc/net/vlan/config"
IP = Command(net_ip.COMMAND)
READS = Reads(
    paths=(
        *PATHS, VLANS, *net_ifupdown.PATHS, *net_netplan.PATHS, *net_networkd.PATHS, *net_udev.PATHS,
    ),
    commands=(net_ip.COMMAND, *net_ethtool.COMMANDS),
    root="what netplan files say",
)
_VLAN = regex(r"(\S+)\s*\|\s*(\d{1,4})\s*\|")
Steps = Generator[tuple[Command, ...], Mapping[Command, Result], Net]


@record()
class _Draft:
    """An interface on its way: its facts, and what is still to be asked."""

    facts: dict[str, Any]
    ask_ip: bool = False
    commands: tuple[Command, ...] = ()
    physical: bool = False
    fact: tuple[str, ...] = ()


def collect(reading: Reading) -> Steps:
    """The section. A host without a network device but lo has an empty table of interfaces."""
    names = [name for name in reading.list(NET, "interfaces") if name not in ("lo", "bonding_masters")]
    guests = {name for name in names if is_guest(reading, name)}
    if not names and not reading.unreads and not reading.stat(NET, "interfaces"):
        reading.unread(("interfaces",), NET, "ENOENT")
    reading.depends(("interfaces",), ("left_out",))
    entries = [open_entry(reading, name) for name in names if name not in guests]
    drafts = {entry.name: _draft(reading, entry) for entry in entries if not entry.vanished}
    _number_vlans(reading, drafts)
    configured = _configured(reading)
    ask_ip = any(draft.ask_ip for draft in drafts.values())
    wanted = (*((IP,) if ask_ip else ()), *(command for draft in drafts.values() for command in draft.commands))
    results = (yield wanted) if wanted else {}
    if ask_ip:
        _ask_ip(reading, drafts, results[IP])
    for draft in drafts.values():
        for command in draft.commands:
            draft.facts |= net_ethtool.understand(reading, command, results[command], draft.fact)
    keys = keys_of({name: (draft.facts["permanent_mac"],) for name, draft in drafts.items()})
    move_unread(reading, "interfaces", keys)
    return Net(
        interfaces={keys[name]: Interface.make(draft.facts) for name, draft in drafts.items()}, **configured,
        left_out=dict(sorted(Counter(str(guest_kind(name)) for name in guests).items())) or None,
    )


def _configured(reading: Reading) -> dict[str, Any]:
    netplan, hidden = net_netplan.read(reading)
    networkd, masked = net_networkd.read(reading)
    return {
        "ifupdown": net_ifupdown.read(reading), "netplan": netplan, "networkd": networkd,
        "masked": dict(sorted({**hidden, **masked}.items())) or None, "udev_names": net_udev.read(reading),
    }


def _draft(reading: Reading, entry: Entry) -> _Draft:
    fact = ("interfaces", entry.name)
    virtual_function = entry.virtual_function
    permanent, mac, settled = hardware_address(entry)
    found = facts(entry, virtual_function) | {"permanent_mac": permanent, "mac": mac}
    commands: tuple[Command, ...] = ()
    if entry.physical and not virtual_function:
        if asleep(entry) or entry.name.startswith("-"):
            reason = "an option to ethtool" if entry.name.startswith("-") else "asleep"
            for name in net_ethtool.FACTS:
                reading.unread((*fact, name), "ethtool", reason)
        else:
            commands = net_ethtool.commands(entry.name)
    return _Draft(found, not settled, commands, entry.physical, fact)


def parse_vlans(text: str) -> dict[str, int]:
    """VLAN numbers by interface, from /proc/net/vlan/config. Lines of another form, as its head, say nothing."""
    matches = (_VLAN.match(line) for line in text.splitlines())
    return {match[1]: int(match[2]) for match in matches if match}


def _number_vlans(reading: Reading, drafts: Mapping[str, _Draft]) -> None:
    vlans = {name: draft for name, draft in drafts.items() if draft.facts["kind"] == "vlan"}
    content = reading.attempt(VLANS) if vlans else b""
    numbers = {} if isinstance(content, OSError) else parse_vlans(decode(content))
    for name, draft in vlans.items():
        draft.facts["vlan_id"] = numbers.get(name)
        draft.ask_ip |= name not in numbers


def _ask_ip(reading: Reading, drafts: Mapping[str, _Draft], result: Result) -> None:
    """What ip adds; what it does not tell is unread."""
    reason = result.why or ("" if result.exit_code == 0 else f"exit code {result.exit_code}")
    links: dict[str, net_ip.Link] = {}
    try:
        links = net_ip.parse_links(decode(result.stdout)) if not reason else {}
    except ParseError as error:
        reason = str(error)
    for name, draft in drafts.items():
        wanted = ("permanent_mac" if draft.physical else "vlan_id",) if draft.ask_ip else ()
        for fact in wanted:
            draft.facts[fact] = getattr(links.get(name, net_ip.Link()), fact)
            if draft.facts[fact] is None:
                reading.unread((*draft.fact, fact), " ".join(IP.argv), reason or "not told")
            else:
                reading.settle(True, "", "", *draft.fact, fact)
