"""Processors and NUMA nodes, from /proc/cpuinfo, /sys/devices/system/cpu and /sys/devices/system/node.

Documentation/admin-guide/cputopology.rst, numa.rst (mm), hw-vuln/; Documentation/ABI/stable/sysfs-devices-node. Node
numbers may have gaps, and nodes without CPUs (GPU memory, CXL) or without memory are ordinary. A line of ``distance``
has a column for each online node, in order of number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from ..sections.base import Matrix, collapse, format_cpus
from ..sections.cpu import Cpu, Node, Smt
from .attributes import integer
from .base import Reading, Reads
from .cpu_topology import PATHS, read_caches, read_packages
from .cpuinfo import Processors, parse
from .kernel_values import CPU, CPU_PATHS, online, parse_cpus, parse_list, parse_switch, parse_word, understood, value

INFO = "/proc/cpuinfo"
NODES = "/sys/devices/system/node"
FLAWS = f"{CPU}/vulnerabilities"
READS = Reads(
    paths=(
        INFO, *CPU_PATHS, *PATHS, FLAWS, f"{FLAWS}/*", f"{CPU}/smt/control", f"{CPU}/smt/active",
        *(f"{CPU}/{name}" for name in ("possible", "present", "isolated", "nohz_full")),
        NODES, *(f"{NODES}/{name}" for name in (
            "online", "has_memory", "has_normal_memory", "node*/cpulist", "node*/distance")),
    ),
)
_LARGEST = 16 << 20  # of cpuinfo: 8192 CPUs
T = TypeVar("T", int, str)


def collect(reading: Reading) -> Cpu:
    """The section."""
    cpus = online(reading, "online")
    reading.depends(("online",), ("packages",), ("caches",))
    told = _processors(reading)
    nodes, distances = _nodes(reading)
    present = value(reading, parse_cpus, f"{CPU}/present", "present")
    return Cpu(
        vendor=_common(reading, told.vendors, "vendor"),
        family=_common(reading, told.families, "family"),
        model=_common(reading, told.models, "model"),
        names=collapse(told.names) or None,
        steppings=collapse(told.steppings) or None,
        microcode=collapse(told.microcode) or None,
        possible=value(reading, parse_list, f"{CPU}/possible", "possible"),
        present=None if present is None else format_cpus(present),
        online=format_cpus(cpus) or None,
        offline=_offline(reading, present, cpus),
        isolated=value(reading, parse_list, f"{CPU}/isolated", "isolated"),
        nohz_full=value(reading, parse_list, f"{CPU}/nohz_full", "nohz_full"),
        smt=_smt(reading),
        packages=read_packages(reading, cpus) if cpus else None,
        caches=read_caches(reading, cpus) or None,
        nodes=nodes or None, distances=distances,
        vulnerabilities=_vulnerabilities(reading),
    )


def _processors(reading: Reading) -> Processors:
    """What cpuinfo says; nothing, and its facts unread, when it cannot be read or understood."""
    facts = ("names", "vendor", "family", "model", "steppings", "microcode")
    content = reading.bytes(INFO, facts[0], limit=_LARGEST)
    found = None if content is None else understood(reading, parse, content, INFO, facts[0])
    if found is None:
        reading.unread_together(INFO, "ENOENT", *facts)
        return Processors()
    reading.settle(bool(found.names), INFO, "no name in it", "names")
    return found


def _common(reading: Reading, values: Mapping[int, T], fact: str) -> T | None:
    """The one value that all CPUs have."""
    if len(set(values.values())) > 1:
        reading.unread((fact,), INFO, "CPUs of one machine disagree")
        return None
    return next(iter(values.values()), None)


def _offline(reading: Reading, present: list[int] | None, cpus: list[int]) -> str | None:
    if present is None or not cpus:
        reading.unread(("offline",), f"{CPU}/present", "which CPUs there are is not known")
        return None
    return format_cpus(set(present) - set(cpus))


def _smt(reading: Reading) -> Smt | None:
    control = value(reading, parse_word, f"{CPU}/smt/control", "smt", "control")
    active = value(reading, parse_switch, f"{CPU}/smt/active", "smt", "active")
    return None if control is None and active is None else Smt(control=control, active=active)


def _vulnerabilities(reading: Reading) -> dict[str, str] | None:
    words = {name: value(reading, parse_word, f"{FLAWS}/{name}", "vulnerabilities", name)
             for name in reading.list(FLAWS, "vulnerabilities")}
    return {name: word for name, word in words.items() if word is not None} or None


def _nodes(reading: Reading) -> tuple[dict[str, Node], Matrix | None]:
    """The online nodes and their distances; none when the kernel knows no nodes."""
    numbers = value(reading, parse_cpus, f"{NODES}/online", "nodes") or []
    reading.depends(("nodes",), ("distances",))
    memory = _with_memory(reading)
    found: dict[str, Node] = {}
    rows: list[list[int | str]] = []
    for number in numbers:
        fact = ("nodes", str(number))
        cpus = value(reading, parse_list, f"{NODES}/node{number}/cpulist", *fact)
        if cpus is None:
            reading.settle(False, f"{NODES}/node{number}/cpulist", "ENOENT", *fact)
            reading.depends(fact, ("distances",))
            continue
        found[str(number)] = Node(cpus=cpus, memory=None if memory is None else number in memory)
        if row := value(reading, parse_distances, f"{NODES}/node{number}/distance", "distances"):
            rows.append(row)
    return found, _matrix(reading, numbers, rows)


def _with_memory(reading: Reading) -> list[int] | None:
    found = value(reading, parse_cpus, f"{NODES}/has_memory", "nodes")
    return found if found is not None else value(reading, parse_cpus, f"{NODES}/has_normal_memory", "nodes")


def _matrix(reading: Reading, numbers: list[int], rows: list[list[int | str]]) -> Matrix | None:
    if not rows:
        return None
    if len(rows) != len(numbers) or any(len(row) != len(numbers) for row in rows):
        reading.settle(False, f"{NODES}/node*/distance", f"no square of {len(numbers)} nodes", "distances")
        return None
    return Matrix(ids=[str(number) for number in numbers], rows=rows)


def parse_distances(text: str) -> list[int | str]:
    """The distances of one node. ParseError when something else is among them."""
    return [integer(word) for word in text.split()]
