"""LXC containers of this node: Proxmox VE's and plain LXC's."""

from typing import Annotated, Literal

from .base import EVIDENCE, VOLATILE, Model, Origin, Private, field
from .devices import Node

NO_CGROUP2 = "no cgroup2 alone is mounted here"  # why it is unread whether containers run: v1 keys count there


def unquoted(value: str) -> str:
    """A raw lxc.* value as LXC takes it: blanks (and CR) at the ends go, then one pair of quotes round all.

    Source: parse_line in src/lxc/confile.c.
    """
    text = value.lstrip(" \t").rstrip(" \t\r\n")
    return text[1:-1] if len(text) > 1 and text[0] in "'\"" and text[0] == text[-1] else text


class Option(Model):
    """A Proxmox VE option, or a raw lxc.* value."""

    value: str = field(description="value, blanks at the ends dropped, quotes kept, secrets replaced")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class RawKey(Option):
    """A raw lxc.* line that has no field of its own; an empty value makes LXC forget the lines above it."""

    key: str = field(description="the whole key, lxc.uts.name for example")


class DeviceRule(Option):
    """A line lxc.cgroup2.devices.allow or .deny (or one with a key that LXC reads as such, or as nothing)."""

    key: str = field(description="the whole key as written")


class MountEntry(Model):
    """A line lxc.mount.entry: the fields of fstab(5)."""

    source: str = field(description="what is mounted, \\040 and the like decoded")
    target: str = field(description="where, relative to the container's root when it has no leading /")
    fstype: str | None = field(
        default=None, description="none for a bind mount; missing when the line has under 3 fields"
    )
    options: list[str] = field(description="in order; without any the container does not start")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class PassedDevice(Model):
    """A Proxmox VE option devN."""

    path: str = field(description="node on the host, looked up at each start")
    mode: str | None = field(
        default=None, description='mode of the node in the container, octal; when missing, Proxmox VE takes "0660"'
    )
    uid: int | None = field(default=None, description="owner in the container")
    gid: int | None = field(default=None, description="group in the container")
    deny_write: bool | None = field(default=None, description="read only")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class IdMap(Model):
    """A line lxc.idmap."""

    kind: Literal["u", "g"] = field(description="u uids, g gids")
    container_id: int = field(description="first id within")
    host_id: int = field(description="first id on the host")
    count: int = field(description="how many")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class Ignored(Model):
    """A line that does not do what it seems to say."""

    why: str = field(description="who skips or refuses it, and for what")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class Part(Model):
    """One part of a configuration: the live one, the pending one, a snapshot, or a generated file."""

    options: dict[str, Option] | None = field(
        default=None, description="Proxmox VE options that have no field of their own, by name; the last one counts"
    )
    device_rules: list[DeviceRule] | None = field(default=None, description="device cgroup lines in order")
    mount_entries: list[MountEntry] | None = field(default=None, description="in order")
    devices: dict[str, PassedDevice] | None = field(default=None, description="dev0, dev1, ...")
    idmap: list[IdMap] | None = field(default=None, description="in order")
    features: dict[str, Option] | None = field(default=None, description="of the features option, by name")
    hooks: list[RawKey] | None = field(
        default=None, description="hookscript, lxc.hook.* and lxc.autodev lines in order"
    )
    includes: list[Option] | None = field(
        default=None, description="lxc.include lines in order; what they name is read in place (not in snapshots)"
    )
    unordered: list[Option] | None = field(
        default=None,
        description="lxc.include lines of directories of which two files set one key: LXC reads them "
        "in directory order, which is not known; here they are sorted by name",
    )
    other: list[RawKey] | None = field(default=None, description="other lxc.* lines in order")
    deleted: list[str] | None = field(default=None, description="options that the pending part will delete")
    ignored: list[Ignored] | None = field(
        default=None, description="lines that are skipped, refused or forgotten, in order"
    )


class Container(Model):
    """One container."""

    manager: Literal["pve", "lxc"] = field(description="whose configuration it is")
    config_file: Annotated[str, EVIDENCE] = field(description="the file")
    hostname: Annotated[str | None, Private("guest")] = field(
        default=None, description="hostname option, or lxc.uts.name"
    )
    privileged: bool | None = field(
        default=None,
        description="neither unprivileged: 1 nor an lxc.idmap in the live part; unknown while an include is unread",
    )
    running: bool | None = field(default=None, description="its cgroup holds processes")
    oom_kills: Annotated[int | None, VOLATILE] = field(
        default=None, description="processes that the kernel killed for want of memory since the start; while it runs"
    )
    live: Part = field(description="what the next start uses")
    pending: Part | None = field(default=None, description="[pve:pending]: what will be merged at the next start")
    snapshots: dict[str, Part] | None = field(
        default=None, description="parts of snapshots by name, which the next start does not use"
    )
    generated: Part | None = field(
        default=None,
        description="/var/lib/lxc/ID/config of a Proxmox VE container, as the last start generated it, "
        "what it includes as it is now",
    )


class Lxc(Model):
    """Every container of this node by id, and the files that its starts include."""

    containers: Annotated[dict[str, Container], Private("guest")] = field(
        description="by id (Proxmox VE) or name (plain LXC)"
    )
    includes: dict[str, Part] | None = field(
        default=None,
        description="/usr/share/lxc/config files that Proxmox VE starts include first, expanded, by path: "
        "OSTYPE.common.conf when it is there, else common.conf; then, if unprivileged, userns.conf likewise",
    )
    nodes: dict[str, Node] | None = field(
        default=None,
        description="what stands at paths below /dev that mount entries and devN name and section devices does not "
        "look at, links followed; missing when there is no such line, empty when there is nothing",
    )
