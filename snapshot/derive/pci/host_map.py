"""Where each GPU, NIC and NVMe drive sits: ports, switch, NUMA node, CPUs, IOMMU group, from pci, cpu, iommu.

Documentation/ABI/testing/sysfs-bus-pci, sysfs-kernel-iommu_groups; PCI Express Base, "Access Control Services".
A switch is an upstream port with downstream ports below it: two GPUs with one above them reach each other without
going through the root complex, unless a port on the way redirects their requests or completions to it. Virtual
functions have no row.

Row keys, by PCI address; a key without a value is missing:
    address, vendor, device, name, driver
    noun             GPU, NIC or NVMe drive
    uuid             of a GPU, as its driver tells it
    names            what the kernel calls it: interfaces, RDMA devices, NVMe controllers
    bridges          addresses of the ports and bridges above, from the root down; empty for one on a root bus
    host_bridge      the root bus, as the kernel names its host bridge: pci0000:20
    firmware_name    what the firmware calls that root: \\_SB_.S0D1
    root_port        address of the root port
    switches         upstream ports of the switches above, from the root down
    switch           the nearest one
    peers            GPUs, NICs and NVMe drives below that switch, itself left out
    numa_node        -1: the firmware names none
    numa_nodes       how many nodes of the host have CPUs
    local_cpus       CPUs of its node
    iommu_group, iommu_type (identity, DMA, DMA-FQ)   missing where no IOMMU is in use
    iommu_members    the other functions of its group
    acs_redirect     bridges above that redirect requests or completions to the root; empty: none does
    acs_redirect_in_switch   those of them that are downstream ports of a switch
    path_width       lanes of the narrowest link on the way; missing where one of them is down
    path_width_at    the key in table links of that link
    full_width       lanes that the function itself can
    path_max_speed_gts, path_max_speed_at   likewise: the slowest of the speeds that the links can
    address_before   address before, by the diff's pairing
    before           {numa_node, root_port, switch, ...: COMPARED} of the same function before
    unknown          {key: {source, why}} of keys above that could not be told
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...records import field, record
from ..facts import Derived
from .links import link_rows
from .pci_tree import Table, below_ports, functions_of, link, moved, noun, port_type

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Row = dict[str, Any]
SECTIONS = ("pci", "nvidia", "net", "rdma", "storage", "iommu", "cpu")  # all that the rows are made of
COMPARED = (
    "numa_node", "local_cpus", "root_port", "switch", "iommu_type", "acs_redirect", "path_width", "path_max_speed_gts",
)


def host_map(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each device of AFTER; unknown as a whole where the PCI functions could not be read."""
    if fact := after.unread("pci", ("functions",)):
        gap = {"subject": "", "what": "where devices sit", "source": fact.source, "why": fact.why}
        return Derived({}, [gap])
    rows = dict(_rows(after))
    then = _rows(after if before.alike(after, SECTIONS) else before) if before else {}
    for address, old in moved(before, after).items():
        if address in rows and old in then:
            was = {key: then[old][key] for key in COMPARED if key in then[old]}
            rows[address] = rows[address] | {"address_before": old, "before": was}
    return Derived(rows)


@lru_cache(maxsize=2)
def _rows(snapshot: Snapshot) -> Mapping[str, Row]:
    """The rows of one snapshot, nothing compared."""
    return _Host(snapshot).rows()


def named(snapshot: Snapshot) -> dict[str, list[str]]:
    """PCI address -> names of interfaces, RDMA devices and NVMe controllers on it, sorted."""
    tables = (("net", "interfaces"), ("rdma", "devices"), ("storage", "controllers"))
    found: dict[str, list[str]] = {}
    for section, key in tables:
        for item in snapshot.table(section).get(key, {}).values():
            if "device" in item:
                found.setdefault(item["device"], []).append(item["name"])
    return {address: sorted(set(names)) for address, names in found.items()}


@record()
class _Host:
    """One snapshot, with what rows need of it by address."""

    snapshot: Snapshot
    functions: Mapping[str, Table] = field(init=False)
    devices: dict[str, str] = field(init=False)  # address -> noun
    below: dict[str, list[str]] = field(init=False)
    links: dict[str, Row] = field(init=False)  # by port
    groups: dict[str, list[str]] = field(init=False)  # address -> all functions of its group, the first one first
    types: dict[str, str] = field(init=False)  # first function of a group -> type
    nodes: dict[str, Row] = field(init=False)

    def __post_init__(self) -> None:
        self.functions = functions_of(self.snapshot)
        self.devices = {a: what for a, f in self.functions.items() if (what := noun(f))}
        self.below = below_ports(self.functions, self.devices)
        self.links = {row["port"]: row for row in link_rows(self.snapshot).rows.values()}
        iommu = self.snapshot.table("iommu")
        self.types = iommu.get("groups", {})
        groups = [[first, *iommu.get("shared", {}).get(first, ())] for first in self.types]
        self.groups = {member: members for members in groups for member in members}
        self.nodes = self.snapshot.table("cpu").get("nodes", {})

    def rows(self) -> dict[str, Row]:
        """The rows by address, nothing compared."""
        nvidia = self.snapshot.table("nvidia").get("gpus", {}).values()
        uuids = {gpu["address"]: gpu["uuid"] for gpu in nvidia if "uuid" in gpu and "address" in gpu}
        names = named(self.snapshot)
        rows = {a: {"noun": what, "uuid": uuids.get(a), "names": names.get(a)} for a, what in self.devices.items()}
        return {address: self._row(address, row) for address, row in rows.items()}

    def _row(self, address: str, start: Row) -> Row:
        function, unknown = self.functions[address], _Unknown(self.snapshot, address)
        kept = ("vendor", "device", "name", "driver", "numa_node", "iommu_group")
        row = {"address": address, **start, **{key: function.get(key) for key in kept}}
        for key in ("driver", "numa_node", "iommu_group"):
            unknown.without(key, row[key])
        row |= self._place(address, unknown) | self._node(row["numa_node"], unknown) | self._group(address, unknown)
        row |= self._path(address, unknown)
        row["unknown"] = unknown.found or None
        return {key: value for key, value in row.items() if value is not None}

    def _place(self, address: str, unknown: _Unknown) -> Row:
        bridges = self.functions[address].get("bridges")
        if bridges is None:
            unknown.without("bridges", None)
            return {}
        types = {bridge: port_type(self.functions, bridge) for bridge in bridges}
        switches = [bridge for bridge in bridges if types[bridge] == "upstream port"]
        for bridge in (bridge for bridge in bridges if types[bridge] is None):
            unknown.of_bridge("switches", bridge, "express")
            unknown.of_bridge("root_port", bridge, "express")
        top = (bridges or [address])[0]
        firmware = self.functions[address].get("path", "").split("/")[0]
        peers = [a for a in self.below.get(switches[-1], ()) if a != address] if switches else None
        return {
            "bridges": bridges, "host_bridge": f"pci{top.rpartition(':')[0]}", "firmware_name": firmware or None,
            "root_port": top if bridges and types[top] == "root port" else None, "switches": switches or None,
            "switch": switches[-1] if switches else None, "peers": peers, **self._redirects(bridges, types, unknown),
        }

    def _redirects(self, bridges: Iterable[str], types: Mapping[str, str | None], unknown: _Unknown) -> Row:
        acs = {bridge: self.functions.get(bridge, {}).get("acs", {}) for bridge in bridges}
        if any(not acs[bridge] and unknown.of_bridge("acs_redirect", bridge, "acs") for bridge in acs):
            return {}
        found = [b for b, told in acs.items() if told.get("request_redirect") or told.get("completion_redirect")]
        return {
            "acs_redirect": found,
            "acs_redirect_in_switch": [bridge for bridge in found if types[bridge] == "downstream port"],
        }

    def _node(self, node: int | None, unknown: _Unknown) -> Row:
        if not self.nodes and (fact := self.snapshot.unread("cpu", ("nodes",))):
            unknown.note("numa_nodes", fact)
            return {}
        here = self.nodes.get(str(node), {}).get("cpus")
        return {"numa_nodes": sum(bool(told["cpus"]) for told in self.nodes.values()) or None, "local_cpus": here}

    def _group(self, address: str, unknown: _Unknown) -> Row:
        members = self.groups.get(address)
        if members is None:
            if fact := self.snapshot.unread("iommu", ("groups", address)):
                unknown.note("iommu_type", fact)
            return {}
        others = [member for member in members if member != address]
        return {"iommu_type": self.types[members[0]], "iommu_members": others or None}

    def _path(self, address: str, unknown: _Unknown) -> Row:
        """The narrowest and the slowest link above the function; both unknown when one of them is."""
        function = self.functions[address]
        full = link(function).get("max_width")
        ports = [b for b in function.get("bridges", ()) if port_type(self.functions, b) != "upstream port"]
        rows = [self.links[port] for port in ports if port in self.links]
        for bridge in (*ports, address) if len(rows) < len(ports) else ():
            unknown.of_bridge("path_width", bridge, "express")
        if not rows or "path_width" in unknown.found or "switches" in unknown.found:
            return {"full_width": full}
        return {"full_width": full, **_least(rows, "width", "path_width"),
                **_least(rows, "possible_speed_gts", "path_max_speed")}


def _least(rows: list[Row], key: str, name: str) -> Row:
    """The smallest value of KEY and the link that has it; nothing where one of the links has no value."""
    if any(key not in row for row in rows):
        return {}
    row = min(rows, key=lambda row: float(row[key]))
    return {name if name.endswith("width") else f"{name}_gts": row[key], f"{name}_at": row["address"]}


@record()
class _Unknown:
    """What of a row is unknown, by its key."""

    snapshot: Snapshot
    address: str
    found: dict[str, dict[str, str]] = field(default_factory=dict)

    def note(self, key: str, fact: UnreadFact) -> None:
        """KEY is unknown for FACT."""
        self.found.setdefault(key, {"source": fact.source, "why": fact.why})

    def without(self, key: str, value: object) -> None:
        """KEY has no VALUE: the function has none, or it is unknown."""
        if value is None:
            self.of_bridge(key, self.address, key)

    def of_bridge(self, key: str, address: str, *path: str) -> bool:
        """Whether KEY is unknown because PATH of the function at ADDRESS is."""
        fact = self.snapshot.unread("pci", ("functions", address, *path))
        if fact:
            self.note(key, fact)
        return fact is not None
