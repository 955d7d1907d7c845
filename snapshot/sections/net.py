"""Network interfaces, and what the files say that set them up. IP addresses and routes are not recorded."""

from typing import Annotated

from .base import EVIDENCE, IDENTITY, VOLATILE, Model, Origin, field


class Bridge(Model):
    """A bridge of the kernel."""

    ports: list[str] = field(description="names of its ports, sorted; those of guests are left out")
    stp: bool | None = field(default=None, description="spanning tree protocol")
    vlan_filtering: bool | None = field(default=None, description="whether it looks at VLAN tags")
    default_pvid: int | None = field(default=None, description="VLAN of untagged frames; 0 is none")
    multicast_snooping: bool | None = field(default=None, description="IGMP and MLD snooping")


class Bond(Model):
    """A bond of the kernel."""

    members: list[str] = field(description="names of its members, sorted")
    mode: str | None = field(default=None, description="802.3ad, active-backup, balance-xor, ...")
    lacp_rate: str | None = field(default=None, description="slow or fast, of 802.3ad")
    miimon_ms: int | None = field(default=None, description="how often links are looked at; 0 is never")
    up_delay_ms: int | None = field(default=None, description="wait before a link that came up is used")
    down_delay_ms: int | None = field(default=None, description="wait before a link that went down is given up")
    min_links: int | None = field(default=None, description="links that the bond needs to be up")
    hash_policy: str | None = field(default=None, description="xmit_hash_policy: layer2, layer3+4, ...")
    primary: str | None = field(default=None, description="preferred member")
    active: Annotated[str | None, VOLATILE] = field(default=None, description="member in use, of active-backup")


class Interface(Model):
    """One interface. What the kernel, its driver or an interface of this kind does not have is missing.

    How packets are polled, steered, merged and queued (from napi_threaded to offloads) is recorded of physical
    interfaces that are no SR-IOV virtual functions.
    """

    name: str = field(description="name of the interface")
    permanent_mac: Annotated[str | None, IDENTITY] = field(
        default=None, description="address in the hardware; of InfiniBand the port GUID, 8 octets; missing where there is none"
    )
    mac: str | None = field(
        default=None, description="address in use where it is neither the permanent one nor made up by the kernel at each start"
    )
    kind: str = field(description="physical, or bridge, bond, vlan, ... as the kernel says; else virtual")
    driver: str | None = field(default=None, description="driver of the device behind it")
    device: str | None = field(default=None, description="address of the PCI function behind it")
    virtual_function: bool | None = field(default=None, description="true for an SR-IOV virtual function")
    virtual_functions: int | None = field(default=None, description="SR-IOV virtual functions that are switched on")
    up: bool | None = field(default=None, description="switched on by the administrator")
    operstate: str | None = field(default=None, description="RFC 2863 state: up, down, lowerlayerdown, dormant, unknown, ...")
    speed_mbps: int | None = field(
        default=None, description="link speed in Mbit/s; missing while the link is down, or of a driver that tells none"
    )
    duplex: str | None = field(default=None, description="full or half; missing as speed_mbps is")
    mtu: int | None = field(default=None, description="largest packet in bytes")
    tx_queue_len: int | None = field(default=None, description="packets that the transmit queue may hold")
    rx_queues: int | None = field(default=None, description="receive queues")
    tx_queues: int | None = field(default=None, description="transmit queues")
    napi_threaded: bool | None = field(default=None, description="packets are polled by kernel threads")
    gro_flush_timeout_ns: int | None = field(default=None, description="how long packets are held back to be merged")
    napi_defer_hard_irqs: int | None = field(default=None, description="empty polls before the interrupt is switched on again")
    rps: dict[str, str] | None = field(
        default=None, description="receive queue -> CPUs that its packets are steered to, where any"
    )
    xps: dict[str, str] | None = field(
        default=None, description="transmit queue -> CPUs that use it, where any"
    )
    rings: dict[str, int] | None = field(default=None, description="ethtool -g: ring -> entries")
    ring_maximums: dict[str, int] | None = field(default=None, description="ethtool -g: ring -> most entries")
    channels: dict[str, int] | None = field(default=None, description="ethtool -l: kind -> channels")
    channel_maximums: dict[str, int] | None = field(default=None, description="ethtool -l: kind -> most channels")
    coalescing: dict[str, int | str] | None = field(
        default=None, description="ethtool -c: word -> number (usecs are microseconds), or on and off"
    )
    offloads: dict[str, bool] | None = field(
        default=None, description="ethtool -k: features that can be switched"
    )
    vlan_id: int | None = field(default=None, description="VLAN number of a VLAN interface")
    lower: list[str] | None = field(default=None, description="of a VLAN, MACVLAN or the like: names of what it stands on")
    master: str | None = field(default=None, description="name of the bridge or bond that it belongs to")
    mii_status: str | None = field(default=None, description="of a bond's member: up or down as the bond sees it")
    bridge: Bridge | None = field(default=None, description="of a bridge")
    bond: Bond | None = field(default=None, description="of a bond")


class Setting(Model):
    """A value in a configuration file."""

    value: str = field(description="value as written, blanks normalised; IP addresses and secrets replaced")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class Stanza(Model):
    """What configuration says of one interface, of what this section is about."""

    options: dict[str, Setting] = field(
        description="option -> value; of nested files the way to it with dots: parameters.mode, Link.MTUBytes"
    )
    auto: bool | None = field(default=None, description="ifupdown: brought up at boot or when it appears")
    hooks: list[Setting] | None = field(
        default=None, description="ifupdown: pre-up, up, post-up and down lines that tune something, in order"
    )


class UdevName(Setting):
    """A udev rule that names an interface; its value is the name."""

    match: dict[str, str] = field(description="what the device has to be: udev key -> value")


class Net(Model):
    """Interfaces as they are, and as /etc/network, netplan, systemd-networkd and udev name and set them up."""

    interfaces: dict[str, Interface] = field(
        description="by permanent MAC; by name those without, virtual ones, and those that share a MAC; lo is left out"
    )
    left_out: Annotated[dict[str, int] | None, VOLATILE] = field(
        default=None, description="interfaces of guests and containers that are not recorded: name pattern -> count"
    )
    ifupdown: dict[str, Stanza] | None = field(default=None, description="/etc/network/interfaces: by interface name")
    netplan: dict[str, Stanza] | None = field(
        default=None, description="/etc, /run and /lib/netplan: by kind and id, ethernets.eno1 for example; files merged"
    )
    networkd: dict[str, Stanza] | None = field(
        default=None, description=".link, .network and .netdev files by name, drop-ins merged; of /usr/lib only .link"
    )
    masked: dict[str, str] | None = field(default=None, description="netplan or networkd file that another hides -> that one")
    udev_names: list[UdevName] | None = field(default=None, description="rules of /etc/udev/rules.d, in reading order")
