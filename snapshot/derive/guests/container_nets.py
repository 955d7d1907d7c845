"""The network interfaces of containers against the bridges that they hang on, from sections lxc and net.

pct.conf(5), net[n]; update_lxc_config in src/PVE/LXC.pm of pve-container: without mtu= an interface takes that of its
bridge, and with a larger one than the bridge has the start fails.

Row keys, by "ID netN"; a key without a value is missing:
    container, who, running
    option          net0, net1, ...
    file, line, text, origin   the option; origin is the three in one
    bridge          name of the bridge
    mtu             bytes, as the option says; missing when it says none
    bridge_mtu      bytes; missing when there is no such bridge
    too_large       mtu is larger than that of the bridge; missing when either is
    effect          "will not start again" or "does not start", when it is too large
    now             commands that take the bridge's MTU for the interface
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ...sections.lxc import Container, Lxc, Option, Part
from ...sections.net import Net
from ..facts import Derived
from .containers import called, down

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
_NET = regex("net[0-9]{1,2}", re.ASCII)
_WORD = regex(r"(?:^|,)(bridge|mtu)=([^,]+)")


def container_nets(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each netN of a container of Proxmox VE, the pending ones merged as a start merges them."""
    del before
    found, section, net = Derived(), after.section("lxc"), after.section("net")
    gap = {"subject": "", "what": "whether the MTU of containers fits their bridges"}
    if unread := after.unread("lxc", ("containers",)) or after.unread("net", ("interfaces",)):
        found.unknown.append(gap | {"source": unread.source, "why": unread.why})
    if not (isinstance(section, Lxc) and isinstance(net, Net)):
        return found
    mtus = {one.name: one.mtu for one in net.interfaces.values()}
    for key, container in section.containers.items():
        for name, option in _coming(container).items():
            row = _row(key, container, name, option, mtus)
            found.rows[f"{key} {name}"] = {column: value for column, value in row.items() if value is not None}
    return found


def _coming(container: Container) -> dict[str, Option]:
    """The netN of the next start."""
    live, pending = container.live, container.pending or Part()
    kept = {name: one for name, one in (live.options or {}).items() if name not in (pending.deleted or [])}
    merged = {**kept, **(pending.options or {})} if container.manager == "pve" else {}
    return {name: one for name, one in merged.items() if _NET.fullmatch(name)}


def _row(key: str, container: Container, name: str, option: Option, mtus: dict[str, int | None]) -> Row:
    words = dict(_WORD.findall(option.value))
    mtu = int(words["mtu"]) if words.get("mtu", "").isdecimal() and len(words["mtu"]) < 6 else None
    row: Row = {
        "container": key, "who": called(key, container), "running": container.running, "option": name,
        **option.origin.table(), "origin": option.origin.table(), "bridge": words.get("bridge"), "mtu": mtu,
        "bridge_mtu": mtus.get(words.get("bridge", "")),
    }
    if mtu and row["bridge_mtu"]:
        row["too_large"] = mtu > row["bridge_mtu"]
        edit = shlex.quote(f"{option.origin.line}s/mtu={mtu}/mtu={row['bridge_mtu']}/")
        row["effect"] = down(container) if row["too_large"] else None
        row["now"] = [f"sed -i {edit} {shlex.quote(option.origin.file)}"] if row["too_large"] else None
    return row
