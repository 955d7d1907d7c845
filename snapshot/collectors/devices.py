"""Device majors from /proc/devices, and the nodes under /dev that containers use.

See proc(5), __register_chrdev_region in fs/char_dev.c, Documentation/admin-guide/devices.rst. A line of
/proc/devices is ``%3d %s``. One number has several names (4, 195), one name several numbers (sd,
infiniband_mad), and the same number stands in both sections for different drivers. A name can hold a slash
(/dev/tty, cpu/msr) or be another's beginning (nvidia, nvidia-uvm). A driver that is listed need not have a
node, nor a node a driver.

Nodes are only looked at with lstat(2): to open one can load a module, and so add to the list.
"""

from __future__ import annotations

from typing import Literal

from ..errors import ParseError
from ..host.base import FileType, Stat
from ..regexes import regex
from ..sections.devices import Devices, Node
from .base import Reading, Reads

_LIST = "/proc/devices"
_PATTERNS = (
    "/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/nvidia-caps-imex-channels/*", "/dev/dri/*", "/dev/kfd",
    "/dev/accel/*", "/dev/vfio/*", "/dev/infiniband/*", "/dev/fuse", "/dev/net/tun",
)
_FOLDERS = {  # any other directory stands where a device should: docker makes one for a missing mount source
    "/dev/nvidia-caps", "/dev/nvidia-caps-imex-channels", "/dev/dri/by-path", "/dev/vfio/devices",
    "/dev/infiniband/by-ibdev", "/dev/infiniband/by-path",
}
READS = Reads((_LIST, *_PATTERNS))
_Kind = Literal["c", "b", "file", "directory", "other"]
_KINDS: dict[FileType, _Kind] = {"char": "c", "block": "b", "file": "file", "directory": "directory"}
_SECTIONS = {"Character devices:": "character", "Block devices:": "block"}
_LINE = regex(r" *([0-9]{1,9}) (\S.*)")
Majors = dict[str, list[int]]


def collect(reading: Reading) -> Devices:
    """The section. When the list of majors makes no sense, the nodes are recorded all the same."""
    text = reading.text(_LIST, "character")
    try:
        character, block = parse_devices(text or "")
    except ParseError as error:
        character, block = {}, {}
        reason = "not there" if text is None else str(error)
        reading.unread_together(_LIST, reason, "character", "block")
    return Devices(character=character, block=block, nodes=_nodes(reading))


def parse_devices(text: str) -> tuple[Majors, Majors]:
    """Character and block drivers, name -> majors, sorted. ParseError unless TEXT is a whole list."""
    found: dict[str, dict[str, set[int]]] = {"character": {}, "block": {}}
    section = None
    for line in filter(None, text.split("\n")):
        match = _LINE.fullmatch(line)
        if line in _SECTIONS:
            section = found[_SECTIONS[line]]
        elif match and section is not None:
            section.setdefault(match[2], set()).add(int(match[1]))
        else:
            raise ParseError(f"not a line of {_LIST}, or in no section: {line[:80]!r}")
    if not found["character"]:  # mem is always there
        raise ParseError(f"no character device in {_LIST}: {text[:80]!r}")
    character, block = ({name: sorted(names[name]) for name in sorted(names)} for names in found.values())
    return character, block


def _nodes(reading: Reading) -> dict[str, Node]:
    paths = sorted({path for pattern in _PATTERNS for path in reading.glob(pattern, "nodes")})
    stats = {path: reading.stat(path, "nodes", path, follow=False) for path in paths}
    return {path: node(s) for path, s in stats.items() if s and not _left_out(path, s)}


def _left_out(path: str, stat: Stat) -> bool:
    return stat.type == "link" or (stat.type == "directory" and path in _FOLDERS)


def node(stat: Stat) -> Node:
    """What stat(2) says of a path below /dev."""
    kind = _KINDS.get(stat.type, "other")
    major, minor = (stat.major, stat.minor) if kind in ("c", "b") else (None, None)
    return Node(type=kind, major=major, minor=minor, mode=f"{stat.mode:04o}", uid=stat.uid, gid=stat.gid)
