"""The nodes of accelerators on the host: whether each is there and its driver's, who needs it, what makes it at boot.

Documentation/admin-guide/devices.txt; nvidia-modprobe(1). From sections devices, nvidia, lxc, runtimes, units and
modules. Expected are the nodes of a loaded NVIDIA driver: nvidiactl, those of its GPUs, and nvidia-uvm's, without which
CUDA does not start (a host that never ran CUDA may lack these and miss nothing: see NEEDED_BY and STATE_BEFORE).

runc under systemd allows a device by its link in /dev/char, which udev makes for the nodes that it manages, and nobody
for those that nvidia-modprobe makes: containers then lose their GPUs at the next ``systemctl daemon-reload``.

Row keys, by path; a key without a value is missing:
    device        the path
    driver        whose it is, by its name
    state         ok, node-missing, node-not-a-device, stale-node (its number is not the driver's), driver-not-loaded
    state_before  likewise; missing without a readable before
    type, major, minor, mode   of the node
    majors        the driver's numbers now
    number_of     of a stale node: who has its number now; missing for nobody
    linked        there is a link in /dev/char for it; missing when that is unknown, and for nodes that udev manages
    needed_by     ["lxc ID", "cdi FILE"] that are given it
and of nvidia-uvm's:
    made_by       [{how, name, file, line, text}] what makes it at boot; [] is nothing; missing when unknown
    perhaps_by    likewise, what makes it under conditions that are not known
    now, durable  commands that make it; and that make it at every boot, where nothing is known to do so for sure
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...records import record
from ...sections.devices import LOOKED_AT
from ...sections.lxc import Lxc
from ...sections.modules import Modules
from ...sections.nvidia import Nvidia
from ...sections.runtimes import Runtimes
from ...sections.units import Units
from ..facts import Derived
from .given_devices import given
from .host_devices import Host, drivers_of
from .major_mentions import cdi_nodes
from .node_makers import UVM, makers
from .remedy import node_commands

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
UNIT = "/etc/systemd/system/nvidia-uvm-nodes.service"
DURABLE = [
    f"""cat > {UNIT} <<'EOF'
[Unit]
Description=Device nodes of nvidia-uvm
After=systemd-modules-load.service
Before=pve-guests.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/bin/nvidia-modprobe -c0 -u

[Install]
WantedBy=multi-user.target
EOF""",
    "systemctl daemon-reload",
    "systemctl enable --now nvidia-uvm-nodes.service",
]


def device_nodes(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each node of an accelerator that is, was or should be there."""
    found = Derived()
    for half in ("nodes", "character"):
        if unread := after.unread("devices", (half,)):
            what = "which device nodes the host has"
            return Derived({}, [{"subject": "", "what": what, "source": unread.source, "why": unread.why}])
    table = _Table(after, Host.of(after), Host.of(before) if before else None)
    needs = table.needs()
    for path in sorted({*table.paths(), *(p for p in needs if _ours(p))}):
        if fact := after.unread("devices", ("nodes", path)):
            what = "whether the node is right"
            found.unknown.append({"subject": path, "what": what, "source": fact.source, "why": fact.why})
        else:
            found.rows[path] = table.row(path, needs.get(path, []))
    return found


@record(frozen=True)
class _Table:
    snapshot: Snapshot
    host: Host
    before: Host | None

    def paths(self) -> Iterator[str]:
        """Nodes that are or were there, and those that a loaded NVIDIA driver should have."""
        for side in filter(None, (self.host, self.before)):
            yield from (path for path in side.nodes if _ours(path))
        section = self.snapshot.section("nvidia")
        if isinstance(section, Nvidia) and section.loaded:
            yield from ("/dev/nvidiactl", *UVM)
            minors = (gpu.minor for gpu in (section.gpus or {}).values() if not gpu.excluded)
            yield from (f"/dev/nvidia{minor}" for minor in minors if minor is not None)

    def needs(self) -> dict[str, list[str]]:
        """Who is given each path."""
        found: dict[str, list[str]] = {}
        lxc, runtimes = self.snapshot.section("lxc"), self.snapshot.section("runtimes")
        for key, container in (lxc.containers if isinstance(lxc, Lxc) else {}).items():
            for path in given(container, self.host, self.before):
                found.setdefault(path, []).append(f"lxc {key}")
        for file, path, node in cdi_nodes(runtimes) if isinstance(runtimes, Runtimes) else ():
            who = found.setdefault(node.host_path or path, [])
            who += [] if f"cdi {file}" in who else [f"cdi {file}"]
        return found

    def row(self, path: str, needed_by: list[str]) -> Row:
        """The row of one path."""
        behind = self.host.behind(path)
        row: Row = {"device": path, "driver": behind.driver, "state": behind.state, "needed_by": needed_by or None}
        if self.before and not self.before.unread(path):
            row["state_before"] = self.before.behind(path).state
        if behind.device:
            row |= dict(zip(("type", "major", "minor"), behind.device, strict=True))
        row |= {"mode": behind.node.mode if behind.node else None, "linked": self._linked(path)}
        row["majors"] = self.host.numbers("c", behind.driver or "") or None
        if behind.state == "stale-node" and behind.device:
            row["number_of"] = self.host.owner(*behind.device[:2])
        if path in UVM:
            row |= self._made(path)
            row["now"] = node_commands(path, behind.driver, behind.state, self.host)
            row["durable"] = None if row.get("made_by") else DURABLE
        return {key: value for key, value in row.items() if value is not None}

    def _linked(self, path: str) -> bool | None:
        device, section = self.host.behind(path).device, self.snapshot.section("runtimes")
        known = isinstance(section, Runtimes) and section.char_links is not None
        if not (known and device and path.startswith("/dev/nvidia")):
            return None
        number = f"{device[1]}:{device[2]}"
        unread = self.snapshot.unread("runtimes", ("char_links", number))
        links = (section.char_links or {}) if isinstance(section, Runtimes) else {}
        return None if unread else number in links

    def _made(self, path: str) -> Row:
        units, modules = self.snapshot.section("units"), self.snapshot.section("modules")
        unread = any(self.snapshot.unread("units", (table,)) for table in ("units", "udev", "tmpfiles"))
        if not isinstance(units, Units) or unread:
            return {}
        found = makers(path, units, modules if isinstance(modules, Modules) else None)
        perhaps = [maker.row() for maker in found if not maker.sure]
        return {"made_by": [maker.row() for maker in found if maker.sure], "perhaps_by": perhaps or None}


def _ours(path: str) -> bool:
    """Whether section devices tells of PATH, and its name tells the driver."""
    return bool(LOOKED_AT.fullmatch(path) and drivers_of(path))
