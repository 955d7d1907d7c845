"""The names that the fields of a snapshot are marked to hold, with their pseudonyms' kind."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from .. import sections
from ..records import field, record
from ..regexes import regex
from ..sections.shape import LEAF, Shape, of_section
from .pseudonyms import Pseudonyms

if TYPE_CHECKING:
    from ..document import Snapshot

_SHARE = regex(r"//([A-Za-z][\w.-]*)/|(?:[\w.-]+@)?([A-Za-z][\w.-]*):/")  # NFS: host:/export; CIFS: //host/share
# Users, as they stand in the text of a snapshot: paths, options of commands and units, the owners of tmpfiles.d.
_USER = regex(
    r"(?:/home/|\bUser=|\busername=|\bsudo -u |\brunuser -u |OWNER=\\?\"|(?m:^owner = \"))([A-Za-z_][\w-]{2,})"
)
_ESP = regex("[0-9A-F]{4}-[0-9A-F]{4}")
_WORDS = (
    # names of hosts, but also of distributions, programs and drivers: replaced where a host name has to stand, and not
    # elsewhere, or a host called nvidia would cost every driver its name
    "localhost localdomain host hostname server node guest machine box vm ct test lab dev prod main default none "
    "debian ubuntu fedora centos rocky almalinux rhel arch archlinux alpine suse opensuse nixos gentoo linux gnu "
    "generic pve proxmox kvm qemu lxc docker podman containerd kubernetes nvidia cuda amd amdgpu intel rocm gpu "
    "cpu root admin user users system build git deploy data backup storage media web mail proxy dns db sql redis "
    "nginx apache grafana prometheus metrics zfs nfs samba ceph lvm boot home opt srv usr var etc lib bin sbin "
    "sys proc tmp run snap virtio scsi sata nvme ata pci pcie usb net eth bond bridge vlan lo tun tap performance "
    "powersave schedutil"
)
_GENERIC = frozenset(_WORDS.split())
_PUBLIC = ("debian.org", "ubuntu.com", "canonical.com", "kernel.org", "proxmox.com", "nvidia.com", "amd.com",
           "intel.com", "github.com", "github.io", "redhat.com", "fedoraproject.org", "docker.com", "freedesktop.org",
           "gnu.org", "nvidia.github.io", "localhost")
SYSTEM = ("root", "daemon", "nobody", "systemd-network", "systemd-resolve", "systemd-timesync", "messagebus",
          "www-data", "sshd", "nvidia-persistenced", "nvpd", "tss", "_apt", "_chrony", "_rpc", "statd",
          "libvirt-qemu", "kvm", "gdm", "polkitd", "avahi", "ceph", "postgres", "mysql")


@record()
class Known:
    """Name -> pseudonym: of whole values of marked fields, and what of it is looked for in other text as well."""

    whole: dict[str, str] = field(default_factory=dict)
    serials: dict[str, str] = field(default_factory=dict)
    hosts: dict[str, str] = field(default_factory=dict)
    domains: dict[str, str] = field(default_factory=dict)  # in lower case, those above them too
    users: dict[str, str] = field(default_factory=dict)


def gather(taken: Snapshot, names: Pseudonyms) -> Known:
    """The names in TAKEN. FormatError when a section does not fit its model."""
    known = Known()
    _take(known, names, "host", taken.meta.host)
    for section in sections.NAMES:
        for kind, value in _marked(taken.table(section), of_section(section)):
            _take(known, names, kind, value)
    users = (user for user in _USER.findall(taken.dumps()) if not is_generic(user) and user not in SYSTEM)
    known.users = {user: names.user(user) for user in users}
    return known


def is_generic(name: str) -> bool:
    """Whether a host name is too common to identify anything."""
    return name.lower() in _GENERIC or name.lower() in _vocabulary()


def is_public(domain: str) -> bool:
    """Whether a domain is that of a distribution or vendor, and no name of a host's owner."""
    return any(domain == public or domain.endswith(f".{public}") for public in _PUBLIC)


def is_telling(serial: str) -> bool:
    """Whether a serial number, found in other text, can be nothing else."""
    return len(serial) > 5 and len({*serial}) > 2 and any(c.isdigit() for c in serial)


def _marked(value: Any, shape: Shape) -> Iterator[tuple[str, str]]:
    """Kind and text of each marked value and key."""
    if isinstance(value, dict):
        for key, item in value.items():
            if shape.private:
                yield shape.private, key
            yield from _marked(item, (shape.fields.get(key) if shape.kind == "model" else shape.item) or LEAF)
    elif isinstance(value, list):
        for item in value:
            yield from _marked(item, shape.item or shape)
    elif shape.private and isinstance(value, str):
        yield shape.private, value


def _take(known: Known, names: Pseudonyms, kind: str, value: str) -> None:
    if kind == "serial":
        known.whole[value] = names.serial(value)
        if is_telling(value):
            known.serials[value] = known.whole[value]
    elif kind == "wwid":
        prefix, dot, rest = value.partition(".")
        known.whole[value] = f"{prefix}{dot}{names.serial(rest)}" if dot else names.serial(value)
        for part in (value, rest):
            if is_telling(part):
                known.serials[part] = names.serial(rest) if part == rest else known.whole[value]
    elif kind == "esp" and _ESP.fullmatch(value):
        known.whole[value] = known.serials[value] = names.serial(value)
    elif kind == "share" and (found := _SHARE.match(value)):
        _host(known, names, found[1] or found[2])
    elif kind == "host" or (kind == "guest" and not value.isdigit()):
        _host(known, names, value, loose=kind == "host" or not value.isalpha())


def _host(known: Known, names: Pseudonyms, name: str, loose: bool = True) -> None:
    """Takes the name of a host; not to be looked for in other text when it could be any word there."""
    known.whole[name] = names.fqdn(name)
    short, _, domain = name.partition(".")
    if loose and len(short) > 2 and not short.isdigit() and not is_generic(short):
        known.hosts[short] = names.host(short)
        if "-" in short:  # as dmsetup(8) writes it in the names of volumes
            known.hosts[short.replace("-", "--")] = names.host(short).replace("-", "--")
    elif domain and not short.isdigit():
        known.hosts[name] = names.fqdn(name)
    domain = domain.lower()
    while "." in domain and not is_public(domain):
        known.domains[domain] = names.domain(domain)
        domain = domain.partition(".")[2]


@cache
def _vocabulary() -> frozenset[str]:
    """The words of the snapshot's own form: sections and fields."""
    return frozenset(word for name in sections.NAMES for word in (name, *_words(of_section(name))))


def _words(shape: Shape) -> Iterator[str]:
    for name, part in shape.fields.items():
        yield name
        yield from _words(part)
    if shape.item:
        yield from _words(shape.item)
