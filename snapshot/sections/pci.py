"""PCI functions, from their configuration space.

A fact that the registers do not have (a link below no root port, controls of a virtual function) is missing; one that
could not be read or has a reserved value is missing too, and stands in the outcome's unread.
"""

from typing import Annotated, Literal

from .base import EVIDENCE, IDENTITY, VOLATILE, Model, field

PortType = Literal[
    "endpoint", "legacy endpoint", "root port", "upstream port", "downstream port", "PCIe to PCI bridge",
    "PCI to PCIe bridge", "root complex integrated endpoint", "root complex event collector", "reserved",
]


class Bar(Model):
    """A base address register."""

    size_bytes: int = field(description="size of the region")
    kind: Literal["memory", "io"] = field(description="address space")
    prefetchable: bool | None = field(default=None, description="of a memory region")


class ResizableBar(Model):
    """One entry of the Physical Resizable BAR capability (PCI Express Base, Resizable BAR Capability)."""

    size_bytes: int = field(description="current size")
    supported_bytes: list[int] | None = field(default=None, description="sizes that the function offers, sorted")


class Link(Model):
    """The link registers of a PCI Express function."""

    max_speed_gts: float | None = field(default=None, description="highest speed of this end, GT/s")
    max_width: int | None = field(default=None, description="widest link of this end, lanes")
    speed_gts: Annotated[float | None, VOLATILE] = field(
        default=None, description="speed now, GT/s; idle GPUs lower it; missing when the link is down"
    )
    width: int | None = field(default=None, description="lanes in use; missing when the link is down")
    target_speed_gts: float | None = field(
        default=None, description="Link Control 2: target speed, GT/s; missing in version 1"
    )
    autonomous_speed_disabled: bool | None = field(
        default=None, description="Link Control 2: Hardware Autonomous Speed Disable; missing in version 1"
    )
    aspm_supported: list[str] | None = field(default=None, description="of L0s and L1")
    aspm: list[str] | None = field(default=None, description="enabled ones of L0s and L1; empty is disabled")


class Express(Model):
    """The PCI Express capability. A virtual function has no controls of its own: its physical function's count."""

    type: PortType = field(description="device/port type")
    max_payload_supported_bytes: int | None = field(default=None, description="largest payload the function can take")
    max_payload_bytes: int | None = field(default=None, description="Device Control: MaxPayload")
    max_read_request_bytes: int | None = field(default=None, description="Device Control: MaxReadReq")
    relaxed_ordering: bool | None = field(default=None, description="Device Control: RlxdOrd")
    no_snoop: bool | None = field(default=None, description="Device Control: NoSnoop")
    extended_tags: bool | None = field(default=None, description="Device Control: ExtTag")
    ten_bit_tags: bool | None = field(
        default=None, description="Device Control 2: 10BitTagReq enable; missing in version 1"
    )
    link: Link | None = field(
        default=None, description="missing for root complex integrated functions and virtual functions"
    )


class Acs(Model):
    """Access Control Services, what is enabled (lspci's ACSCtl)."""

    source_validation: bool = field(description="SrcValid")
    translation_blocking: bool = field(description="TransBlk")
    request_redirect: bool = field(description="ReqRedir")
    completion_redirect: bool = field(description="CmpltRedir")
    upstream_forwarding: bool = field(description="UpstreamFwd")
    egress_control: bool = field(description="EgressCtrl")
    direct_translated: bool = field(description="DirectTrans")


class Aer(Model):
    """Totals of aer_dev_correctable, aer_dev_nonfatal and aer_dev_fatal since the function was found."""

    correctable: Annotated[int | None, VOLATILE] = field(default=None, description="TOTAL_ERR_COR")
    nonfatal: Annotated[int | None, VOLATILE] = field(default=None, description="TOTAL_ERR_NONFATAL")
    fatal: Annotated[int | None, VOLATILE] = field(default=None, description="TOTAL_ERR_FATAL")


class Function(Model):
    """One PCI function."""

    vendor: str | None = field(default=None, description="vendor id, 4 hex digits; unread from lspci text without -n")
    device: str | None = field(default=None, description="device id, 4 hex digits; unread from lspci text without -n")
    subsystem_vendor: str | None = field(default=None, description="subsystem vendor id, 4 hex digits")
    subsystem_device: str | None = field(default=None, description="subsystem id, 4 hex digits")
    class_code: str | None = field(
        default=None,
        description="base class, subclass, programming interface: 6 hex digits, 4 from text without the last",
    )
    revision: str | None = field(default=None, description="revision id, 2 hex digits")
    name: Annotated[str | None, EVIDENCE] = field(default=None, description="vendor and device name from pci.ids")
    serial: Annotated[str | None, IDENTITY] = field(
        default=None, description="Device Serial Number capability, xx-xx-..."
    )
    path: Annotated[str | None, IDENTITY] = field(
        default=None,
        description="root bus as the firmware names it, else the segment; then device.function of each bridge and the"
        " function, no bus numbers: \\_SB_.PCI0/01.1/00.0",
    )
    bridges: Annotated[list[str] | None, EVIDENCE] = field(
        default=None, description="addresses of the bridges above, from the root down"
    )
    physical_function: Annotated[str | None, EVIDENCE] = field(
        default=None, description="of an SR-IOV virtual function: address of its physical function"
    )
    slot: str | None = field(default=None, description="physical slot")
    driver: str | None = field(default=None, description="bound driver")
    numa_node: int | None = field(default=None, description="NUMA node; -1 when the firmware names none")
    iommu_group: Annotated[int | None, EVIDENCE] = field(default=None, description="IOMMU group")
    express: Express | None = field(default=None, description="PCI Express capability")
    acs: Acs | None = field(default=None, description="Access Control Services")
    bars: dict[str, Bar] | None = field(default=None, description='by BAR number "0" to "5", and "rom"')
    resizable_bars: dict[str, ResizableBar] | None = field(default=None, description='by BAR number "0" to "5"')
    aer: Aer | None = field(default=None, description="error totals")
    source: Annotated[str, EVIDENCE] = field(
        description="where the registers come from: config, lspci hex, lspci text, or sysfs, which has the ids only"
    )


class Pci(Model):
    """Every PCI function by address (domain:bus:device.function)."""

    functions: dict[str, Function] = field(description="by address")
