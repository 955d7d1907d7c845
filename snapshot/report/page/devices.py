"""The GPUs, NICs and drives of the topology by the names that the system gives them, and the GPUs' own facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from ...document import Snapshot
from .figures import few, numbered, on, said, size, speed, watts
from .sheet import Sheet

Table = Mapping[str, Any]
SHORT = 12  # characters of a UUID that tell GPUs of a host apart


class Names:
    """What the drivers call the PCI functions."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._functions = snapshot.table("pci").get("functions", {})
        self._nvidia = _by_address(snapshot.table("nvidia").get("gpus", {}), "address")
        self._amdgpu = _by_address(snapshot.table("amdgpu").get("gpus", {}), "address")
        interfaces = snapshot.table("net").get("interfaces", {})
        self._interfaces = _by_address(interfaces, "device")
        self._rdma = _by_address(snapshot.table("rdma").get("devices", {}), "device")
        storage = snapshot.table("storage")
        self._drives = _by_address(storage.get("controllers", {}) or storage.get("blocks", {}), "device")
        self._virtual = Counter(f["physical_function"] for f in self._functions.values() if "physical_function" in f)
        self._virtual |= Counter({a: i.get("virtual_functions", 0) for a, i in self._interfaces.items()})

    def name(self, address: str) -> str:
        """Node or interface: nvidia0, eno1np0, nvme0; "" where no driver gave one."""
        if address in self._nvidia and "minor" in self._nvidia[address]:
            return f"nvidia{self._nvidia[address]['minor']}"
        found = self._amdgpu.get(address, {}).get("render")
        other = self._interfaces.get(address) or self._drives.get(address) or self._rdma.get(address) or {}
        return str(found or other.get("name", ""))

    def model(self, address: str) -> str:
        """What tells more: start of the UUID, speed of the NIC, model of the drive, else the name of pci.ids."""
        function = self._functions[address]
        if found := self._nvidia.get(address):
            return str(found.get("uuid", "UUID not known"))[:SHORT]
        if found := self._amdgpu.get(address):
            return str(found.get("unique_id", found.get("name", "")))
        words = (self._link(address), self._drives.get(address, {}).get("model"),
                 f"{self._virtual[address]} VFs" if self._virtual[address] else None)
        plain = function.get("name") or f"{function.get('vendor', '????')}:{function.get('device', '????')}"
        return ", ".join(filter(None, words)) or str(plain)

    def _link(self, address: str) -> str | None:
        interface = self._interfaces.get(address)
        if not interface:
            return None
        return speed(interface["speed_mbps"]) if "speed_mbps" in interface else interface.get("operstate")


def _by_address(tables: Mapping[str, Table], key: str) -> dict[str, Table]:
    """By PCI address; of several on one function the first."""
    return {table[key]: table for table in reversed([*tables.values()]) if key in table}


def cards(sheet: Sheet, snapshot: Snapshot) -> None:
    """The chapter of GPUs: what they are, equal ones together; how they reach each other; what is wrong."""
    sheet.chapter("GPUS")
    table = snapshot.table("nvidia")
    _alike(sheet, table.get("gpus", {}), _card)
    lost: dict[str, list[str]] = {}
    for key, gpu in table.get("gpus", {}).items():
        if "state" not in gpu and (fact := snapshot.unread("nvidia", ("gpus", key, "state"))):
            lost.setdefault(f"{fact.source}: {fact.why}", []).append(gpu.get("address", key))
    for why, names in lost.items():
        sheet.facts("unknown", [f"limits, modes and health of {', '.join(few(names, 8))} ({why})"])
    _alike(sheet, snapshot.table("amdgpu").get("gpus", {}), _amd)
    for title, name in (("GPU pairs", "topology"), ("peer to peer", "p2p_read")):
        sheet.facts(title, _pairs(table.get(name), table.get("gpus", {})))
    sheet.facts("NVLink", (f"{count} GPUs: {text}" for text, count in Counter(
        f"{link['active'] or 'none'} up, {link.get('inactive', 'none')} down"
        for link in table.get("nvlink", {}).values()).items()), "; ")
    for key, gpu in table.get("gpus", {}).items():
        sheet.facts("wrong", (gpu.get("address", key), *faults) if (faults := [*_faults(gpu)]) else ())
    for address, events in table.get("events", {}).items():
        xid = (f"Xid {code} {count} x" for code, count in events.get("xid", {}).items())
        rest = (f"{name} {count} x" for name, count in events.items() if name != "xid" and count)
        sheet.facts("kernel log", (address, *xid, *rest))


def _alike(sheet: Sheet, found: Mapping[str, Table], describe: Any) -> None:
    """One paragraph for all GPUs of which the same is said."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for key, gpu in found.items():
        node = f"nvidia{gpu['minor']}" if "minor" in gpu else gpu.get("render") or gpu.get("address", key)
        groups.setdefault(tuple(filter(None, describe(gpu))), []).append(node)
    for facts, nodes in groups.items():
        sheet.facts(" ".join(numbered(nodes)), (f"{len(nodes)} x {facts[0]}" if facts else None, *facts[1:]))


def _card(gpu: Table) -> Iterator[str | None]:
    state = gpu.get("state", {})
    power, clocks = state.get("power", {}), state.get("application_clocks", {})
    yield gpu.get("name", "NVIDIA GPU of unknown name")
    yield f"memory {size(state['memory_bytes'])}" if "memory_bytes" in state else None
    yield f"BAR1 {size(state['bar1_bytes'])}" if "bar1_bytes" in state else None
    yield from (on(state, "ecc", "ECC"), on(state, "mig", "MIG"), on(state, "persistence"))
    if "limit_mw" in power:
        default = power.get("default_mw")
        yield f"limit {watts(power['limit_mw'])}" + (
            f" (default {watts(default)})" if default not in (None, power["limit_mw"]) else "")
    yield said(clocks, "graphics_mhz", "application clock ", " MHz")
    yield said(state, "compute_mode", "compute mode ") if state.get("compute_mode") != "Default" else None
    yield from (said(gpu, "vbios", "VBIOS "), said(gpu, "firmware", "GSP "))


def _amd(gpu: Table) -> Iterator[str | None]:
    yield gpu.get("name", gpu.get("target", "AMD GPU of unknown name"))
    yield gpu.get("target")
    yield f"memory {size(gpu['vram_bytes'])}" if "vram_bytes" in gpu else None
    yield f"visible {size(gpu['visible_vram_bytes'])}" if "visible_vram_bytes" in gpu else None
    yield said(gpu, "performance_level", "performance level ")
    yield f"limit {watts(gpu['power_cap_mw'])}" if "power_cap_mw" in gpu else None
    yield from (gpu.get("compute_partition"), gpu.get("memory_partition"), said(gpu, "vbios", "VBIOS "))


def _faults(gpu: Table) -> Iterator[str]:
    """What needs somebody: no answer, no UUID, repairs that wait."""
    state = gpu.get("state", {})
    if gpu.get("answers") is False:
        yield "does not answer nvidia-smi"
    if gpu.get("excluded"):
        yield "excluded by a module option"
    for name, value in state.get("health", {}).items():
        if value is True:
            yield name.replace("_", " ")
        elif name == "recovery_action" and value != "None":
            yield f"recovery action {value}"
    yield from (f"{name} changes at the next reset" for name in ("ecc", "mig")
                if state.get(f"{name}_pending", state.get(name)) != state.get(name))


def _pairs(matrix: Table | None, found: Mapping[str, Table]) -> list[str]:
    """How many pairs of GPUs have which word in a matrix."""
    if not matrix:
        return []
    own = {gpu.get("address") for gpu in found.values()}
    at = [n for n, name in enumerate(matrix["ids"]) if name in own]
    words = Counter(str(matrix["rows"][a][b]) for a, b in combinations(at, 2))
    return [f"{word} {count} x" for word, count in sorted(words.items())]
