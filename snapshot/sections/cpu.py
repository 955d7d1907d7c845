"""Processors: what they are, which are in use, how they and the NUMA nodes hang together."""

from .base import CpuInts, CpuWords, Matrix, Model, field


class Smt(Model):
    """Simultaneous multithreading."""

    control: str | None = field(default=None, description="on, off, forceoff, notsupported or notimplemented")
    active: bool | None = field(default=None, description="more than one thread of some core is online")


class Package(Model):
    """What sits in one socket, as far as it is online."""

    cpus: str = field(description="its CPUs")
    cores: int = field(description="how many cores they are the threads of")


class Cache(Model):
    """The caches of one level and type, as the online CPUs see them."""

    size_bytes: CpuInts | None = field(default=None, description="size of the one that a CPU uses -> CPUs")
    shared_by: CpuInts | None = field(default=None, description="how many online CPUs use it together with this one -> CPUs")
    count: int | None = field(default=None, description="how many there are")


class Node(Model):
    """One NUMA node; how much memory it has stands in the section memory."""

    cpus: str = field(description="its online CPUs; empty for a node of memory alone, such as that of a GPU")
    memory: bool | None = field(default=None, description="it has memory")


class Cpu(Model):
    """/proc/cpuinfo, /sys/devices/system/cpu and /sys/devices/system/node. CPUs are lists such as 0-3,8."""

    vendor: str | None = field(default=None, description="vendor_id, x86 only")
    family: int | None = field(default=None, description="CPU family, x86 only; 26 is AMD's 1Ah")
    model: int | None = field(default=None, description="model number within the family, x86 only")
    names: CpuWords | None = field(
        default=None, description="model name; where the kernel knows none, implementer and part number of an ARM core"
    )
    steppings: CpuInts | None = field(default=None, description="stepping, x86 only")
    microcode: CpuWords | None = field(default=None, description="microcode revision in hex, x86 only")
    possible: str | None = field(default=None, description="CPUs that can ever be added")
    present: str | None = field(default=None, description="CPUs that are plugged in")
    online: str | None = field(default=None, description="CPUs that are in use")
    offline: str | None = field(default=None, description="CPUs that are present and not online")
    isolated: str | None = field(default=None, description="CPUs that the scheduler leaves alone, by isolcpus=")
    nohz_full: str | None = field(default=None, description="CPUs without a timer tick while one task runs, by nohz_full=")
    smt: Smt | None = field(default=None, description="missing when the kernel has no control of it")
    packages: dict[str, Package] | None = field(default=None, description="sockets by physical package id")
    caches: dict[str, Cache] | None = field(
        default=None, description="by level and type: L1d data, L1i instruction, L2, L3 unified"
    )
    nodes: dict[str, Node] | None = field(default=None, description="NUMA nodes that are online, by number")
    distances: Matrix | None = field(default=None, description="between NUMA nodes, 10 is local; ids in order of number")
    vulnerabilities: dict[str, str] | None = field(
        default=None, description="hardware flaw -> the kernel's word: Not affected, Vulnerable or Mitigation, with details"
    )
