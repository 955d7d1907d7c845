"""DRM nodes of each AMD GPU: what they are called, were called, and what uses the old names: amdgpu, lxc, runtimes.

Documentation/gpu/drm-uapi.rst: minors are given out in the order in which drivers come. /dev/dri/by-path/ has links
that are named after the PCI address.

Row keys, by the key of section amdgpu's gpus; a key without a value is missing:
    old_node         /dev/dri/NAME of before, where its name is another now: the render node's, else the display node's
    new_node         what it is called now
    by_path          the link that always leads to it
    taken_by         PCI address of the GPU that has old_node now
    used_by          containers ("101") and CDI files that are given old_node, sorted
    lines            [{file, line, text}] that give it
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...pairing import pair
from ...sections.amdgpu import Gpu
from ...sections.lxc import Lxc
from ...sections.runtimes import Runtimes
from ...sections.shape import of_model
from ..facts import Derived
from ..pci.pci_tree import moves
from .given_devices import given
from .host_devices import Host
from .major_mentions import cdi_nodes

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
NODES = {"render": "render", "card": "card"}  # fact -> end of the link in by-path


def render_nodes(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each GPU of AFTER that has another name than BEFORE; none without a before."""
    now: Mapping[str, Any] = after.table("amdgpu").get("gpus", {})
    then: Mapping[str, Any] = before.table("amdgpu").get("gpus", {}) if before else {}
    rows = {}
    for key, old in pair(then, now, of_model(Gpu), moves(before, after)).before_of.items():
        changed = (fact for fact in NODES if fact in now[key] and now[key][fact] != then[old].get(fact, now[key][fact]))
        if fact := next(changed, None):
            rows[key] = _row(after, now, key, fact, then[old][fact])
    return Derived(rows)


def _row(after: Snapshot, gpus: Mapping[str, Any], key: str, fact: str, old: str) -> Row:
    gpu, node = gpus[key], f"/dev/dri/{old}"
    users = [*_users(after, node)]
    row: Row = {
        "old_node": node, "new_node": f"/dev/dri/{gpu[fact]}",
        "by_path": f"/dev/dri/by-path/pci-{gpu['address']}-{NODES[fact]}" if "address" in gpu else None,
        "taken_by": next((one.get("address") for one in gpus.values() if one.get(fact) == old), None),
        "used_by": sorted({name for name, _ in users}), "lines": [line for _, line in users],
    }
    return {name: value for name, value in row.items() if value}


def _users(after: Snapshot, node: str) -> Iterator[tuple[str, Row]]:
    """Who is given NODE by its name, and the line."""
    lxc, runtimes = after.section("lxc"), after.section("runtimes")
    host = Host.of(after)
    for name, container in (lxc.containers if isinstance(lxc, Lxc) else {}).items():
        gift = given(container, host, None).get(node)
        if gift and gift.how in ("mount", "dev"):
            yield name, gift.origin.table()
    for file, path, one in cdi_nodes(runtimes) if isinstance(runtimes, Runtimes) else ():
        if (one.host_path or path) == node:
            yield file, {"file": file}
