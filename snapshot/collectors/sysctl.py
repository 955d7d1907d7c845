"""Kernel tunables now, from /proc/sys; what sets them at boot is understood in sysctl_files.

Documentation/admin-guide/sysctl/; proc(5). A key is its path below /proc/sys. Reading stat_refresh acts;
compact_memory and the like can only be written, and say EACCES even to root. stable_secret says EIO while
unset. An automount waits at fs/binfmt_misc, so that listing it would mount a file system.
sched_energy_aware is empty where it cannot work.
"""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Callable
from operator import itemgetter

from ..regexes import regex
from ..sections.sysctl import Sysctl
from .base import Reading, Reads, decode, why
from .cmdline import LIMIT as CMDLINE_LIMIT
from .secrets import REDACTED, is_secret, redacted
from .sysctl_files import CMDLINE, DIRECTORIES, SYSCTL_CONF, key_of, parse

TOP = "/proc/sys"
NET = "/sys/class/net"
READS = Reads(
    paths=(
        TOP, f"{TOP}/**", f"{NET}/*/device", CMDLINE, "/lib", SYSCTL_CONF,
        *DIRECTORIES, *(f"{directory}/*" for directory in DIRECTORIES),
    ),
    root="values that only root may read, such as net.core.bpf_jit_harden and vm.mmap_rnd_bits",
)

_AUTOMOUNT = f"{TOP}/fs/binfmt_misc"
_IPV6 = f"{TOP}/net/ipv6/conf"
_ACT = (
    "net/ipv4/route/flush", "net/ipv6/route/flush", "vm/compact_memory", "vm/drop_caches", "vm/stat_refresh",
)
_PRIVATE = ("net/core/netdev_rss_key", "net/ipv4/tcp_fastopen_key")
_IDENTITY = ("kernel/domainname", "kernel/hostname", "kernel/random/boot_id")  # the snapshot's meta has them
_ELSEWHERE = ("kernel/arch", "kernel/osrelease", "kernel/tainted", "kernel/version")  # section kernel has them
_LIVE = (
    "fs/aio-nr", "fs/dentry-state", "fs/file-nr", "fs/inode-nr", "fs/inode-state",
    "fs/quota/allocated_dquots", "fs/quota/cache_hits", "fs/quota/drops", "fs/quota/free_dquots",
    "fs/quota/lookups", "fs/quota/reads", "fs/quota/syncs", "fs/quota/writes", "kernel/ns_last_pid",
    "kernel/pty/nr", "kernel/random/entropy_avail", "kernel/random/uuid",
    "net/netfilter/nf_conntrack_count",
    *(f"sunrpc/svc_rdma/rdma_stat_{word}" for word in (
        "read", "recv", "write", "rq_poll", "rq_prod", "rq_starve", "sq_poll", "sq_prod", "sq_starve",
    )),
)
_SKIP = frozenset(f"{TOP}/{path}" for path in (*_ACT, *_PRIVATE, *_IDENTITY, *_ELSEWHERE, *_LIVE))

_INTEGER = regex(r"0|-?[1-9][0-9]{0,18}")
_BLANKS = regex(r"[ \t]+")
_TREE = regex(f"{TOP}/net/(?:ipv[46]/(?:conf|neigh)|mpls/conf)/([^/]+)")
_GUESTS = regex(
    r"(?P<kind>veth|tap|macvtap|vnet|tun(?=[0-9])|fwbr|fwpr|fwln|docker|podman|cali|cni|flannel|lxc|virbr|v[be]-).*"
    r"|br-[0-9a-f]{12}"
)


def collect(reading: Reading) -> Sysctl:
    """All values that may be read, and what sets them at boot. Needs no root for most."""
    left_out: Counter[str] = Counter()
    values = _values(reading, left_out)
    denied = [unread.path[1] for unread in reading.unreads if len(unread.path) == 2]
    cmdline = reading.text(CMDLINE, "settings", limit=CMDLINE_LIMIT) or ""
    boot = parse(_files(reading), cmdline, [*values, *denied])
    if boot.excess:
        reading.unread(("settings",), DIRECTORIES[0], boot.excess)
    for unread in [u for u in reading.unreads if u.path == ("settings",)]:
        for fact in ("masked", "ignored"):
            reading.unread((fact,), unread.source, unread.why)
    return Sysctl(
        values=values, left_out=dict(sorted(left_out.items())) or None, settings=boot.settings or None,
        masked=boot.masked or None, ignored=boot.ignored or None,
    )


def value_of(data: bytes, key: str = "") -> int | str:
    """The value of KEY in /proc/sys: an integer of up to 64 bits, else text without secrets, runs of blanks as one."""
    text = decode(data).strip(" \t\r\n")
    if _INTEGER.fullmatch(text) and -(1 << 63) <= (number := int(text)) < 1 << 63:
        return number
    return REDACTED if text and is_secret(key) else redacted(_BLANKS.sub(" ", text))


def guest_kind(name: str) -> str | None:
    """veth* for veth101i0, and so on, by the names that hypervisors and container engines give; else None.

    Bridges, bonds and VLANs of the administrator are configuration, though virtual too.
    """
    match = _GUESTS.fullmatch(name)
    return match and f"{match['kind'] or 'br-'}*"


def _values(reading: Reading, left_out: Counter[str]) -> dict[str, int | str]:
    secrets = {f"{_IPV6}/{name}/stable_secret" for name in reading.list(_IPV6, "values")}
    values = {}
    found = reading.walk(TOP, _SKIP | secrets, _pruner(reading, left_out))
    for path, data in sorted(found, key=itemgetter(0)):
        if isinstance(data, OSError):
            _unread(reading, path, data)
        else:
            key = key_of(path[len(TOP) + 1 :])
            values[key] = value_of(data, key)
    return values


def _pruner(reading: Reading, left_out: Counter[str]) -> Callable[[str], bool]:
    """Leaves out what is made for each guest: by its name, unless the interface has a device behind it."""

    def prune(path: str) -> bool:
        tree = _TREE.fullmatch(path)
        kind = guest_kind(tree[1]) if tree else None
        if kind is None or tree is None or reading.readlink(f"{NET}/{tree[1]}/device", "values") is not None:
            return path == _AUTOMOUNT
        left_out[kind] += 1
        return True

    return prune


def _unread(reading: Reading, path: str, error: OSError) -> None:
    """A key that vanished or can only be written has no value; behind a directory any key may be missing."""
    if path == TOP:
        reading.unread(("values",), path, why(error))
    elif error.errno != errno.ENOENT and (stat := reading.stat(path, "values")) is not None:
        if stat.type == "directory":
            reading.unread(("values",), path, why(error))
        elif stat.mode & 0o444:
            reading.unread(("values", key_of(path[len(TOP) + 1 :])), path, why(error))


def _files(reading: Reading) -> dict[str, str | None]:
    directories = DIRECTORIES if reading.readlink("/lib", "settings") is None else DIRECTORIES[:-1]
    names = ((d, name) for d in directories for name in reading.list(d, "settings"))
    files = {}
    for path in (*(f"{d}/{name}" for d, name in names if name.endswith(".conf")), SYSCTL_CONF):
        stat = reading.stat(path, "settings", follow=False)
        if stat is not None and stat.type in ("file", "link"):
            files[path] = _text(reading, path)
    return files


def _text(reading: Reading, path: str) -> str | None:
    """None where nothing is to be read behind the name: /dev/null, a directory, nowhere."""
    stat = reading.stat(path, "settings")
    return reading.config(path, "settings") if stat is not None and stat.type == "file" else None
