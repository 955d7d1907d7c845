"""Permanent addresses and VLAN numbers of interfaces, from ip -j -d link show.

ip-link(8), rtnetlink(7). A list of objects. ``permaddr`` is there only where it differs from ``address``, and needs
kernel and iproute2 of 5.6 or later: a missing one proves nothing. It asks the kernel and changes nothing.
"""

from __future__ import annotations

from typing import Any

from ..errors import ParseError
from ..records import record
from ..regexes import regex

COMMAND = ("ip", "-j", "-d", "link", "show")
MAC = regex("[0-9a-f]{2}(?::[0-9a-f]{2}){5}")


@record(frozen=True)
class Link:
    """What ip says of an interface, where it does."""

    permanent_mac: str | None = None
    vlan_id: int | None = None


def parse_links(text: str) -> dict[str, Link]:
    """By interface name. ParseError when TEXT is no such list."""
    import json  # not before it is needed: most hosts do not

    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        items = None
    if not isinstance(items, list):
        raise ParseError(f"no list of links: {text[:80]!r}")
    return {str(item["ifname"]): _link(item) for item in items if isinstance(item, dict) and "ifname" in item}


def _link(item: dict[str, Any]) -> Link:
    mac, info = item.get("permaddr"), item.get("linkinfo")
    data = info.get("info_data") if isinstance(info, dict) and info.get("info_kind") == "vlan" else None
    number = data.get("id") if isinstance(data, dict) else None
    return Link(
        mac if isinstance(mac, str) and MAC.fullmatch(mac) else None,
        number if type(number) is int and 0 <= number < 4096 else None,
    )
