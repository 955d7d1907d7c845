"""One network interface, from /sys/class/net/NAME.

Documentation/ABI/testing/sysfs-class-net, sysfs-class-net-queues; Documentation/networking/scaling.rst, bonding.rst.
The oddities:

* speed and duplex say EINVAL while the link is down, and speed may say -1: that is no speed, not an error.
* A queue's files say ENOENT or EINVAL where the interface has one queue, or the driver no such thing.
* rps_cpus and xps_cpus are masks of 32 bits a word, highest first, with commas; all zero is off.
* address of InfiniBand has 20 octets: queue number and subnet prefix change by themselves, the last 8 are the port's.
* addr_assign_type: 0 permanent, 1 random, 2 stolen from another interface, 3 set by someone.
* uevent's DEVTYPE is bond or bridge where the folder has what those drivers put into it, bonding or bridge
  (drivers/net/bonding/bond_main.c, net/bridge/br_device.c).
"""

from __future__ import annotations

import errno
import re
from typing import Any

from ..errors import ParseError
from ..records import record
from ..regexes import regex
from ..sections.base import format_cpus
from ..sections.net import Bond, Bridge
from .attributes import Attributes, first_word, integer
from .base import Reading
from .pci_sysfs import parse_place
from .sysctl import guest_kind

NET = "/sys/class/net"
FILES = (
    "address", "addr_assign_type", "type", "flags", "operstate", "speed", "duplex", "mtu", "tx_queue_len", "uevent",
    "threaded", "gro_flush_timeout", "napi_defer_hard_irqs", "queues", "queues/*/rps_cpus", "queues/*/xps_cpus",
    "device", "device/driver", "device/physfn", "device/sriov_numvfs", "device/power/runtime_status", "master", "brif",
    "bonding_slave/mii_status", "bonding_slave/perm_hwaddr",
    *(f"bridge/{name}" for name in ("stp_state", "vlan_filtering", "default_pvid", "multicast_snooping")),
    *(f"bonding/{name}" for name in (
        "mode", "lacp_rate", "miimon", "updelay", "downdelay", "min_links", "xmit_hash_policy", "primary",
        "active_slave", "slaves",
    )),
)
PATHS = (NET, f"{NET}/*", f"{NET}/*/bridge", *(f"{NET}/*/{name}" for name in FILES))
INFINIBAND = "32"  # ARPHRD_INFINIBAND, include/uapi/linux/if_arp.h
PERMANENT, RANDOM = "0", "1"
_NO_SUCH = (errno.EINVAL, errno.EOPNOTSUPP)
_MASK = regex("[0-9a-f]{1,8}(?:,[0-9a-f]{8}){0,255}")
_FLAGS = regex("0x[0-9a-f]{1,8}")
_UP = 1  # IFF_UP
_MAC = regex("([0-9a-f]{2}(?::[0-9a-f]{2}){5})|(?:[0-9a-f]{2}:){12}([0-9a-f]{2}(?::[0-9a-f]{2}){7})")
_DEVTYPE = regex(r"^DEVTYPE=(\w+)$", re.MULTILINE)
_ASLEEP = ("suspended", "suspending", "resuming")


@record(frozen=True)
class Entry:
    """An interface's name, what lies in its folder, and its device's address on the bus, if any."""

    reading: Reading
    name: str
    parts: frozenset[str]
    physical: bool
    device: str | None

    def attributes(self, *below: str, none: tuple[int, ...] = ()) -> Attributes:
        """The interface's files, below a folder and fact of its own if given."""
        folder = "/".join((NET, self.name, *below))
        return Attributes(self.reading, folder, ("interfaces", self.name), none)

    @property
    def vanished(self) -> bool:
        """Whether the interface went away since its name was read."""
        unread = any(u.path == ("interfaces", self.name) for u in self.reading.unreads)
        return not self.parts and not unread

    @property
    def virtual_function(self) -> bool:
        """Whether an SR-IOV physical function stands behind the device."""
        link = f"{NET}/{self.name}/device/physfn"
        return self.physical and self.reading.readlink(link, "interfaces", self.name, "virtual_function") is not None


def open_entry(reading: Reading, name: str) -> Entry:
    """Looks at the folder of interface NAME."""
    path = f"{NET}/{name}"
    parts = frozenset(reading.list(path, "interfaces", name))
    unlisted = any(u.path == ("interfaces", name) for u in reading.unreads)
    physical = "device" in parts or (unlisted and reading.readlink(f"{path}/device", "interfaces", name) is not None)
    link = reading.readlink(path, "interfaces", name, "device") if physical else None
    chain = parse_place(link or "")[1]
    return Entry(reading, name, parts, physical, chain[-1] if chain else None)


def hardware_address(entry: Entry) -> tuple[str | None, str | None, bool]:
    """The permanent MAC, the one in use where it is another that stays, and whether the files settle the first."""
    own = entry.attributes()
    text = own.text("address", "mac") or ""
    if entry.physical:
        entry.reading.depends((*own.fact, "mac"), (*own.fact, "permanent_mac"))
    if own.text("type", "kind") == INFINIBAND:
        return find_mac(text), None, True
    address, assigned = find_mac(text), own.text("addr_assign_type", "mac")
    stays = address if assigned not in (PERMANENT, RANDOM, None) else None
    if not entry.physical:
        return None, address if assigned != RANDOM else None, True
    if "bonding_slave" in entry.parts:
        noted = len(entry.reading.unreads)
        permanent = find_mac(own.text("bonding_slave/perm_hwaddr", "permanent_mac") or "")
        if len(entry.reading.unreads) > noted:
            entry.reading.depends((*own.fact, "permanent_mac"), (*own.fact, "mac"))
            return None, None, False
        return permanent, address if address != permanent else None, True
    return (address if assigned == PERMANENT else None), stays, assigned in (PERMANENT, RANDOM)


def find_mac(text: str) -> str | None:
    """The MAC of six octets, or the GUID of an InfiniBand address; None for others, as tunnels show IP addresses so."""
    match = _MAC.fullmatch(text)
    found = match[1] or match[2] if match else ""
    return found if found.strip("0:") else None


def facts(entry: Entry, virtual_function: bool) -> dict[str, Any]:
    """The fields of the model that the files tell."""
    own, quiet = entry.attributes(), entry.attributes(none=_NO_SUCH)
    speed = quiet.integer("speed", "speed_mbps")
    found: dict[str, Any] = {
        "name": entry.name, "device": entry.device, "kind": _kind(entry), "virtual_function": virtual_function or None,
        "driver": own.link("device/driver", "driver") if entry.physical else None,
        "virtual_functions": own.integer("device/sriov_numvfs", "virtual_functions") if entry.physical else None,
        "up": own.parsed("flags", "up", parse_up), "operstate": own.text("operstate", "operstate"),
        "speed_mbps": speed if speed is not None and speed > 0 else None, "mtu": own.integer("mtu", "mtu"),
        "duplex": _known(quiet.text("duplex", "duplex")), "tx_queue_len": own.integer("tx_queue_len", "tx_queue_len"),
        "master": own.link("master", "master") if "master" in entry.parts else None,
        "mii_status": own.text("bonding_slave/mii_status", "mii_status") if "bonding_slave" in entry.parts else None,
        "bridge": _bridge(entry) if "bridge" in entry.parts else None,
        "bond": _bond(entry) if "bonding" in entry.parts else None,
        **_queues(entry, virtual_function), **(_polling(entry) if entry.physical and not virtual_function else {}),
    }
    lower = sorted(part.removeprefix("lower_") for part in entry.parts if part.startswith("lower_"))
    if lower and not found["bridge"] and not found["bond"]:
        found["lower"] = lower
    return found


def asleep(entry: Entry) -> bool:
    """Whether the device is suspended, so that a question to its driver would wake it."""
    return entry.attributes().text("device/power/runtime_status", "offloads") in _ASLEEP


def parse_up(text: str) -> bool:
    """IFF_UP of the interface's flags. ParseError when TEXT is no such number."""
    if not _FLAGS.fullmatch(text):
        raise ParseError(f"no flags: {text[:80]!r}")
    return bool(int(text, 16) & _UP)


def parse_mask(text: str) -> str:
    """A CPU mask as a CPU list; empty where no bit is set. ParseError when TEXT is no mask."""
    if not _MASK.fullmatch(text):
        raise ParseError(f"no CPU mask: {text[:80]!r}")
    mask = int(text.replace(",", ""), 16)
    return format_cpus(cpu for cpu in range(mask.bit_length()) if mask >> cpu & 1)


def _kind(entry: Entry) -> str:
    found = _DEVTYPE.search(entry.attributes().text("uevent", "kind") or "")
    told = "bond" if "bonding" in entry.parts else "bridge" if "bridge" in entry.parts else ""
    if told:
        entry.reading.settle(True, "", "", "interfaces", entry.name, "kind")
    return found[1] if found else told or ("physical" if entry.physical else "virtual")


def _polling(entry: Entry) -> dict[str, Any]:
    files = entry.attributes(none=_NO_SUCH)
    return {
        "napi_threaded": files.flag("threaded", "napi_threaded"),
        "gro_flush_timeout_ns": files.integer("gro_flush_timeout", "gro_flush_timeout_ns"),
        "napi_defer_hard_irqs": files.integer("napi_defer_hard_irqs", "napi_defer_hard_irqs"),
    }


def _known(duplex: str | None) -> str | None:
    return duplex if duplex != "unknown" else None


def _queues(entry: Entry, virtual_function: bool) -> dict[str, Any]:
    folder, noted = f"{NET}/{entry.name}/queues", len(entry.reading.unreads)
    names = entry.reading.list(folder, "interfaces", entry.name, "rx_queues")
    for unread in entry.reading.unreads[noted:]:  # at most one, a copy
        for fact in ("tx_queues", "rps", "xps"):
            entry.reading.unread(("interfaces", entry.name, fact), folder, unread.why)
    receive, transmit = ([name for name in names if name.startswith(start)] for start in ("rx-", "tx-"))
    found: dict[str, Any] = {"rx_queues": len(receive) or None, "tx_queues": len(transmit) or None}
    if entry.physical and not virtual_function:
        found |= {"rps": _steered(entry, "rps", receive), "xps": _steered(entry, "xps", transmit)}
    return found


def _steered(entry: Entry, fact: str, queues: list[str]) -> dict[str, str] | None:
    files = Attributes(entry.reading, f"{NET}/{entry.name}/queues", ("interfaces", entry.name, fact), _NO_SUCH)
    cpus = {queue: files.parsed(f"{queue}/{fact}_cpus", queue, parse_mask) for queue in queues}
    return {queue: found for queue, found in cpus.items() if found} or None


def _bridge(entry: Entry) -> Bridge:
    files = Attributes(entry.reading, f"{NET}/{entry.name}/bridge", ("interfaces", entry.name, "bridge"))
    ports = entry.reading.list(f"{NET}/{entry.name}/brif", *files.fact, "ports")
    return Bridge(
        ports=[port for port in ports if not is_guest(entry.reading, port)],
        stp=files.flag("stp_state", "stp"), vlan_filtering=files.flag("vlan_filtering", "vlan_filtering"),
        default_pvid=files.integer("default_pvid", "default_pvid"),
        multicast_snooping=files.flag("multicast_snooping", "multicast_snooping"),
    )


def _bond(entry: Entry) -> Bond:
    files = Attributes(entry.reading, f"{NET}/{entry.name}/bonding", ("interfaces", entry.name, "bond"))
    mode = files.parsed("mode", "mode", first_word)
    entry.reading.depends((*files.fact, "mode"), (*files.fact, "lacp_rate"))
    return Bond(
        members=sorted((files.text("slaves", "members") or "").split()), mode=mode,
        lacp_rate=files.parsed("lacp_rate", "lacp_rate", first_word) if mode == "802.3ad" else None,
        miimon_ms=files.parsed("miimon", "miimon_ms", integer), up_delay_ms=files.integer("updelay", "up_delay_ms"),
        down_delay_ms=files.integer("downdelay", "down_delay_ms"), min_links=files.integer("min_links", "min_links"),
        hash_policy=files.parsed("xmit_hash_policy", "hash_policy", first_word),
        primary=files.text("primary", "primary"), active=files.text("active_slave", "active"),
    )


def is_guest(reading: Reading, name: str) -> bool:
    """Whether NAME is what a hypervisor or container engine made for a guest, with no device behind it.

    libvirt calls the guests' ends vnet0 and so on; Proxmox VE's administrators like that name for bridges.
    """
    kind = guest_kind(name)
    if kind is None or reading.readlink(f"{NET}/{name}/device", "interfaces", name) is not None:
        return False
    return kind != "vnet*" or reading.stat(f"{NET}/{name}/bridge", "interfaces", name) is None
