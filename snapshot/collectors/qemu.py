"""Virtual machines of this node, from /etc/pve/qemu-server, /etc/pve/mapping/pci.cfg and the cgroups.

qm.conf(5); ``qemu_conf`` and ``pve_mapping`` know the formats. /etc/pve/qemu-server is a link to
nodes/THIS/qemu-server, and /etc/pve/local to nodes/THIS, on the cluster file system; what its errors and an
empty /etc/pve mean stands in ``lxc``. A running machine has the cgroup qemu.slice/ID.scope.
"""

from __future__ import annotations

import re

from ..errors import AbsentError
from ..sections.qemu import Machine, Qemu
from . import pve_mapping
from .base import Reading, Reads

TOP, PVE, LOCAL, CGROUP = "/etc/pve", "/etc/pve/qemu-server", "/etc/pve/local", "/sys/fs/cgroup"
READS = Reads(
    paths=(
        "/etc", TOP, PVE, f"{PVE}/*.conf", LOCAL, pve_mapping.PATH, f"{CGROUP}/cgroup.controllers",
        f"{CGROUP}/qemu.slice/*/cgroup.events",
    ),
    root="/etc/pve is closed to others: without root no machine and no mapping is seen.",
)


def collect(reading: Reading) -> Qemu:
    """All machines. AbsentError when this is no Proxmox VE node."""
    if reading.stat(TOP, "machines") is None and not reading.unreads:
        if reading.list("/etc", "machines") and not reading.unreads:
            raise AbsentError(f"{TOP} is not there")
        reading.settle(False, TOP, "not there, nor anything beside it", "machines")
    names = reading.list(PVE, "machines")
    if not reading.unreads and reading.stat(PVE, "machines") is None:
        reading.settle(False, PVE, f"{TOP} is there without it: pve-cluster is not running", "machines")
    if reading.unreads:
        reading.unread_together(PVE, "", "machines", "mappings")
        return Qemu()
    ids = [name.removesuffix(".conf") for name in names if re.fullmatch(r"[0-9]+\.conf", name)]
    machines = {id_: machine for id_ in ids if (machine := _machine(reading, id_))}
    mappings, ignored = pve_mapping.parse(reading.config(pve_mapping.PATH, "mappings") or "", _node(reading))
    return Qemu(machines=machines, mappings=mappings or None, ignored=ignored or None)


def _node(reading: Reading) -> str:
    """This node's name as Proxmox VE knows it; else the host name, without domain."""
    local = reading.readlink(LOCAL, "mappings") or reading.host.session.hostname.split(".")[0]
    return local.rpartition("/")[2]


def _machine(reading: Reading, id_: str) -> Machine | None:
    """A machine; None when its file cannot be read (noted) or has just gone."""
    file = f"{PVE}/{id_}.conf"
    text = reading.config(file, "machines", id_)
    if text is None:
        return None
    from .qemu_conf import parse, part  # most hosts are no Proxmox VE node

    conf = parse(text, file)
    return Machine(
        config_file=file, name=conf.live.option("name"), running=_running(reading, id_), live=part(conf.live),
        pending=part(conf.pending) if conf.pending else None,
        snapshots={name: part(section) for name, section in conf.snapshots.items()} or None,
    )


def _running(reading: Reading, id_: str) -> bool | None:
    fact = ("machines", id_, "running")
    before = len(reading.unreads)
    if reading.stat(f"{CGROUP}/cgroup.controllers", *fact) is None:
        reading.settle(False, CGROUP, "no cgroup2 alone is mounted here", *fact)
        return None
    events = reading.text(f"{CGROUP}/qemu.slice/{id_}.scope/cgroup.events", *fact)
    return None if len(reading.unreads) > before else "populated 1" in (events or "").split("\n")
