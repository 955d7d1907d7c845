"""Interfaces and network files for the tests of derived facts; all of it invented."""

from __future__ import annotations

from typing import Any

INTERFACES = "/etc/network/interfaces"
MACS = [f"02:00:00:00:00:{n:02x}" for n in range(1, 5)]


def nic(name: str, mac: str = MACS[0], **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": "physical", "permanent_mac": mac} | more


def bridge(name: str, *ports: str) -> dict[str, Any]:
    return {"name": name, "kind": "bridge", "bridge": {"ports": [*ports]}}


def net(*interfaces: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"interfaces": {i.get("permanent_mac", i["name"]): i for i in interfaces}} | more


def setting(value: str, line: int = 7, file: str = INTERFACES) -> dict[str, Any]:
    return {"value": value, "origin": {"file": file, "line": line, "text": value}}


def stanza(auto: bool | None = None, hooks: list[dict[str, Any]] | None = None, **options: str) -> dict[str, Any]:
    """A stanza; of option names _ stands for - and __ for a dot."""
    table = {name.replace("__", ".").replace("_", "-"): setting(value) for name, value in options.items()}
    found: dict[str, Any] = {"options": table}
    return found | ({"auto": True} if auto else {}) | ({"hooks": hooks} if hooks else {})


def vmbr(ports: str, auto: bool = True) -> dict[str, Any]:
    """Files of ifupdown: vmbr0 with PORTS."""
    return {"ifupdown": {"vmbr0": stanza(auto, bridge_ports=ports)}}
