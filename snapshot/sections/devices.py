"""Device majors and the device nodes that containers use."""

from typing import Literal

from ..regexes import regex
from .base import Model, field

# paths of nodes that the section holds if they are there, and of the directories that hold them
LOOKED_AT = regex(
    r"/dev/((?!nvidia-caps)nvidia[^/]*|(nvidia-caps[^/]*|dri|vfio|infiniband|accel)/[^/]+|kfd|fuse|net/tun)"
)
FOLDERS = regex(r"/dev/(nvidia-caps[^/]*|dri|vfio|infiniband|accel|net)")


class Node(Model):
    """One entry under /dev."""

    type: Literal["c", "b", "file", "directory", "other"] = field(
        description="c character device, b block device, or what stands where a device should be"
    )
    major: int | None = field(default=None, description="major number of a device")
    minor: int | None = field(default=None, description="minor number of a device")
    mode: str = field(description='permission bits in octal, "0666"')
    uid: int = field(description="owner")
    gid: int = field(description="group")


class Devices(Model):
    """/proc/devices, and stat of the nodes of accelerators, DRI, VFIO, InfiniBand, FUSE and TUN."""

    character: dict[str, list[int]] = field(description="driver name -> its majors, of character devices")
    block: dict[str, list[int]] = field(description="driver name -> its majors, of block devices")
    nodes: dict[str, Node] | None = field(default=None, description="by path; symbolic links are left out")
