"""LXC containers of this node, from /etc/pve/lxc, /var/lib/lxc, /usr/share/lxc/config and the cgroups.

pct.conf(5), lxc.container.conf(5), cgroup-v2.rst of the kernel; update_lxc_config in src/PVE/LXC.pm.

* /etc/pve/lxc is a link to nodes/THIS/lxc on the cluster file system, which holds other nodes' files as well.
  It is FUSE: an error or a hang when pve-cluster is ill, an empty /etc/pve when it is down. None of these
  means that there are no containers.
* /var/lib/lxc/ID/config is what the last start of a Proxmox VE container generated (none for a template,
  perhaps one left behind by a container that is gone), and for all others the configuration itself.
* A bind mount and devN follow symbolic links; what they name below /dev is looked at with stat(2) alone.
* lxc.lxcpath in /etc/lxc/lxc.conf names another place than /var/lib/lxc: what lies there is not read.
"""

from __future__ import annotations

import posixpath
import re

from ..errors import AbsentError
from ..records import field, record
from ..sections.devices import FOLDERS, LOOKED_AT, Node
from ..sections.lxc import Container, Lxc, Part
from . import lxc_system
from .base import FactPath, Reading, Reads
from .devices import node as node_of
from .lxc_cgroups import CGROUP, Cgroups, last
from .lxc_includes import PLACES, Includes
from .lxc_part import Draft
from .secrets import redacted

PVE, LXC, SHARE = "/etc/pve/lxc", "/var/lib/lxc", "/usr/share/lxc/config"

READS = Reads(
    paths=(
        "/etc/pve", PVE, f"{PVE}/*.conf", LXC, *(f"{place}/**" for place in PLACES), CGROUP, f"{CGROUP}/**",
        "/dev/**",
    ),
    root="/etc/pve/lxc and /var/lib/lxc are closed to others: without root no container is seen.",
)


def collect(reading: Reading) -> Lxc:
    """All containers. AbsentError when neither Proxmox VE nor LXC has a place for them."""
    node = _Node(reading, Includes(reading))
    node.look()
    containers = {i: found for i, file in (node.pve or {}).items() if (found := node.proxmox(i, file))}
    includes = node.shared(containers) if containers else {}
    for name in node.names:
        if name not in (node.pve or {}) and (found := node.plain(name)):
            containers[name] = found
    for fact in [("containers",)] if node.pve is None else [("containers", id_) for id_ in node.pve]:
        reading.depends(fact, ("includes",))
    return Lxc(containers=containers, includes=includes or None, nodes=_nodes(reading, containers))


def _nodes(reading: Reading, containers: dict[str, Container]) -> dict[str, Node] | None:
    """What stands where containers are given a device; None when section devices looks at all of it."""
    parts = [part for c in containers.values() for part in (c.live, c.pending, c.generated) if part]
    named = {entry.source.rstrip("/") for part in parts for entry in part.mount_entries or ()}
    named |= {device.path for part in parts for device in (part.devices or {}).values()}
    stats = {path: reading.stat(path, "nodes", path) for path in sorted(named) if _own(path)}
    return {path: node_of(stat) for path, stat in stats.items() if stat} if stats else None


def _own(path: str) -> bool:
    """Whether PATH is one below /dev that section devices does not look at."""
    below = path.startswith("/dev/") and posixpath.normpath(path) == path
    return below and not (LOOKED_AT.fullmatch(path) or FOLDERS.fullmatch(path))


@record()
class _Node:
    reading: Reading
    includes: Includes
    pve: dict[str, str] | None = None  # id -> file; None when it cannot be known
    proxmox_here: bool = False
    names: list[str] = field(default_factory=list)  # in /var/lib/lxc
    cgroups: Cgroups = field(init=False)

    def look(self) -> None:
        """Finds out what there is."""
        reading, before = self.reading, len(self.reading.unreads)
        self.proxmox_here = reading.stat("/etc/pve", "containers") is not None
        self.pve = self._files(before)
        here = reading.stat(LXC, "containers") is not None
        self.names = reading.list(LXC, "containers")
        noted = len(reading.unreads)
        system = lxc_system.parse(reading.config(lxc_system.FILE, "containers") or "")
        unknown = len(reading.unreads) > noted
        place = system.get("lxc.lxcpath", LXC)
        if posixpath.normpath(place) != LXC:
            reading.unread(("containers",), redacted(place), f"named by {lxc_system.FILE}, and not read")
        if not (self.proxmox_here or here) and len(reading.unreads) == before:
            raise AbsentError(f"neither {PVE} nor {LXC} is there")
        self.cgroups = Cgroups(reading, self.names, "" if unknown else system.get("lxc.cgroup.pattern"))
        self.cgroups.look()

    def _files(self, before: int) -> dict[str, str] | None:
        reading = self.reading
        names = reading.list(PVE, "containers") if self.proxmox_here else []
        if len(reading.unreads) == before and self.proxmox_here and not reading.stat(PVE, "containers"):
            reading.unread(("containers",), PVE, "/etc/pve is there without it: pve-cluster is not running")
        if len(reading.unreads) > before:
            return None
        ids = [name.removesuffix(".conf") for name in names if re.fullmatch(r"[0-9]+\.conf", name)]
        return {id_: f"{PVE}/{id_}.conf" for id_ in ids}

    def proxmox(self, id_: str, file: str) -> Container | None:
        """A Proxmox VE container; None when its file cannot be read (noted) or has just gone."""
        fact = ("containers", id_)
        text = self.reading.config(file, *fact)
        if text is None:
            return None
        from . import pve_conf  # most hosts are no Proxmox VE node

        conf = pve_conf.parse(text, file)
        privileged = not conf.live.unprivileged()
        conf.live.entries = self.includes.expand(conf.live.entries, (*fact, "live"), file)
        live = conf.live.part()
        generated = self._part(f"{LXC}/{id_}/config", (*fact, "generated"), (*fact, "generated"))
        parts = [generated, live] if generated else [live]
        return Container(
            manager="pve", config_file=file,
            hostname=conf.live.option("hostname") or last([live], "lxc.uts.name"),
            privileged=privileged, running=self.cgroups.running(id_, parts, self._whole(id_), f"lxc/{id_}"),
            oom_kills=self.cgroups.oom_kills(id_), live=live,
            pending=conf.pending.part() if conf.pending else None,
            snapshots={name: section.part() for name, section in conf.snapshots.items()} or None,
            generated=generated,
        )

    def plain(self, name: str) -> Container | None:
        """A container of plain LXC; None when there is no configuration, or Proxmox VE made it."""
        if self.pve is None and name.isdigit():
            return None  # most likely Proxmox VE's, whose files cannot be read: containers is unread
        fact, file = ("containers", name), f"{LXC}/{name}/config"
        live = self._part(file, fact, (*fact, "live"))
        if live is None or (self.proxmox_here and last([live], "lxc.cgroup.dir.container") == f"lxc/{name}"):
            return None
        mapped = bool(live.idmap) or any(line.key == "lxc.idmap" for line in live.other or ())
        hostname, whole = last([live], "lxc.uts.name"), self._whole(name)
        if not whole:
            for key in ("hostname", "privileged"):
                self.reading.unread((*fact, key), file, "what it includes is not all read")
        return Container(
            manager="lxc", config_file=file, hostname=hostname if whole else None,
            privileged=not mapped if whole else None, running=self.cgroups.running(name, [live], whole),
            oom_kills=self.cgroups.oom_kills(name), live=live, pending=None, snapshots=None, generated=None,
        )

    def shared(self, containers: dict[str, Container]) -> dict[str, Part]:
        """The files that starts of Proxmox VE containers include first, those that there are."""
        options = [c.live.options or {} for c in containers.values()]
        types = {o["ostype"].value for o in options if "ostype" in o}
        prefixes = ["", *sorted(f"{t}." for t in types if re.fullmatch(r"[a-z0-9]+", t))]
        paths = [f"{SHARE}/{prefix}{kind}.conf" for prefix in prefixes for kind in ("common", "userns")]
        facts = {path: ("includes", path) for path in paths}
        return {path: part for path, fact in facts.items() if (part := self._part(path, fact, fact))}

    def _part(self, file: str, fact: FactPath, included: FactPath) -> Part | None:
        """FILE with what it includes; None when it is not there, or (noted under FACT) cannot be read."""
        entries = self.includes.parsed(file, fact)
        if entries is None:
            return None
        return Draft().take(self.includes.expand(entries, included, file)).part()

    def _whole(self, id_: str) -> bool:
        """Whether all that the live part of a container includes was read."""
        return all(unread.path != ("containers", id_, "live") for unread in self.reading.unreads)
