"""Sockets, NUMA nodes, root ports, switches, and the GPUs, NICs and drives below them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ...document import Snapshot
from ..paper import plural
from ..taken import gpus
from .devices import Names
from .figures import cpus, few, numbered, per_cpu, size
from .sheet import Sheet

Table = Mapping[str, Any]
Row = tuple[str | None, ...]
HEADS = ("port above", "kind", "address", "link", "GT/s", "MRR", "driver", "IOMMU", "", "")
KINDS = {"0200": "NIC", "0207": "IB", "0108": "NVMe", "0104": "RAID", "0106": "SATA", "0107": "SAS", "1200": "accel"}
ALIKE = 3  # so many drives and NICs in a row that differ in their addresses only are one line
NOWHERE = -1


def topology(sheet: Sheet, snapshot: Snapshot) -> None:
    """The chapter of the topology: one block for each NUMA node below its socket."""
    functions = snapshot.table("pci").get("functions", {})
    chosen = kinds(snapshot, functions)
    sheet.chapter("TOPOLOGY: links are now/max, MRR is MaxReadReq in bytes")
    tree = _Tree(snapshot, functions, chosen)
    for node, titles in _places(snapshot, tree.nodes):
        for indent, title in titles:
            sheet.line(title, indent)
        tree.write(sheet, node)
    if functions:
        sheet.facts("PCI", (plural(len(functions), "function"), plural(len(gpus(functions)), "GPU"),
                            f"{len(chosen)} shown here"))
    _distances(sheet, snapshot.table("cpu"))


def kinds(snapshot: Snapshot, functions: Table) -> dict[str, str]:
    """Address -> GPU, NIC, NVMe and so on; virtual functions are counted with their physical one."""
    cards = set(gpus(functions))
    interfaces = snapshot.table("net").get("interfaces", {})
    virtual = {interface.get("device") for interface in interfaces.values() if interface.get("virtual_function")}
    virtual |= {address for address, function in functions.items() if "physical_function" in function}
    found = {}
    for address, function in functions.items():
        kind = "GPU" if address in cards else KINDS.get(function.get("class_code", "")[:4])
        if kind and address not in virtual:
            found[address] = kind
    return found


def _places(snapshot: Snapshot, nodes: Sequence[int]) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """Each NUMA node with the titles that stand above it: its socket where that is a new one, and its own."""
    cpu, memory = snapshot.table("cpu"), snapshot.table("memory").get("nodes", {})
    known = {int(name): node for name, node in cpu.get("nodes", {}).items() if name.isdecimal()}
    sockets = {name: cpus(package["cpus"]) for name, package in cpu.get("packages", {}).items()}
    seen = set()
    for number in sorted({*known, *nodes}, key=lambda n: (_socket(sockets, known.get(n)) or "~", n)):
        socket, titles = _socket(sockets, known.get(number)), []
        if socket is not None and socket not in seen:
            seen.add(socket)
            titles.append((2, f"socket {socket}: {_package(cpu, cpu['packages'][socket])}"))
        has = memory.get(str(number), {}).get("total_bytes")
        facts = (f"CPUs {known[number]['cpus'] or 'none'}" if number in known else None, size(has) if has else None)
        name = f"node {number}" if number != NOWHERE else "no NUMA node named"
        titles.append((4, ": ".join(filter(None, (name, ", ".join(filter(None, facts)))))))
        yield number, titles


def _socket(sockets: Mapping[str, frozenset[int]], node: Table | None) -> str | None:
    used = cpus(node["cpus"]) if node else frozenset()
    return next((name for name, own in sockets.items() if used and used <= own), None)


def _package(cpu: Table, package: Table) -> str:
    own = cpus(package["cpus"])
    names = {name: where for name, where in cpu.get("names", {}).items() if own & cpus(where)}
    return ", ".join(filter(None, (per_cpu(names), plural(package["cores"], "core"), plural(len(own), "CPU"))))


class _Tree:
    """The chosen functions below the ports of each node."""

    def __init__(self, snapshot: Snapshot, functions: Table, chosen: Mapping[str, str]) -> None:
        self._snapshot, self._functions, self._chosen = snapshot, functions, chosen
        self._names = Names(snapshot)
        self._long = any(not address.startswith("0000:") for address in functions)
        groups = _groups(snapshot, functions)
        self._groups = groups if len({groups.get(functions[a].get("iommu_group"), "") for a in chosen}) > 1 else {}
        self.nodes = sorted({self._node(address) for address in chosen})

    def _node(self, address: str) -> int:
        return int(self._functions[address].get("numa_node", NOWHERE))

    def short(self, address: str) -> str:
        """The address without the segment, where that is 0 in all."""
        return address if self._long else address.removeprefix("0000:")

    def write(self, sheet: Sheet, node: int) -> None:
        """One table for all that hangs below root ports directly, one for each switch."""
        below = sorted((self._functions[a].get("bridges", [])[:-1], a) for a in self._chosen if self._node(a) == node)
        for above, found in groupby(below, key=lambda pair: pair[0]):
            if above:
                sheet.line(f"switch {' > '.join(map(self._bridge, above))}", 6)
            rows = [self._row(address) for _, address in found]
            sheet.table(self._together(rows), 8 if above else 6, HEADS)

    def _bridge(self, address: str) -> str:
        link = self._functions.get(address, {}).get("express", {}).get("link", {})
        return f"{self.short(address)} {_width(link)} at {_speed(link)} GT/s" if link else self.short(address)

    def _row(self, address: str) -> Row:
        function = self._functions[address]
        express, above = function.get("express", {}), function.get("bridges", [])
        link, reads = express.get("link", {}), express.get("max_read_request_bytes")
        return (
            self.short(above[-1]) if above else "", self._chosen[address], self.short(address),
            _width(link) if link else self._lost(address), _speed(link) if link else "", str(reads or ""),
            function.get("driver", "(none)"), self._groups.get(function.get("iommu_group"), ""),
            self._names.name(address), self._names.model(address),
        )

    def _lost(self, address: str) -> str:
        return "unread" if self._snapshot.unread("pci", ("functions", address, "express")) else ""

    @staticmethod
    def _together(rows: Sequence[Row]) -> Iterator[Row]:
        """Several drives or ports that differ only in where they are, as one row with the first and the last."""
        for key, found in groupby(rows, key=lambda row: (row[1], *row[3:8], *row[9:])):
            alike = [*found]
            if len(alike) < ALIKE or key[0] == "GPU":
                yield from alike
                continue
            first, rest = alike[0], len(alike) - 1
            ports, addresses = (f"{first[n]} +{rest}" if first[n] != alike[-1][n] else first[n] for n in (0, 2))
            names = " ".join(few(numbered(row[8] or "" for row in alike), 3))
            yield ports, f"{len(alike)} {key[0]}", addresses, *first[3:8], names, *first[9:]


def _groups(snapshot: Snapshot, functions: Table) -> dict[int, str]:
    """Type of each IOMMU group: the section knows it by the group's first function."""
    types = snapshot.table("iommu").get("groups", {})
    return {functions[a]["iommu_group"]: kind for a, kind in types.items() if "iommu_group" in functions.get(a, {})}


def _width(link: Table) -> str:
    """"x16", "x8/x16" when it is narrower, "down" without a link."""
    now, most = link.get("width"), link.get("max_width")
    if now is None:
        return "down" if most is not None else ""
    return f"x{now}" if now == most else f"x{now}/x{most or '?'}"


def _speed(link: Table) -> str:
    now, most = link.get("speed_gts"), link.get("max_speed_gts")
    if now is None:
        return ""
    return f"{now:g}" if now == most else f"{now:g}/{most:g}" if most else f"{now:g}"


def _distances(sheet: Sheet, cpu: Table) -> None:
    matrix = cpu.get("distances", {"ids": [], "rows": []})
    if len(matrix["ids"]) > 1:
        far: dict[int, list[str]] = {}
        for at, (own, row) in enumerate(zip(matrix["ids"], matrix["rows"], strict=True)):
            for other, cell in zip(matrix["ids"][at + 1:], row[at + 1:], strict=True):
                far.setdefault(cell, []).append(f"{own}-{other}")
        sheet.facts("NUMA distance", (f"{cell} between {' '.join(pairs)}" for cell, pairs in sorted(far.items())), "; ")
