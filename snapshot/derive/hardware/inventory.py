"""How many GPUs, NICs, drives, DIMMs, CPUs and NUMA nodes there are, layer by layer, and how much memory.

A thing can be there on one layer and missing on the next: a GPU on the bus without a driver, a DIMM that the firmware
mapped out, a CPU that is offline. ``count`` is how many of them are usable. Virtual functions are not counted. Of
memory, the blocks that the kernel knows are the same at every boot; MemTotal is not, and stands in only without them.

Row keys, by noun (gpus, nics, nvme, dimms, cpus, numa_nodes, memory_gib); a key without a value is missing:
    noun     the row's key
    name     in words: GPUs, NVMe drives, ...
    count    how many are usable; GiB of memory, rounded down
    names    what the usable ones answer to: UUIDs, addresses, interface names, MACs, serials, slots; sorted
    before   count before; missing without a readable before
    fewer    count is less than before; missing without before
    layers   {layer: count}:
             gpus        pci, bound (any driver), listed (by their driver), answering (nvidia-smi), with_uuid, working;
                         usable are those on layer ok or bound by another driver (given to guests)
             nics        pci, bound, interfaces (physical ones), rdma; usable are PCI functions with a driver, and
                         physical interfaces without a PCI function
             nvme        pci, bound, controllers, live; usable are the live controllers on PCI
             dimms       slots, populated
             cpus        possible, present, online
             numa_nodes  with_cpus, with_memory
             memory_gib  blocks, or total where the kernel shows no blocks
    layers_before   likewise
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...document import UnreadFact
from ...records import field, record
from ..facts import Derived
from ..gpus.gpu_layers import Gpu, Layer, gpus_of, layer_of
from ..pci.pci_tree import functions_of, noun
from .cpu_layout import nodes_unread
from .cpu_lists import cpus

if TYPE_CHECKING:
    from ...document import Snapshot

Fact = tuple[str, ...]  # section and path
GIB = 1 << 30
USABLE = ("ok", "other-driver")


@record(frozen=True)
class Counted:
    """How many of a noun are usable, how many each layer shows, and what the usable ones answer to."""

    count: int
    layers: Mapping[str, int]
    names: Iterable[str | None] = field(default_factory=list)

    def row(self) -> dict[str, Any]:
        """As a row shows it."""
        row = {"count": self.count, "layers": dict(self.layers), "names": sorted({name for name in self.names if name})}
        return row if row["names"] else {"count": self.count, "layers": dict(self.layers)}


Told = Counted | UnreadFact | None  # why it is unknown; None: nothing on the host tells


def inventory(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each noun that the host can tell; what could not be read to count it is unknown."""
    found = Derived()
    for key, (name, count) in NOUNS.items():
        now, then = count(after), count(before) if before else None
        if isinstance(now, UnreadFact):
            what = f"how many {name} there are"
            found.unknown.append({"subject": key, "what": what, "source": now.source, "why": now.why})
        if not isinstance(now, Counted):
            continue
        found.rows[key] = {"noun": key, "name": name, **now.row()}
        if isinstance(then, Counted) and then.layers.keys() == now.layers.keys():
            more = {"before": then.count, "fewer": now.count < then.count, "layers_before": dict(then.layers)}
            found.rows[key] |= more
    return found


def missing(
    rows: Mapping[str, Mapping[str, Any]], expect: Mapping[str, float | list[str]]
) -> dict[str, dict[str, Any]]:
    """What of EXPECT (noun -> count or names) is not there: {noun, name, expected, count, missing, absent, layers}.

    A noun without a row is left out, since what there is of it is not known: the caller has to say so. KeyError when
    there is no such noun.
    """
    if unknown := expect.keys() - NOUNS.keys():
        raise KeyError(min(unknown))
    found = {key: _short(rows[key], wanted) for key, wanted in expect.items() if key in rows}
    return {key: row for key, row in found.items() if row}


def _short(row: Mapping[str, Any], wanted: float | list[str]) -> dict[str, Any]:
    """The row of a noun of which something is missing; empty when nothing is."""
    kept = {key: row[key] for key in ("noun", "name", "count", "layers")}
    if not isinstance(wanted, list):
        return {**kept, "expected": wanted, "missing": wanted - row["count"]} if row["count"] < wanted else {}
    absent = [name for name in wanted if name not in row.get("names", ())]
    return {**kept, "expected": len(wanted), "missing": len(absent), "absent": absent} if absent else {}


def _unread(snapshot: Snapshot, *facts: Fact) -> UnreadFact | None:
    return next((fact for section, *path in facts if (fact := snapshot.unread(section, path))), None)


def _gpus(snapshot: Snapshot) -> Told:
    if fact := _unread(snapshot, ("pci", "functions")):
        return fact
    gpus = [*gpus_of(snapshot).values()]
    words = []
    for gpu in gpus:
        layer = layer_of(snapshot, gpu)
        if not isinstance(layer, Layer):
            return layer
        words.append(layer.word)
    usable = [gpu for gpu, word in zip(gpus, words, strict=True) if word in USABLE]
    names = (name for gpu in usable for name in (gpu.uuid, gpu.address))
    return Counted(len(usable), _gpu_layers(gpus) | {"working": words.count("ok")}, names)


def _gpu_layers(gpus: list[Gpu]) -> dict[str, int]:
    return {
        "pci": sum(bool(gpu.function) for gpu in gpus), "bound": sum("driver" in gpu.function for gpu in gpus),
        "listed": sum(bool(gpu.told) for gpu in gpus),
        "answering": sum(gpu.told.get("answers", False) for gpu in gpus),
        "with_uuid": sum(bool(gpu.uuid) for gpu in gpus),
    }


def _nics(snapshot: Snapshot) -> Told:
    if fact := _unread(snapshot, ("pci", "functions"), ("net", "interfaces")):
        return fact
    functions = {a: f for a, f in functions_of(snapshot).items() if noun(f) == "NIC"}
    told = snapshot.table("net").get("interfaces", {}).values()
    physical = [i for i in told if i["kind"] == "physical" and not i.get("virtual_function")]
    bound = [address for address, function in functions.items() if "driver" in function]
    other = sum("device" not in interface for interface in physical)
    rdma = {device.get("device") for device in snapshot.table("rdma").get("devices", {}).values()}
    layers = {"pci": len(functions), "bound": len(bound), "interfaces": len(physical), "rdma": len(rdma)}
    names = (name for i in physical for name in (i["name"], i.get("permanent_mac")))
    return Counted(len(bound) + other, layers, (*bound, *names))


def _nvme(snapshot: Snapshot) -> Told:
    if fact := _unread(snapshot, ("pci", "functions"), ("storage", "controllers")):
        return fact
    functions = [f for f in functions_of(snapshot).values() if noun(f) == "NVMe drive"]
    told = snapshot.table("storage").get("controllers", {}).values()
    local = [controller for controller in told if controller.get("transport", "pcie") == "pcie"]
    live = [controller for controller in local if controller.get("state", "live") == "live"]
    bound = sum("driver" in function for function in functions)
    layers = {"pci": len(functions), "bound": bound, "controllers": len(local), "live": len(live)}
    return Counted(len(live), layers, (one.get(key) for one in live for key in ("serial", "device", "name")))


def _dimms(snapshot: Snapshot) -> Told:
    firmware = snapshot.table("firmware")
    if "dimms" not in firmware:
        return _unread(snapshot, ("firmware", "dimms"))
    dimms = firmware["dimms"]
    layers = {"slots": firmware.get("dimm_slots", len(dimms)), "populated": len(dimms)}
    return Counted(len(dimms), layers, (*dimms, *(dimm.get("serial") for dimm in dimms.values())))


def _cpus(snapshot: Snapshot) -> Told:
    cpu = snapshot.table("cpu")
    if "online" not in cpu:
        return _unread(snapshot, ("cpu", "online"))
    found = {kind: cpus(cpu.get(kind)) for kind in ("possible", "present", "online")}
    layers = {kind: len(told) for kind, told in found.items() if told is not None}
    if "online" not in layers:
        return UnreadFact(path=["online"], source=snapshot.name, why=f"no CPU list: {cpu['online']!r:.80}")
    return Counted(layers["online"], layers)


def _nodes(snapshot: Snapshot) -> Told:
    nodes = snapshot.table("cpu").get("nodes", {})
    if (fact := nodes_unread(snapshot)) or not nodes:
        return fact
    with_memory = sum(node.get("memory", False) for node in nodes.values())
    layers = {"with_cpus": sum(bool(node["cpus"]) for node in nodes.values()), "with_memory": with_memory}
    return Counted(len(nodes), layers)


def _memory(snapshot: Snapshot) -> Told:
    """GiB. MemTotal moves a little from boot to boot: the layer's name keeps it from being compared with blocks."""
    memory = snapshot.table("memory")
    for layer, key in (("blocks", "blocks_bytes"), ("total", "total_bytes")):
        if key in memory:
            return Counted(memory[key] // GIB, {layer: memory[key] // GIB})
    return _unread(snapshot, ("memory", "total_bytes"))


NOUNS: dict[str, tuple[str, Callable[[Snapshot], Told]]] = {
    "gpus": ("GPUs", _gpus), "nics": ("NICs", _nics), "nvme": ("NVMe drives", _nvme), "dimms": ("DIMMs", _dimms),
    "cpus": ("CPUs", _cpus), "numa_nodes": ("NUMA nodes", _nodes), "memory_gib": ("GiB of memory", _memory),
}
