"""Memory: how much, in which nodes, huge pages, THP, KSM, swap, and the errors that EDAC counted."""

from typing import Annotated

from .base import VOLATILE, Model, field


class HugePages(Model):
    """The pool of huge pages of one size."""

    pages: int | None = field(default=None, description="persistent pages: nr_hugepages without the surplus")
    overcommit: int | None = field(default=None, description="most surplus pages; not of a node")
    free: Annotated[int | None, VOLATILE] = field(default=None, description="pages of the pool that nobody uses; not of a node")
    surplus: Annotated[int | None, VOLATILE] = field(default=None, description="pages above the pool, taken as needed")


class Node(Model):
    """The memory of one NUMA node."""

    total_bytes: Annotated[int | None, VOLATILE] = field(
        default=None, description="usable memory; differs by tens of MiB from boot to boot: allow 64 MiB"
    )
    hugepages: dict[str, HugePages] | None = field(default=None, description="by page size, 2048kB")


class ThpSize(Model):
    """Transparent huge pages of one size."""

    enabled: str | None = field(default=None, description="always, inherit, madvise or never")
    shmem_enabled: str | None = field(default=None, description="always, inherit, within_size, advise or never")


class Thp(Model):
    """Transparent huge pages."""

    enabled: str | None = field(default=None, description="always, madvise or never")
    defrag: str | None = field(default=None, description="always, defer, defer+madvise, madvise or never")
    shmem_enabled: str | None = field(default=None, description="always, within_size, advise, never, deny or force")
    use_zero_page: bool | None = field(default=None, description="reads of untouched memory get a huge zero page")
    khugepaged: dict[str, int] | None = field(default=None, description="settings of khugepaged, by the kernel's names")
    sizes: dict[str, ThpSize] | None = field(default=None, description="by page size, 64kB")


class Ksm(Model):
    """Kernel samepage merging."""

    run: int | None = field(default=None, description="0 stopped, 1 running, 2 stopped and unmerged")
    pages_to_scan: Annotated[int | None, VOLATILE] = field(
        default=None, description="pages a round; ksmtuned and the kernel's advisor change it"
    )
    sleep_millisecs: int | None = field(default=None, description="pause between rounds, milliseconds")
    merge_across_nodes: bool | None = field(default=None, description="pages of different NUMA nodes are merged")
    use_zero_pages: bool | None = field(default=None, description="empty pages become the zero page")
    max_page_sharing: int | None = field(default=None, description="most users of one page")
    smart_scan: bool | None = field(default=None, description="pages that did not merge are skipped for a while")
    advisor_mode: str | None = field(default=None, description="none or scan-time")


class Swap(Model):
    """One swap area in use."""

    type: str = field(description="partition or file")
    size_bytes: int = field(description="its size")
    used_bytes: Annotated[int, VOLATILE] = field(description="what of it is in use")
    priority: int = field(description="higher is used first; negative ones the kernel gave out")


class Zram(Model):
    """A compressed block device in memory that has a size."""

    size_bytes: int = field(description="of what can be stored in it, uncompressed")
    algorithm: str | None = field(default=None, description="compression in use")


class Zswap(Model):
    """The compressed cache before swap."""

    enabled: bool | None = field(default=None, description="in use")
    compressor: str | None = field(default=None, description="compression")
    zpool: str | None = field(default=None, description="allocator, where it can be chosen")
    max_pool_percent: int | None = field(default=None, description="most memory it may take, percent")
    accept_threshold_percent: int | None = field(default=None, description="a full pool takes pages again below this, percent")
    shrinker_enabled: bool | None = field(default=None, description="moves cold pages to swap when memory is short")


class Module(Model):
    """A memory module, or one rank of it, as EDAC sees it."""

    label: str | None = field(default=None, description="slot, when the driver or the operator named it")
    location: str | None = field(default=None, description="place at the controller: csrow 0 channel 1")
    size_mib: int | None = field(default=None, description="MiB")
    corrected: Annotated[int | None, VOLATILE] = field(default=None, description="corrected errors since the driver was loaded")
    uncorrected: Annotated[int | None, VOLATILE] = field(
        default=None, description="uncorrected errors since the driver was loaded"
    )


class Controller(Model):
    """A memory controller with a driver of EDAC."""

    name: str | None = field(default=None, description="mc_name, the driver's word")
    size_mib: int | None = field(default=None, description="MiB")
    corrected: Annotated[int | None, VOLATILE] = field(default=None, description="corrected errors since the driver was loaded")
    uncorrected: Annotated[int | None, VOLATILE] = field(
        default=None, description="uncorrected errors since the driver was loaded"
    )
    modules: dict[str, Module] | None = field(default=None, description="by the driver's name: dimm3, rank3")


class Memory(Model):
    """/proc/meminfo, /proc/swaps, and the directories memory, node and edac of /sys, and mm."""

    total_bytes: Annotated[int | None, VOLATILE] = field(
        default=None, description="MemTotal: what firmware, kernel and crash kernel leave; a few kB differ from boot to boot"
    )
    blocks_bytes: int | None = field(
        default=None, description="memory blocks that the kernel knows, online or not: the same at each boot"
    )
    cma_bytes: int | None = field(default=None, description="CmaTotal: reserved for contiguous allocations")
    crash_kernel_bytes: int | None = field(default=None, description="reserved by crashkernel=")
    corrupted_bytes: Annotated[int | None, VOLATILE] = field(
        default=None, description="HardwareCorrupted: taken out of use after a memory error"
    )
    nodes: dict[str, Node] | None = field(default=None, description="NUMA nodes by number")
    hugepages: dict[str, HugePages] | None = field(default=None, description="by page size, 2048kB")
    thp: Thp | None = field(default=None, description="missing when the kernel was built without")
    ksm: Ksm | None = field(default=None, description="missing when the kernel was built without")
    lru_gen: str | None = field(default=None, description="multi-generational LRU, a bit mask: 0x0000 is off")
    lru_gen_min_ttl_ms: int | None = field(default=None, description="working set that is protected, milliseconds")
    numa_demotion: bool | None = field(default=None, description="cold pages may move to slower nodes")
    swaps: dict[str, Swap] | None = field(default=None, description="by device or file; missing when the kernel cannot swap")
    zram: dict[str, Zram] | None = field(default=None, description="by device name; only those with a size")
    zswap: Zswap | None = field(default=None, description="missing when the kernel was built without")
    edac: dict[str, Controller] | None = field(
        default=None, description="memory controllers by name, mc0; missing when no driver of EDAC is there"
    )
