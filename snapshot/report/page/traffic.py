"""Network and storage in brief: interfaces, RDMA ports, drives, pools, mounts; and measurements that were added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ...document import Snapshot
from ..paper import plural
from .figures import few, numbered, said, size, speed
from .sheet import Sheet

Table = Mapping[str, Any]
QUIET = ("tmpfs", "hugetlbfs", "fuse", "devpts", "ramfs")


def network(sheet: Sheet, snapshot: Snapshot) -> None:
    """The chapter of the network."""
    table = snapshot.table("net")
    sheet.chapter("NETWORK")
    rows = [_interface(i) for i in table.get("interfaces", {}).values() if not i.get("virtual_function")]
    sheet.table(rows)
    virtual = Counter(i.get("driver", "no driver") for i in table.get("interfaces", {}).values()
                      if i.get("virtual_function"))
    sheet.facts("virtual", (f"{plural(n, 'SR-IOV function')} of {driver}" for driver, n in virtual.items()))
    sheet.facts("left out", (f"{count} x {name}" for name, count in table.get("left_out", {}).items()))
    rdma = snapshot.table("rdma")
    ports = [_port(d, number, port) for d in rdma.get("devices", {}).values() for number, port in
             d.get("ports", {"": {}}).items()]
    sheet.table(ports)
    files = [f"{name} {' '.join(few([*table[name]], 12))}" for name in ("ifupdown", "netplan", "networkd")
             if table.get(name)]
    sheet.facts("set up by", files, ";")


def _interface(found: Table) -> tuple[str | None, ...]:
    bond, bridge = found.get("bond", {}), found.get("bridge", {})
    members = bond.get("members") or bridge.get("ports") or found.get("lower") or ()
    rings, most = found.get("rings", {}), found.get("ring_maximums", {})
    facts = (
        said(bond, "mode"), f"of {' '.join(few(members, 6))}" if members else None, said(found, "master", "in "),
        said(found, "vlan_id", "VLAN "), f"rings {_pair(rings)} of {_pair(most) or '?'}" if rings else None,
        f"{found['channels']['combined']} channels" if "combined" in found.get("channels", {}) else None,
        said(found, "virtual_functions", "", " VFs") if found.get("virtual_functions") else None,
    )
    state = found.get("operstate") if found.get("up") is not False else "switched off"
    return (found["name"], found.get("driver", found["kind"]), state,
            speed(found["speed_mbps"]) if "speed_mbps" in found else None, said(found, "mtu", "MTU "),
            ", ".join(filter(None, facts)))


def _pair(rings: Table) -> str:
    return "/".join(dict.fromkeys(str(rings[name]) for name in ("rx", "tx") if name in rings))


def _port(device: Table, number: str, port: Table) -> tuple[str | None, ...]:
    rate = f"{port['rate_gbps']:g} Gb/s" if "rate_gbps" in port and port.get("state") != "DOWN" else None
    facts = (said(port, "link_layer"), said(port, "interface", "on "), said(device, "firmware", "firmware "))
    return f"{device['name']}/{number}", device.get("driver"), port.get("state"), rate, ", ".join(filter(None, facts))


def storage(sheet: Sheet, snapshot: Snapshot) -> None:
    """The chapter of storage."""
    table = snapshot.table("storage")
    sheet.chapter("STORAGE")
    alike: dict[tuple[str, ...], list[str]] = {}
    for block in table.get("blocks", {}).values():
        alike.setdefault(_block(block), []).append(block["name"])
    for facts, names in alike.items():
        sheet.facts(" ".join(few(numbered(names), 3)), (f"{len(names)} x" if len(names) > 1 else None, *facts))
    states = {name: c["state"] for name, c in table.get("controllers", {}).items() if c.get("state", "live") != "live"}
    sheet.facts("NVMe not live", (f"{table['controllers'][name]['name']} {state}" for name, state in states.items()))
    sheet.facts("ZFS pools", (f"{name} {pool.get('state', 'state unknown')}"
                              f"{' (not in zpool.cache)' if pool.get('cached') is False else ''}"
                              for name, pool in table.get("pools", {}).items()))
    for name, raid in table.get("raids", {}).items():
        sheet.facts(name, (raid.get("level"), "active" if raid["active"] else "inactive",
                           f"{raid['working']} of {raid['devices']} in sync" if "working" in raid and "devices" in raid
                           else None, *(f"failed {member}" for member in raid.get("failed", ())), raid.get("action")))
    _mounts(sheet, table)


def _block(block: Table) -> tuple[str, ...]:
    queue = block.get("queue", {})
    facts = (block.get("model"), size(block["size_bytes"]) if "size_bytes" in block else None,
             said(block, "firmware", "firmware "), said(queue, "scheduler", "scheduler "),
             said(queue, "read_ahead_kb", "read-ahead ", " KiB"), said(queue, "nr_requests", "", " requests"),
             said(queue, "write_cache"), "read only" if block.get("read_only") else None)
    return tuple(filter(None, facts))


def _mounts(sheet: Sheet, table: Table) -> None:
    mounts = table.get("mounts", {})
    shown = [f"{path} {m['fstype']}{' read only' if 'ro' in m['options'] else ''}"
             for path, m in mounts.items() if m["fstype"] not in QUIET]
    sheet.facts("mounted", few(shown, 24))
    wanted = {**table.get("fstab", {}), **table.get("mount_units", {})}
    lost = [path for path, f in wanted.items() if path.startswith("/") and path not in mounts
            and f["fstype"] not in ("swap", "proc", "sysfs", "devpts", "tmpfs") and "noauto" not in f["options"]]
    if "mounts" in table:
        sheet.facts("not mounted", (f"{path} (fstab or mount unit names it)" for path in lost))


def bench(sheet: Sheet, snapshot: Snapshot) -> None:
    """The chapter of measurements: how many there are of each benchmark; `bench show` lists them."""
    sheet.chapter("MEASUREMENTS")
    tools: dict[str, list[tuple[str, Table]]] = {}
    for kind, key in (("measurement", "measurements"), ("table", "grids")):
        for found in snapshot.table("bench").get(key, {}).values():
            tools.setdefault(found["source"]["tool"], []).append((kind, found))
    for tool, measured in sorted(tools.items()):
        kinds = Counter(kind for kind, _ in measured)
        odd = Counter(found["status"] for _, found in measured if found["status"] != "ok")
        workloads = {tuple(sorted(found["workload"].items())) for _, found in measured}
        sheet.facts(tool, (", ".join(plural(count, kind) for kind, count in kinds.items()),
                           plural(len(workloads), "workload"), *(f"{count} {word}" for word, count in odd.items())))
