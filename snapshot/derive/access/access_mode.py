"""Who in an unprivileged container may open a device node by its mode and owner.

user_namespaces(7); path_resolution(7); privileged_wrt_inode_uidgid in kernel/capability.c; parse_id_maps in
src/PVE/LXC.pm of pve-container; pct.conf(5), devN.

* The container's ids are other ids on the host (lxc.idmap). An owner or group that no line maps is nobody there:
  what is left are the bits for others.
* The container's root passes the mode of a node only where both its owner and its group are mapped.
* A Proxmox VE container without lxc.idmap lines of its own gets ids 0 to 65535 from 100000 on.
* A bind mount keeps owner and mode of the host's node. The node of a devN is another one, made with the ids of the
  container, for its root unless uid or gid say otherwise.
* Access control lists (acl(5)) are not recorded; they could let somebody in whom the mode keeps out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...regexes import regex
from ...sections.base import Origin
from ...sections.devices import Node
from ...sections.lxc import Container, IdMap, Part, PassedDevice

DEFAULT_MODE = "0660"  # of devN
FIRST, COUNT = 100_000, 65_536  # of the ids that Proxmox VE maps by default
_OCTAL = regex("[0-7]{1,5}", re.ASCII)


def next_ids(container: Container) -> list[IdMap] | None:
    """The id map of the next start; None when it is not known."""
    live = container.live
    if container.manager == "lxc" or live.idmap or _malformed(live):
        return _lines(live)
    at = Origin(file=container.config_file, line=1, text="")
    return [IdMap(kind=kind, container_id=0, host_id=FIRST, count=COUNT, origin=at) for kind in ("u", "g")]


def running_ids(container: Container) -> list[IdMap] | None:
    """The id map that a running container has; None when its start left no record of it."""
    part = container.live if container.manager == "lxc" else container.generated
    return _lines(part) if part else None


def openers(node: Node, ids: Iterable[IdMap], access: str) -> list[str] | None:
    """Who may open the host's NODE with ACCESS: everyone, root, uid N, gid N, in ids of the container.

    [] is nobody; None when the mode makes no sense.
    """
    maps = list(ids)
    return _by_bits(node.mode, _inside(maps, "u", node.uid), _inside(maps, "g", node.gid), access)


def openers_of_passed(device: PassedDevice) -> list[str] | None:
    """Who may open the node that a start makes of a devN: the container's root in any case."""
    access = "r" if device.deny_write else "rw"
    return _by_bits(device.mode or DEFAULT_MODE, device.uid or 0, device.gid or 0, access)


def _by_bits(mode: str, uid: int | None, gid: int | None, access: str) -> list[str] | None:
    if not _OCTAL.fullmatch(mode):
        return None
    asked = (4 if "r" in access else 0) | (2 if "w" in access else 0)
    others, group, owner = (int(mode, 8) >> shift & asked == asked for shift in (0, 3, 6))
    may = {
        "root": uid is not None and gid is not None,
        f"uid {uid}": owner and bool(uid),  # uid 0 is root
        f"gid {gid}": group and gid is not None,
    }
    return ["everyone"] if others else [who for who, true in may.items() if true]


def _inside(maps: list[IdMap], kind: str, id_: int) -> int | None:
    """The container's id for the host's ID_; None when it is not mapped."""
    found = (m for m in maps if m.kind == kind and m.host_id <= id_ < m.host_id + m.count)
    return next((m.container_id + id_ - m.host_id for m in found), None)


def _lines(part: Part) -> list[IdMap] | None:
    return None if _malformed(part) or not part.idmap else part.idmap


def _malformed(part: Part) -> bool:
    return any(line.key == "lxc.idmap" for line in part.other or [])
