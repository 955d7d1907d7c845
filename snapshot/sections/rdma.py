"""RDMA devices: InfiniBand, RoCE and iWARP adapters."""

from typing import Annotated

from .base import EVIDENCE, IDENTITY, Model, Origin, field


class Port(Model):
    """One port of a device."""

    state: str | None = field(default=None, description="logical state: DOWN, INIT, ARMED, ACTIVE or ACTIVE_DEFER")
    phys_state: str | None = field(default=None, description="physical state: LinkUp, Polling, Disabled, ...")
    rate_gbps: float | None = field(default=None, description="speed in Gbit/s; of a port that is down it is not of the link")
    rate: str | None = field(default=None, description="lanes and signalling: 4X NDR")
    link_layer: str | None = field(default=None, description="InfiniBand or Ethernet")
    interface: str | None = field(default=None, description="name of the network interface of a RoCE port")


class Device(Model):
    """One RDMA device."""

    name: str = field(description="name of the device, as NCCL_IB_HCA has it")
    node_guid: Annotated[str | None, IDENTITY] = field(default=None, description="GUID of the device")
    system_guid: str | None = field(default=None, description="sys_image_guid: GUID of the adapter, its functions share it")
    type: str | None = field(default=None, description="CA, RNIC, USNIC, ...")
    driver: str | None = field(default=None, description="driver of the device behind it")
    device: str | None = field(default=None, description="address of the PCI function behind it")
    firmware: str | None = field(default=None, description="firmware version")
    board: str | None = field(default=None, description="board id")
    hca_type: str | None = field(default=None, description="model as the driver says")
    ports: dict[str, Port] | None = field(default=None, description="by number")


class Naming(Model):
    """How udev names RDMA devices: the word behind rdma_rename in the rule that counts."""

    policy: str = field(description="NAME_FALLBACK, NAME_KERNEL, NAME_PCI, NAME_GUID, NAME_FIXED ...")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class HcaChoice(Model):
    """NCCL_IB_HCA of /etc/nccl.conf: the devices that NCCL uses. What a process has in its environment comes before it."""

    value: str = field(
        description="names, or beginnings of names, with commas; = before them: whole names; ^: all but these; :N: a port"
    )
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class Rdma(Model):
    """RDMA devices of the kernel."""

    devices: dict[str, Device] = field(description="by node GUID; by name where two share one or it is zero")
    naming: Naming | None = field(default=None, description="udev's naming rule; missing when there is none")
    nccl_hca: HcaChoice | None = field(default=None, description="which devices NCCL uses on this host; missing when no file says")
