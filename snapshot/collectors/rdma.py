"""RDMA devices, from /sys/class/infiniband.

Documentation/ABI/stable/sysfs-class-infiniband; for names rdma-core's 60-rdma-persistent-naming.rules. state and
phys_state are "4: ACTIVE", rate is "400 Gb/sec (4X NDR)", node_type "1: CA". The interface of a RoCE port is that of
its first GID, which says EINVAL while it has none. node_desc holds the host's name and is left out, counters are too.

/etc/nccl.conf (NCCL's user guide, "Environment Variables"; setEnvFile in its src/misc/param.cc) is NAME=VALUE with
nothing around the =, # in the first column begins a comment, and the first line of a name counts.
"""

from __future__ import annotations

import errno

from ..errors import AbsentError, ParseError
from ..regexes import regex
from ..sections.base import Origin
from ..sections.rdma import Device, HcaChoice, Naming, Port, Rdma
from .attributes import Attributes
from .base import Reading, Reads
from .identity import keys_of, move_unread
from .pci_sysfs import parse_place
from .secrets import redacted

CLASS = "/sys/class/infiniband"
RULES = "60-rdma-persistent-naming.rules"
RULE_FILES = tuple(f"{folder}/udev/rules.d/{RULES}" for folder in ("/etc", "/run", "/usr/local/lib", "/usr/lib"))
NCCL_CONF = "/etc/nccl.conf"
_FILES = ("node_guid", "sys_image_guid", "node_type", "fw_ver", "board_id", "hca_type")
_PORT_FILES = ("state", "phys_state", "rate", "link_layer", "gid_attrs/ndevs/0")
READS = Reads(
    paths=(
        "/sys/class", CLASS, f"{CLASS}/*", *RULE_FILES, NCCL_CONF, f"{CLASS}/*/device/driver", f"{CLASS}/*/ports",
        *(f"{CLASS}/*/{name}" for name in _FILES), *(f"{CLASS}/*/ports/*/{name}" for name in _PORT_FILES),
    ),
)
_STATE = regex(r"\d+: ?(\S.*)")
_RATE = regex(r"(\d{1,6}(?:\.\d)?) Gb/sec(?: \(([^)]*)\))?")
_GUID = regex("[0-9a-f]{4}(?::[0-9a-f]{4}){3}")
_RENAME = regex(r"rdma_rename\s+\S+\s+(NAME_\w+)")
_NO_SUCH = (errno.EINVAL, errno.EOPNOTSUPP)


def collect(reading: Reading) -> Rdma:
    """The section. AbsentError when the kernel has no RDMA subsystem, or no device in it."""
    names = reading.list(CLASS, "devices")
    if not names:
        _nothing(reading)
    devices = {name: _device(reading, name) for name in names}
    keys = keys_of({name: (_unique(device.node_guid),) for name, device in devices.items()})
    move_unread(reading, "devices", keys)
    return Rdma(
        devices={keys[name]: device for name, device in devices.items()}, naming=_naming(reading),
        nccl_hca=parse_nccl(reading.config(NCCL_CONF, "nccl_hca") or "", NCCL_CONF),
    )


def _unique(guid: str | None) -> str | None:
    """GUID, unless the driver left it all zero."""
    return guid if guid and guid.strip("0:") else None


def _nothing(reading: Reading) -> None:
    if reading.unreads:
        return
    if reading.stat(CLASS, "devices"):
        raise AbsentError(f"{CLASS} is empty")
    if reading.list("/sys/class", "devices"):
        raise AbsentError(f"/sys/class has no infiniband, {CLASS} is not there")
    reading.unread(("devices",), CLASS, "ENOENT")


def _device(reading: Reading, name: str) -> Device:
    folder, fact = f"{CLASS}/{name}", ("devices", name)
    files = Attributes(reading, folder, fact, _NO_SUCH)
    chain = parse_place(reading.readlink(folder, *fact, "device") or "")[1]
    ports = reading.list(f"{folder}/ports", *fact, "ports")
    return Device(
        name=name, node_guid=files.parsed("node_guid", "node_guid", parse_guid),
        system_guid=files.parsed("sys_image_guid", "system_guid", parse_guid),
        type=files.parsed("node_type", "type", parse_state), driver=files.link("device/driver", "driver"),
        device=chain[-1] if chain else None, firmware=files.text("fw_ver", "firmware"),
        board=files.text("board_id", "board"), hca_type=files.text("hca_type", "hca_type"),
        ports={port: _port(reading, name, port) for port in ports} or None,
    )


def _port(reading: Reading, name: str, port: str) -> Port:
    fact = ("devices", name, "ports", port)
    files = Attributes(reading, f"{CLASS}/{name}/ports/{port}", fact, _NO_SUCH)
    return Port(
        state=files.parsed("state", "state", parse_state),
        phys_state=files.parsed("phys_state", "phys_state", parse_state),
        rate_gbps=files.parsed("rate", "rate_gbps", lambda text: parse_rate(text)[0]),
        rate=files.parsed("rate", "rate", lambda text: parse_rate(text)[1]),
        link_layer=files.text("link_layer", "link_layer"), interface=files.text("gid_attrs/ndevs/0", "interface"),
    )


def parse_state(text: str) -> str:
    """The word of "4: ACTIVE". ParseError when TEXT has another form."""
    match = _STATE.fullmatch(text)
    if not match:
        raise ParseError(f"no number and word: {text[:80]!r}")
    return match[1]


def parse_rate(text: str) -> tuple[float, str | None]:
    """Gbit/s, and what stands in brackets, of "400 Gb/sec (4X NDR)". ParseError when TEXT has another form."""
    match = _RATE.fullmatch(text)
    if not match:
        raise ParseError(f"no rate: {text[:80]!r}")
    return float(match[1]), match[2]


def parse_guid(text: str) -> str:
    """A GUID of four groups. ParseError when TEXT is none."""
    if not _GUID.fullmatch(text):
        raise ParseError(f"no GUID: {text[:80]!r}")
    return text


def parse_naming(text: str, file: str) -> Naming | None:
    """The last naming rule of FILE; None when it has none. Any text is such a file."""
    found = None
    for number, line in enumerate(text.splitlines(), 1):
        match = _RENAME.search(line)
        if match and not line.lstrip().startswith("#"):
            found = Naming(policy=match[1], origin=Origin(file=file, line=number, text=line))
    return found


def parse_nccl(text: str, file: str) -> HcaChoice | None:
    """NCCL_IB_HCA of FILE; None when it says none. Any text is such a file."""
    for number, line in enumerate(text.split("\n"), 1):
        name, equals, value = line.partition("=")
        if equals and name == "NCCL_IB_HCA":
            return HcaChoice(value=redacted(value), origin=Origin(file=file, line=number, text=redacted(line)))
    return None


def _naming(reading: Reading) -> Naming | None:
    """Of the files with one name the first counts, even when it leads to /dev/null."""
    for path in RULE_FILES:
        stat = reading.stat(path, "naming")
        if stat is not None:
            return parse_naming(reading.config(path, "naming") or "", path) if stat.type == "file" else None
    return None
