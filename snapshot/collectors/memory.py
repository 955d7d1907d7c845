"""How much memory there is and how it is managed, from /proc/meminfo, /sys/devices/system/node and /sys/kernel/mm.

proc(5); Documentation/admin-guide/mm/hugetlbpage.rst, memory-hotplug.rst, multigen_lru.rst.

MemTotal moves by a few kB between boots, that of a node by tens of MiB; memory blocks do not. Free memory and all
counters are left out.
"""

from __future__ import annotations

from ..errors import ParseError
from ..sections.memory import HugePages, Memory, Node
from .attributes import integer
from .base import Reading, Reads
from .kernel_values import parse_cpus, parse_switch, parse_word, understood, value
from .memory_edac import EDAC_PATHS, read_edac
from .memory_pages import KSM_PATHS, MM, THP_PATHS, read_ksm, read_thp
from .memory_swap import SWAP_PATHS, read_swaps, read_zram, read_zswap

INFO = "/proc/meminfo"
NODES, BLOCKS = "/sys/devices/system/node", "/sys/devices/system/memory"
HUGE = f"{MM}/hugepages"
CRASH = "/sys/kernel/kexec_crash_size"
_HUGE_FILES = ("nr_hugepages", "surplus_hugepages", "free_hugepages", "nr_overcommit_hugepages")
READS = Reads(
    paths=(
        *(f"{folder}/hugepages-*/{name}" for folder in (f"{NODES}/node*/hugepages", HUGE) for name in _HUGE_FILES),
        INFO, BLOCKS, f"{BLOCKS}/block_size_bytes", f"{NODES}/online", f"{NODES}/node*/meminfo",
        f"{NODES}/node*/hugepages", HUGE, CRASH, f"{MM}/lru_gen/enabled", f"{MM}/lru_gen/min_ttl_ms",
        f"{MM}/numa/demotion_enabled", *THP_PATHS, *KSM_PATHS, *SWAP_PATHS, *EDAC_PATHS,
    ),
)
_LARGEST = 1 << 16
_FACTS = {"total_bytes": "MemTotal", "cma_bytes": "CmaTotal", "corrupted_bytes": "HardwareCorrupted"}


def collect(reading: Reading) -> Memory:
    """The section."""
    totals = _totals(reading)
    return Memory(
        total_bytes=totals.get("MemTotal"),
        blocks_bytes=_blocks(reading),
        cma_bytes=totals.get("CmaTotal"),
        crash_kernel_bytes=value(reading, integer, CRASH, "crash_kernel_bytes"),
        corrupted_bytes=totals.get("HardwareCorrupted"),
        nodes=_nodes(reading) or None,
        hugepages=_pools(reading, HUGE, "hugepages"),
        thp=read_thp(reading), ksm=read_ksm(reading),
        lru_gen=value(reading, parse_word, f"{MM}/lru_gen/enabled", "lru_gen"),
        lru_gen_min_ttl_ms=value(reading, integer, f"{MM}/lru_gen/min_ttl_ms", "lru_gen_min_ttl_ms"),
        numa_demotion=value(reading, parse_switch, f"{MM}/numa/demotion_enabled", "numa_demotion"),
        swaps=read_swaps(reading), zram=read_zram(reading), zswap=read_zswap(reading),
        edac=read_edac(reading),
    )


def _totals(reading: Reading) -> dict[str, int]:
    content = reading.bytes(INFO, "total_bytes", limit=_LARGEST)
    found = None if content is None else understood(reading, parse_meminfo, content, INFO, "total_bytes")
    if found is None:
        reading.unread_together(INFO, "ENOENT", *_FACTS)
        return {}
    reading.settle("MemTotal" in found, INFO, "no MemTotal in it", "total_bytes")
    return found


def parse_meminfo(text: str) -> dict[str, int]:
    """Bytes by name, of the lines that end in kB ("MemTotal:  1584736232 kB"; a node's begin "Node 0 MemTotal:").

    ParseError when one of them has no number, or a name stands twice.
    """
    found: dict[str, int] = {}
    for line in text.splitlines():
        left, colon, right = line.partition(":")
        words = right.split()
        if colon and len(words) == 2 and words[1] == "kB":
            name = left.split()[-1] if left.split() else ""
            if name in found:
                raise ParseError(f"{name[:80]!r} stands twice")
            found[name] = integer(words[0]) << 10
    return found


def _blocks(reading: Reading) -> int | None:
    """What the memory blocks hold; None when the kernel has none (no hot-plug of memory)."""
    size = value(reading, parse_hex, f"{BLOCKS}/block_size_bytes", "blocks_bytes")
    names = reading.list(BLOCKS, "blocks_bytes")
    blocks = [name for name in names if name.startswith("memory") and name[6:].isdecimal()]
    return None if size is None or not blocks else size * len(blocks)


def parse_hex(text: str) -> int:
    """A hexadecimal number without prefix, below 2**40. ParseError when it is none."""
    try:
        number = int(text, 16) if len(text) <= 10 else -1
    except ValueError:
        number = -1
    if number < 0:
        raise ParseError(f"no hexadecimal number: {text[:80]!r}")
    return number


def _nodes(reading: Reading) -> dict[str, Node]:
    """The online nodes; one without memory has total 0."""
    return {
        str(number): Node(
            total_bytes=_node_total(reading, number),
            hugepages=_pools(reading, f"{NODES}/node{number}/hugepages", "nodes", str(number), "hugepages"),
        )
        for number in value(reading, parse_cpus, f"{NODES}/online", "nodes") or ()
    }


def _node_total(reading: Reading, number: int) -> int | None:
    path, fact = f"{NODES}/node{number}/meminfo", ("nodes", str(number), "total_bytes")
    found = value(reading, parse_meminfo, path, *fact)
    total = None if found is None else found.get("MemTotal")
    reading.settle(total is not None, path, "no MemTotal in it", *fact)
    return total


def _pools(reading: Reading, folder: str, *fact: str) -> dict[str, HugePages] | None:
    """The pools by page size; None when there are none."""
    names = [name for name in reading.list(folder, *fact) if name.startswith("hugepages-")]
    return {name[10:]: _pool(reading, f"{folder}/{name}", *fact, name[10:]) for name in names} or None


def _pool(reading: Reading, folder: str, *fact: str) -> HugePages:
    def count(name: str, field: str) -> int | None:
        return value(reading, integer, f"{folder}/{name}", *fact, field)

    pages, surplus = count("nr_hugepages", "pages"), count("surplus_hugepages", "surplus")
    if pages is None or surplus is None or surplus > pages:
        reading.settle(False, f"{folder}/nr_hugepages", f"{pages} pages, {surplus} surplus", *fact, "pages")
        pages = None
    else:
        pages -= surplus
    if folder.startswith(NODES):
        return HugePages(pages=pages, surplus=surplus)
    overcommit, free = count("nr_overcommit_hugepages", "overcommit"), count("free_hugepages", "free")
    return HugePages(pages=pages, overcommit=overcommit, free=free, surplus=surplus)
