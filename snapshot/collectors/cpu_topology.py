"""Sockets, cores and caches, from topology and cache of /sys/devices/system/cpu/cpu*.

Documentation/admin-guide/cputopology.rst; Documentation/ABI/testing/sysfs-devices-system-cpu; drivers/base/cacheinfo.c.

A list of siblings stands in the folder of each of them, so one file a group is read. Offline CPUs have no topology;
where lists name them still (POWER), they are dropped. Machines without ids call each package -1. ``size`` is 32K, in
KiB always. Some kernels have caches without size or without a list of who shares them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..errors import ParseError
from ..sections.base import collapse, format_cpus
from ..sections.cpu import Cache, Package
from .attributes import integer
from .base import Reading
from .kernel_values import CPU, parse_cpus, value

TOPOLOGY, CACHE = f"{CPU}/cpu*/topology", f"{CPU}/cpu*/cache"
PATHS = (
    *(f"{TOPOLOGY}/{name}" for name in ("physical_package_id", "core_siblings_list", "thread_siblings_list")),
    CACHE, *(f"{CACHE}/index*/{name}" for name in ("level", "type", "size", "shared_cpu_list")),
)
_TYPES = {"Data": "d", "Instruction": "i", "Unified": ""}
Share = Callable[[int], list[int] | None]


def read_packages(reading: Reading, online: list[int]) -> dict[str, Package] | None:
    """Sockets by physical package id; None, and unread, when a CPU does not tell where it is."""
    members: dict[int, list[int]] = {}
    threads = _groups(online, _list(reading, "topology/thread_siblings_list", "packages"))
    sockets = _groups(online, _list(reading, "topology/core_siblings_list", "packages"))
    for group in sockets or ():
        identity = value(reading, integer, f"{CPU}/cpu{group[0]}/topology/physical_package_id", "packages")
        if identity is not None:
            members.setdefault(identity, []).extend(group)
    if threads is None or sum(map(len, members.values())) != len(online):
        reading.settle(False, TOPOLOGY, "does not place every CPU", "packages")
        return None
    core = {cpu: group[0] for group in threads for cpu in group}
    return {
        str(identity): Package(cpus=format_cpus(cpus), cores=len({core[cpu] for cpu in cpus}))
        for identity, cpus in sorted(members.items())
    }


def read_caches(reading: Reading, online: list[int]) -> dict[str, Cache]:
    """Caches by level and type. The first CPU tells which there are."""
    found: dict[str, Cache] = {}
    names = reading.list(f"{CPU}/cpu{online[0]}/cache", "caches") if online else []
    for index in (name for name in names if name.startswith("index")):
        folder = f"{CPU}/cpu{online[0]}/cache/{index}"
        level = value(reading, integer, f"{folder}/level", "caches")
        kind = value(reading, parse_type, f"{folder}/type", "caches")
        if level is None or kind is None:
            reading.settle(False, folder, "no level or no type", "caches")
        else:
            found[f"L{level}{kind}"] = _cache(reading, online, index, f"L{level}{kind}")
    return found


def _cache(reading: Reading, online: list[int], index: str, name: str) -> Cache:
    groups = _groups(online, _list(reading, f"cache/{index}/shared_cpu_list", "caches", name))
    leaders = groups if groups is not None else [[cpu] for cpu in online]
    sizes: dict[int, int] = {}
    for group in leaders:
        path = f"{CPU}/cpu{group[0]}/cache/{index}/size"
        if (size := value(reading, parse_size, path, "caches", name, "size_bytes")) is not None:
            sizes |= dict.fromkeys(group, size)
    shared = {cpu: len(group) for group in groups or () for cpu in group}
    return Cache(
        size_bytes=collapse(sizes) or None, shared_by=collapse(shared) or None, count=len(groups) if groups else None
    )


def _list(reading: Reading, name: str, *fact: str) -> Share:
    """What gives the CPUs in the list NAME of a CPU."""
    return lambda cpu: value(reading, parse_cpus, f"{CPU}/cpu{cpu}/{name}", *fact)


def _groups(cpus: Iterable[int], siblings: Share) -> list[list[int]] | None:
    """CPUs that share something, each group once, sorted; None when the first CPUs met do not say."""
    left = dict.fromkeys(cpus)
    groups = []
    while left:
        cpu = next(iter(left))
        listed = siblings(cpu)
        if listed is None:
            return None
        group = [other for other in listed if other in left]
        if cpu not in group:
            group = [cpu]
        groups.append(group)
        for other in group:
            del left[other]
    return groups


def parse_type(text: str) -> str:
    """d, i or nothing for a data, instruction or unified cache. ParseError when it is none of them."""
    if text not in _TYPES:
        raise ParseError(f"no type of a cache: {text[:80]!r}")
    return _TYPES[text]


def parse_size(text: str) -> int:
    """Bytes of a size such as 32K. ParseError when it is none."""
    if not text.endswith("K"):
        raise ParseError(f"no size: {text[:80]!r}")
    return integer(text[:-1]) << 10
