"""Each port that a bridge is configured to have, against what is in it: from section net.

Documentation/networking/bridge.rst; interfaces(5) and ifupdown2's ifupdown-addons-interfaces(5), bridge-ports;
netplan's YAML reference, bridges; systemd.network(5), Bridge=. A port that is missing when the bridge is made is left
out with a warning: the bridge is there, and reaches nothing.

A bridge that is not there counts only where its manager is known to be in use: /etc/network/interfaces may be left
from before netplan. Ports that are guests' interfaces by name have no row, because these are not recorded.

Row keys, by "BRIDGE PORT"; a key without a value is missing:
    bridge, port, manager (ifupdown, netplan, networkd)
    state          in; outside: the interface is there and not in the bridge; missing: no interface of that name;
                   no-bridge
    outside, missing, no_bridge   name of the port or bridge, with that state
    master         with outside: the bridge or bond that it is in instead
    switched_off   with outside: true when the interface is not up
    others         other ports of the bridge
    asked_by       FILE:LINE of the line that asks for the port
    lines          [{file, line, text}] of it
    called         what the interface that had the port's name before is called now
    unnamed        the one physical interface that no file names, where there is just one: likely the port
    now            commands that put the port back
    durable        commands that mend the file
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ..facts import Derived
from .net_mentions import Port, mentions, ports
from .nic_names import physical, reload, rename, was_called

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]


def bridge_ports(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each configured port of AFTER; BEFORE tells what a missing interface is called now."""
    if fact := after.unread("net", ("interfaces",)):
        what = "whether bridges have their ports"
        return Derived({}, [{"subject": "", "what": what, "source": fact.source, "why": fact.why}])
    host, found = _Host(after, before), Derived()
    for port in ports(after.table("net")):
        key = f"{port.bridge} {port.name}"
        if gap := host.gap(port):
            found.unknown.append({"subject": key, **gap})
        elif row := host.row(port):
            found.rows[key] = {name: value for name, value in row.items() if value is not None}
    return found


class _Host:
    """Interfaces by name."""

    def __init__(self, after: Snapshot, before: Snapshot | None) -> None:
        self.after, self.net = after, after.table("net")
        interfaces: dict[str, Any] = self.net.get("interfaces", {})
        self.keys = {interface["name"]: key for key, interface in interfaces.items()}
        self.then = {old: key for key, old in was_called(before, after).items()}

    def gap(self, port: Port) -> Mapping[str, str] | None:
        """Why it is not known what is in the bridge."""
        path = ("interfaces", self.keys.get(port.bridge, ""), "bridge", "ports")
        fact = self.after.unread("net", path) if port.bridge in self.keys else None
        return {"what": "what is in the bridge", "source": fact.source, "why": fact.why} if fact else None

    def row(self, port: Port) -> Row | None:
        bridge, interface = self._named(port.bridge), self._named(port.name)
        if any(fnmatchcase(port.name, pattern) for pattern in self.net.get("left_out", ())):
            return None
        if "bridge" not in bridge:
            return self._without(port) if not bridge and self._made(port) else None
        members = bridge["bridge"]["ports"]
        state = "in" if port.name in members else "outside" if interface else "missing"
        row = self._row(port, state) | {"others": [name for name in members if name != port.name]}
        if state == "outside":
            row |= {"master": interface.get("master"), "switched_off": interface.get("up") is False or None}
            move = f"ip link set dev {shlex.quote(port.name)} master {shlex.quote(port.bridge)} up"
            row |= {"now": [move], "durable": [reload(self.after, port.manager, port.name)]}
        return row | (self._lost(port) if state == "missing" else {})

    def _named(self, name: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.net["interfaces"][self.keys[name]] if name in self.keys else {}
        return found

    def _made(self, port: Port) -> bool:
        """Whether something surely made the bridge at boot if it could."""
        if port.manager == "networkd":
            unit = self.after.table("units").get("units", {}).get("systemd-networkd.service", {})
            return bool(unit.get("runtime", {}).get("active") == "active")
        installed = self.after.table("packages").get("installed", {})
        own = port.manager == "netplan" or "proxmox_ve" in self.after.table("os")
        return port.auto and (own or bool({"ifupdown", "ifupdown2"} & installed.keys()))

    def _without(self, port: Port) -> Row:
        return self._row(port, "no-bridge") | {"now": [reload(self.after, port.manager, port.bridge)]}

    def _row(self, port: Port, state: str) -> Row:
        row: Row = {"bridge": port.bridge, "port": port.name, "manager": port.manager, "state": state}
        name = port.bridge if state == "no-bridge" else port.name
        row["asked_by"] = f"{port.origin['file']}:{port.origin['line']}"
        return row | {"lines": [port.origin]} | ({state.replace("-", "_"): name} if state != "in" else {})

    def _lost(self, port: Port) -> Row:
        """What the port is called now, or likely is."""
        key = self.then.get(port.name)
        called = self.net["interfaces"][key]["name"] if key else None
        free = [*self._free()] if not called else []
        unnamed = free[0] if len(free) == 1 else None
        new = called or unnamed
        if not new:
            return {}
        edits = rename([port.origin["file"]], port.name, new)
        attach = f"ip link set dev {shlex.quote(new)} master {shlex.quote(port.bridge)} up"
        durable = [*edits, reload(self.after, port.manager, new)] if edits else None
        return {"called": called, "unnamed": unnamed, "now": [attach], "durable": durable}

    def _free(self) -> Iterator[str]:
        """Physical interfaces that no file names and that are in no bridge or bond."""
        named = {mention.name for mention in mentions(self.net)}
        for interface in physical(self.net).values():
            if interface["name"] not in named and "master" not in interface:
                yield interface["name"]
