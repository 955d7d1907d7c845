"""What the host has behind a path under /dev: node, driver and numbers, from sections devices and lxc.

Documentation/admin-guide/devices.txt says which numbers are static and which dynamic. The node and
/proc/devices are two witnesses that may disagree: a node outlives its driver, and a driver that is loaded
again may come back under another number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from ...records import field, record
from ...sections.devices import FOLDERS, LOOKED_AT, Devices, Node
from ...sections.lxc import Lxc
from .driver_majors import Majors, majors, owners
from .lxc_rules import Device

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

# path -> the names under which its driver registers, of character devices. The one for all of 195 was nvidia up to
# driver 340, then nvidia-frontend; since then each kind of node has its own
DRIVERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"/dev/nvidia\d+", ("nvidia", "nvidia-frontend")),
    (r"/dev/nvidiactl", ("nvidiactl", "nvidia", "nvidia-frontend")),
    (r"/dev/nvidia-modeset", ("nvidia-modeset", "nvidia-frontend")),
    (r"/dev/nvidia-uvm(-tools)?", ("nvidia-uvm",)),
    (r"/dev/nvidia-nvlink", ("nvidia-nvlink",)),
    (r"/dev/nvidia-nvswitch(\d+|ctl)", ("nvidia-nvswitch",)),
    (r"/dev/nvidia-caps(/.+)?", ("nvidia-caps",)),
    (r"/dev/nvidia-caps-imex-channels(/.+)?", ("nvidia-caps-imex-channels",)),
    (r"/dev/dri(/[^/]+)?", ("drm",)),
    (r"/dev/kfd", ("kfd",)),
)
State = Literal["ok", "node-missing", "node-not-a-device", "driver-not-loaded", "stale-node"]
# file systems that hold no device of the host
NO_DEVICES = ("/dev/shm", "/dev/mqueue", "/dev/hugepages", "/dev/pts")  # noqa: S108


def dynamic(major: int, kind: str = "c") -> bool:
    """Whether the kernel gives this number to whoever asks first, counting down; KIND is c or b."""
    return 234 <= major <= 254 or (kind == "c" and 384 <= major <= 511)


@record(frozen=True)
class Behind:
    """What stands behind a path: the node, the driver it belongs to, and whether both are in order."""

    state: State
    driver: str | None = None
    node: Node | None = None

    @property
    def device(self) -> Device | None:
        """Type, major and minor of the node, when it is one."""
        n = self.node
        if n is None or n.major is None or n.minor is None or n.type not in ("b", "c"):
            return None
        return ("b" if n.type == "b" else "c"), n.major, n.minor


@record(frozen=True)
class Host:
    """The devices of one snapshot; ALL_LOOKED_AT: of those that containers are given none was left out."""

    snapshot: Snapshot
    drivers: Majors
    nodes: dict[str, Node] = field(default_factory=dict)
    all_looked_at: bool = False
    known: dict[str, Behind] = field(default_factory=dict)

    @classmethod
    def of(cls, snapshot: Snapshot) -> Host:
        """The devices of SNAPSHOT, as far as they are readable."""
        devices, lxc = snapshot.section("devices"), snapshot.section("lxc")
        nodes = (devices.nodes if isinstance(devices, Devices) else None) or {}
        given = lxc.nodes if isinstance(lxc, Lxc) else None
        return cls(snapshot, majors(snapshot), {**(given or {}), **nodes}, given is not None)

    def looked_at(self, path: str) -> bool:
        """Whether a device at PATH, which a container is given, or below it would be known; not that of a directory."""
        node = self.nodes.get(path)
        below = FOLDERS.fullmatch(path) or (node is not None and node.type == "directory")
        return LOOKED_AT.fullmatch(path) is not None or (self.all_looked_at and not below)

    def unread(self, path: str) -> UnreadFact | None:
        """Why nothing can be said of PATH: its node or the drivers were not readable."""
        for fact in (("nodes", path), ("character",), ("block",)):
            if unread := self.snapshot.unread("devices", fact):
                return unread
        return None if LOOKED_AT.fullmatch(path) else self.snapshot.unread("lxc", ("nodes", path))

    def below(self, directory: str) -> Iterator[str]:
        """The device nodes in and under DIRECTORY, sorted."""
        top = directory.rstrip("/") + "/"
        return (p for p, n in sorted(self.nodes.items()) if p.startswith(top) and n.type in ("c", "b"))

    def owner(self, kind: str, major: int) -> str | None:
        """Who has MAJOR, several joined by a comma; None for nobody (or unread)."""
        return ", ".join(owners(self.drivers.get(kind, {}), major)) or None

    def behind(self, path: str) -> Behind:
        """The node at PATH and the driver it belongs to."""
        if path not in self.known:
            self.known[path] = _behind(path, self)
        return self.known[path]

    def numbers(self, kind: str, driver: str) -> list[int]:
        """The numbers of DRIVER, none when it is not registered."""
        return self.drivers.get(kind, {}).get(driver, [])


def drivers_of(path: str) -> tuple[str, ...]:
    """The names under which the driver of PATH may be registered; none where the path does not tell."""
    return next((names for pattern, names in DRIVERS if re.fullmatch(pattern, path)), ())


def _behind(path: str, host: Host) -> Behind:
    node = host.nodes.get(path)
    names = drivers_of(path)
    there = [n for n in names if host.numbers("c", n)]
    if names and not there:
        return Behind("driver-not-loaded", names[0], node)
    driver = there[0] if there else None
    if node is None:
        return Behind("node-missing", driver)
    if node.major is None or node.type not in ("b", "c"):
        return Behind("node-not-a-device", driver, node)
    if not names:
        owner = host.owner(node.type, node.major)
        return Behind("ok" if owner else "driver-not-loaded", owner, node)
    driver = next((n for n in there if node.type == "c" and node.major in host.numbers("c", n)), None)
    return Behind("ok", driver, node) if driver else Behind("stale-node", there[0], node)
