"""Virtual machines of this Proxmox VE node, and the PCI devices that they can be given by name."""

from typing import Annotated

from .base import EVIDENCE, Model, Origin, Private, field
from .lxc import Ignored, Option


class HostPci(Model):
    """An option hostpciN: PCI functions of the host that the machine gets."""

    host: list[str] | None = field(
        default=None, description="addresses as written, with or without domain and function; without one, all functions"
    )
    mapping: str | None = field(default=None, description="name of a resource mapping, in place of addresses")
    options: dict[str, str] | None = field(default=None, description="pcie, rombar, mdev, x-vga and the like")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class MachinePart(Model):
    """One part of a configuration: the live one, the pending one, or a snapshot."""

    options: dict[str, Option] | None = field(
        default=None, description="options by name; the last one counts; secrets, users and addresses replaced"
    )
    hostpci: dict[str, HostPci] | None = field(default=None, description="hostpci0, hostpci1, ...")
    deleted: list[str] | None = field(default=None, description="options that the pending part will delete")
    ignored: list[Ignored] | None = field(default=None, description="lines that count for nothing, in order")


class Machine(Model):
    """One virtual machine."""

    config_file: Annotated[str, EVIDENCE] = field(description="the file")
    name: Annotated[str | None, Private("guest")] = field(default=None, description="name option")
    running: bool | None = field(default=None, description="its cgroup holds processes")
    live: MachinePart = field(description="what the next start uses")
    pending: MachinePart | None = field(default=None, description="[PENDING]: what will be merged at the next start")
    snapshots: dict[str, MachinePart] | None = field(
        default=None, description="parts of snapshots by name, which the next start does not use"
    )


class MappedDevice(Model):
    """One device of a mapping, on this node."""

    paths: list[str] = field(description="PCI addresses, of which the first free one is taken; without function, all")
    id: str | None = field(default=None, description="vendor:device that is expected, or the start fails")
    subsystem_id: str | None = field(default=None, description="subsystem vendor:device that is expected")
    iommu_group: int | None = field(default=None, description="IOMMU group that is expected")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class Mapping(Model):
    """A PCI resource mapping of the cluster."""

    devices: list[MappedDevice] | None = field(default=None, description="devices on this node, in order")
    other_nodes: int | None = field(default=None, description="how many devices it has on other nodes")
    mdev: bool | None = field(default=None, description="true when its devices are split into mediated ones")


class Qemu(Model):
    """Virtual machines by id, and PCI resource mappings by name."""

    machines: dict[str, Machine] | None = field(default=None, description="by id")
    mappings: dict[str, Mapping] | None = field(default=None, description="/etc/pve/mapping/pci.cfg, by name")
    ignored: list[Ignored] | None = field(default=None, description="lines of the mappings that count for nothing, in order")
