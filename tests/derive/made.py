"""Small snapshots for the tests of derived facts: a GPU host with Proxmox VE, all of it invented."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snapshot.document import Meta, Outcome, Snapshot, UnreadFact
from snapshot.sections import model

CONF = "/etc/pve/lxc/101.conf"
COMMON = "/usr/share/lxc/config/common.conf"
USERNS = "/usr/share/lxc/config/userns.conf"
ALLOW = "lxc.cgroup2.devices.allow"


def snapshot(
    unread: Mapping[str, list[str]] | None = None, why: str = "EACCES", **tables: Mapping[str, Any]
) -> Snapshot:
    """A snapshot of these sections; UNREAD is section -> path of one fact that is unknown, and WHY."""
    outcomes = {}
    for name in tables:
        facts = (
            [UnreadFact(path=unread[name], source="/src", why=why)]
            if unread and name in unread
            else None
        )
        outcomes[name] = Outcome(state="partial" if facts else "ok", facts=0, unread=facts)
    meta = Meta(
        format=1,
        tool="0",
        host="pve1",
        taken="2026-01-01T00:00:00Z",
        uid=0,
        capabilities="0" * 16,
        source="directory",
    )
    return Snapshot.build(
        meta, outcomes, {}, {name: model(name).model_validate(t) for name, t in tables.items()}
    )


def node(major: int, minor: int, mode: str = "0666", **more: Any) -> dict[str, Any]:
    return {"type": "c", "major": major, "minor": minor, "mode": mode, "uid": 0, "gid": 0} | more


def devices(
    uvm: int | None = 511, caps: int = 507, drop: tuple[str, ...] = (), **more: int
) -> dict[str, Any]:
    """Section devices: nvidia-uvm and nvidia-caps with these majors, DROP these nodes, MORE drivers."""
    drivers = {"misc": 10, "nvidia": 195, "nvidiactl": 195, "nvidia-caps": caps, "drm": 226}
    drivers |= {"nvidia-uvm": uvm} if uvm else {}
    drivers |= {name.replace("_", "-"): major for name, major in more.items()}
    nodes = {
        "/dev/nvidia0": node(195, 0),
        "/dev/nvidiactl": node(195, 255),
        "/dev/nvidia-uvm": node(uvm or 508, 0),
        "/dev/nvidia-uvm-tools": node(uvm or 508, 1),
        "/dev/nvidia-caps/nvidia-cap1": node(caps, 1, "0400"),
        "/dev/nvidia-caps/nvidia-cap2": node(caps, 2, "0444"),
        "/dev/dri/renderD128": node(226, 128, "0660", gid=104),
    }
    return {
        "character": {name: [major] for name, major in drivers.items()},
        "block": {},
        "nodes": {path: n for path, n in nodes.items() if path not in drop},
    }


def origin(line: int, text: str, file: str = CONF) -> dict[str, Any]:
    return {"file": file, "line": line, "text": text}


def rule(line: int, value: str, key: str = ALLOW, file: str = CONF) -> dict[str, Any]:
    return {"key": key, "value": value, "origin": origin(line, f"{key}: {value}", file)}


def mount(line: int, path: str, options: str = "bind,optional,create=file", **more: Any) -> dict[str, Any]:
    text = f"lxc.mount.entry: {path} {path[1:]} none {options} 0 0"
    return {
        "source": path,
        "target": path[1:],
        "fstype": "none",
        "options": options.split(","),
        "origin": origin(line, text),
    } | more


def dev(line: int, path: str, **more: Any) -> dict[str, Any]:
    return {"path": path, "origin": origin(line, f"dev0: {path}")} | more


def part(*lines: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A part of these rules and mount entries."""
    found = {
        "device_rules": [one for one in lines if "key" in one],
        "mount_entries": [one for one in lines if "source" in one],
    }
    return {name: value for name, value in found.items() if value} | more


COMMON_PART = part(
    rule(1, "a", "lxc.cgroup2.devices.deny", COMMON),
    rule(2, "c *:* m", file=COMMON),
    rule(3, "c 1:3 rwm", file=COMMON),
)
USERNS_PART = part(
    rule(1, "", ALLOW, USERNS),
    rule(2, "", "lxc.cgroup2.devices.deny", USERNS),
    rule(9, "a", file="/usr/share/lxc/config/userns.conf.d/01-pve.conf"),
)
INCLUDES = {COMMON: COMMON_PART, USERNS: USERNS_PART}


def lxc(live: dict[str, Any], includes: dict[str, Any] | None = INCLUDES, **more: Any) -> dict[str, Any]:
    """Section lxc with container 101, stopped and privileged unless MORE says otherwise."""
    container = {
        "manager": "pve",
        "config_file": CONF,
        "hostname": "llm",
        "privileged": True,
        "running": False,
        "live": live,
    } | more
    return {"containers": {"101": container}} | ({"includes": includes} if includes is not None else {})
