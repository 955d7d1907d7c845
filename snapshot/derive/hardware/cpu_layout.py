"""Which CPUs are online and how they lie in NUMA nodes, against before: from section cpu.

Documentation/admin-guide/cputopology.rst; Documentation/ABI/stable/sysfs-devices-node. A node may have memory alone (a
GPU's, when its driver brings it in): such nodes are no part of the layout. A CPU that is offline is in no node, so that
nodes are compared by the CPUs that are online on both sides.

Row keys of cpus_online, in the row "cpus"; a key without a value is missing:
    online, present  how many
    online_before, present_before
    lost, gained     CPUs that were online and are not, and the reverse, as lists; missing when there are none

Row keys of numa_layout, in the row "nodes":
    nodes, nodes_before   how many have CPUs
    cpus_moved       CPUs that are in another node than before, as a list; missing when there are none
    distances_changed     the distances between nodes that have CPUs are others; missing while one side has none
    unknown          {key: {source, why}} of keys above when before could not be read
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...sections.base import Matrix, format_cpus
from ..facts import Derived
from .cpu_lists import cpus

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Row = dict[str, Any]
AGAINST = ("nodes_before", "cpus_moved", "distances_changed")


def cpus_online(after: Snapshot, before: Snapshot | None) -> Derived:
    """The row; unknown where the list of AFTER was not read."""
    if fact := after.unread("cpu", ("online",)):
        return Derived({}, [{"subject": "cpus", "what": "CPUs online", "source": fact.source, "why": fact.why}])
    now, then = _lists(after), _lists(before) if before else {}
    if "online" not in now:
        return Derived()
    row: Row = {name: len(told) for name, told in now.items()}
    row |= {f"{name}_before": len(told) for name, told in then.items()}
    if "online" in then:
        lists = {"lost": then["online"] - now["online"], "gained": now["online"] - then["online"]}
        row |= {name: format_cpus(told) for name, told in lists.items() if told}
    return Derived({"cpus": row})


def numa_layout(after: Snapshot, before: Snapshot | None) -> Derived:
    """The row; unknown where the nodes of AFTER, or the CPUs of one, were not read."""
    if fact := nodes_unread(after):
        return Derived({}, [{"subject": "nodes", "what": "NUMA nodes", "source": fact.source, "why": fact.why}])
    lost = nodes_unread(before) if before else None
    now, then = _nodes(after), _nodes(before) if before and not lost else {}
    if not now:
        return Derived()
    row: Row = {"nodes": len({*now.values()})}
    if before and then:
        row["nodes_before"] = len({*then.values()})
        if moved := [cpu for cpu, node in now.items() if then.get(cpu, node) != node]:
            row["cpus_moved"] = format_cpus(moved)
        far, was = _distances(after, {*now.values()}), _distances(before, {*then.values()})
        row |= {"distances_changed": far != was} if far and was else {}
    if lost:
        row["unknown"] = {key: {"source": lost.source, "why": lost.why} for key in AGAINST}
    return Derived({"nodes": row})


def nodes_unread(snapshot: Snapshot) -> UnreadFact | None:
    """Why the nodes, or the CPUs of one of them, are unknown."""
    return next((fact for path, fact in snapshot.gaps("cpu").items() if path[:1] in ((), ("nodes",))), None)


def _lists(snapshot: Snapshot) -> dict[str, set[int]]:
    cpu = snapshot.table("cpu")
    found = {name: cpus(cpu.get(name)) for name in ("online", "present")}
    return {name: told for name, told in found.items() if told is not None}


def _nodes(snapshot: Snapshot) -> dict[int, str]:
    """CPU -> node."""
    nodes = snapshot.table("cpu").get("nodes", {})
    return {cpu: name for name, node in nodes.items() for cpu in cpus(node["cpus"]) or ()}


def _distances(snapshot: Snapshot, nodes: set[str]) -> dict[tuple[str, str], int | str]:
    table = snapshot.table("cpu").get("distances")
    cells = Matrix.model_validate(table).cells() if table else {}
    return {pair: cell for pair, cell in cells.items() if nodes.issuperset(pair)}
