"""Small pairs for the tests of the judge arm; all names and numbers are invented."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snapshot.document import FileFact, Meta, Outcome, Snapshot, State, UnreadFact
from snapshot.sections import NAMES, model

CONF = "/etc/pve/lxc/101.conf"
GPUS = [f"0000:{bus:02x}:00.0" for bus in (0x01, 0x21, 0x41, 0x61, 0x81, 0xA1, 0xC1, 0xE1)]

EMPTY: dict[str, dict[str, Any]] = {  # of sections of which no host is without
    "os": {}, "kernel": {}, "cmdline": {"tokens": [], "parameters": {}}, "cpu": {}, "memory": {},
}
ABSENT: dict[str, State] = dict.fromkeys((name for name in NAMES if name not in EMPTY), "absent")


def snapshot(
    tables: Mapping[str, Mapping[str, Any]], *, meta: Mapping[str, Any] | None = None,
    unread: Mapping[str, list[list[str]]] | None = None, states: Mapping[str, State] | None = None,
    files: Mapping[str, str] | None = None, why: str = "EACCES",
) -> Snapshot:
    """A snapshot of TABLES. UNREAD: section -> unknown paths; STATES: sections without facts; FILES: path -> sum."""
    facts = {
        name: [UnreadFact(path=path, source="/src", why=why) for path in paths]
        for name, paths in (unread or {}).items()
    }
    outcomes = {
        name: Outcome(state="partial" if name in facts else "ok", facts=0, unread=facts.get(name)) for name in tables
    }
    outcomes |= {name: Outcome(state=state, facts=0, why="because") for name, state in (states or {}).items()}
    whole = {"format": 1, "tool": "0", "host": "pve1", "taken": "2026-01-01T00:00:00Z", "uid": 0,
             "capabilities": "0" * 16, "source": "directory", "kernel": "6.8.12-9-pve"} | dict(meta or {})
    mtime = "2026-01-01T00:00:00Z"
    recorded = {path: FileFact(size_bytes=1, mtime=mtime, sha256=total) for path, total in (files or {}).items()}
    models = {name: model(name).model_validate(table) for name, table in tables.items()}
    return Snapshot.build(Meta.model_validate(whole), outcomes, recorded, models)


def gpu(read_request: int, **more: Any) -> dict[str, Any]:
    express = {"type": "endpoint", "max_payload_bytes": 256, "max_read_request_bytes": read_request}
    return {"vendor": "10de", "device": "2bb5", "class_code": "030200", "driver": "nvidia", "source": "config",
            "express": express} | more


def pci(read_request: int, addresses: list[str] = GPUS, **more: Any) -> dict[str, Any]:
    return {"functions": {address: gpu(read_request, **more) for address in addresses}}


def devices(uvm: int, **more: int) -> dict[str, Any]:
    drivers = {"nvidia": 195, "nvidia-uvm": uvm} | {name.replace("_", "-"): n for name, n in more.items()}
    nodes = {
        path: {"type": "c", "major": uvm, "minor": minor, "mode": "0666", "uid": 0, "gid": 0}
        for minor, path in enumerate(("/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"))
    }
    return {"character": {name: [n] for name, n in drivers.items()}, "block": {}, "nodes": nodes}


def lxc(major: int) -> dict[str, Any]:
    """Container 101, privileged and not running: a rule for MAJOR, and mount entries of nvidia-uvm's two nodes."""
    allow, entry = "lxc.cgroup2.devices.allow", "lxc.mount.entry"
    paths = ("/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
    rules = [_rule(14, allow, f"c {major}:* rwm")]
    mounts = [
        {"source": path, "target": path[1:], "fstype": "none", "options": ["bind", "optional", "create=file"],
         "origin": {"file": CONF, "line": 15 + at,
                    "text": f"{entry}: {path} {path[1:]} none bind,optional,create=file"}}
        for at, path in enumerate(paths)
    ]
    container = {"manager": "pve", "config_file": CONF, "hostname": "llm", "privileged": True, "running": False,
                 "live": {"device_rules": rules, "mount_entries": mounts}}
    common = {"device_rules": [_rule(1, "lxc.cgroup2.devices.deny", "a", "/usr/share/lxc/config/common.conf")]}
    return {"containers": {"101": container}, "includes": {"/usr/share/lxc/config/common.conf": common}}


def _rule(line: int, key: str, value: str, file: str = CONF) -> dict[str, Any]:
    return {"key": key, "value": value, "origin": {"file": file, "line": line, "text": f"{key}: {value}"}}


def story() -> tuple[Snapshot, Snapshot]:
    """8 GPUs set to 4096 by hand and a container that names major 508; then a reboot into another kernel."""
    cmdline = {"tokens": ["quiet"], "parameters": {"quiet": [True]}}
    tuned = {"tokens": ["quiet", "amd_pstate=active"], "parameters": {"quiet": [True], "amd_pstate": ["active"]}}
    sysctl = {f"net.core.key{at}": at for at in range(12)}
    before = snapshot(
        {"pci": pci(4096), "devices": devices(508), "lxc": lxc(508), "cmdline": cmdline, "sysctl": {"values": sysctl}},
        meta={"boot_id": "one", "label": "pre", "taken": "2026-11-29T21:40:00Z"},
    )
    moved = {f"net.core.key{at}": at + (at > 1) for at in range(12)}
    after = snapshot(
        {"pci": pci(512), "devices": devices(511), "lxc": lxc(508), "cmdline": tuned, "sysctl": {"values": moved}},
        meta={"boot_id": "two", "kernel": "6.14.11-1-pve", "taken": "2026-11-30T01:44:34Z"},
    )
    return before, after
