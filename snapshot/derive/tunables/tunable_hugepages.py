"""Pools of huge pages, by size and node: what there is, and what command line, sysctl.d and boot-time lines ask for.

Documentation/admin-guide/mm/hugetlbpage.rst, kernel-parameters.txt. ``hugepages=`` counts for the ``hugepagesz=``
before it, else for the default size; said twice for one size, the first counts; NODE:PAGES,... is of single nodes.
vm.nr_hugepages is the pool of the default size. A pool may stay smaller than what was asked for, without an error. What
is asked for as a whole the kernel spreads over the nodes as it can; a write to the file of one node, or to ``demote``
of a larger size, changes the whole. So does Proxmox VE, which makes the pages of a machine with ``hugepages``
(qm.conf(5)) when that starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...records import replace
from ...regexes import regex
from .tunable import Setter, Tunable
from .tunable_facts import Facts, Kind
from .tunable_setters import Setters
from .tunable_words import meaning

if TYPE_CHECKING:
    from .tunable_sysctls import Sysctls

QEMU = ("qemu", "machines")
POOLS = Kind("hugepages", ("hugeadm",), (("cmdline", ""), ("sysctl", "settings")))
OF_MACHINES = {"2": ("2048kB",), "1024": ("1048576kB",)}  # another word, any, is for both
MM, NODES = "/sys/kernel/mm/hugepages", "/sys/devices/system/node"
NO_DEFAULT = "which size is the default one is not known"
_SIZE = regex(r"([0-9]{1,12})([kKmMgG]?)")
_COUNT = regex("[0-9]{1,12}")
_KIB = {"": 1 / 1024, "k": 1, "m": 1 << 10, "g": 1 << 20}


def default_size(found: Setters) -> str:
    """The size of a huge page when none is named: as the command line says, else the machine's; "" when not known."""
    machine = found.table("kernel").get("machine")
    return size_name(found.words.last("default_hugepagesz") or "") or ("2048kB" if machine == "x86_64" else "")


def size_name(text: str) -> str:
    """A size such as 1G as the kernel names the pool, 1048576kB; "" when it is none."""
    size = _SIZE.fullmatch(text)
    return f"{int(int(size[1]) * _KIB[size[2].lower()])}kB" if size else ""


def pool_words(found: Setters) -> dict[tuple[str, str], list[Setter]]:
    """What hugepages= asks for, by page size and node; node "" is all of them, size "" one that is not known."""
    asked: dict[tuple[str, str], list[Setter]] = {}
    size, taken = default_size(found), set[str]()
    for name, word in found.words.ordered:
        if name == "hugepagesz":
            size = size_name(word.value or "")
        elif name == "hugepages" and size not in taken:
            taken.add(size)
            parts = [part.rpartition(":") for part in (word.value or "").split(",")]
            for node, _, count in parts:
                asked.setdefault((size, node), []).append(meaning(word, count))
            if all(node for node, _, _ in parts):
                asked.setdefault((size, ""), []).append(meaning(word, _sum(count for _, _, count in parts)))
    return asked


def _sum(counts: Iterable[str]) -> str | None:
    told = [*counts]
    return str(sum(map(int, told))) if all(map(_COUNT.fullmatch, told)) else None


def pool_makers(found: Setters, size: str) -> Iterator[Setter]:
    """What sets the pool of SIZE as a whole, but for the sysctls of the default one."""
    asked, default = pool_words(found), default_size(found)
    yield from asked.get((size, ""), ())
    if not default:
        yield from _doubted(asked.get(("", ""), ()), NO_DEFAULT)
    own = f"{MM}/hugepages-{size}"
    yield from found.file(f"{own}/nr_hugepages", f"{own}/nr_hugepages_mempolicy")
    memory = found.table("memory")
    nodes = (f"{NODES}/node{node}/hugepages/hugepages-{size}/nr_hugepages" for node in memory.get("nodes", {}))
    yield from _doubted(found.file(*nodes), "it sets the share of one node")
    larger = (f"{MM}/hugepages-{other}/demote" for other in memory.get("hugepages", {}))
    yield from _doubted(found.file(*larger), "it splits larger pages")
    for machine, told in found.table("qemu").get("machines", {}).items():
        option = told["live"].get("options", {}).get("hugepages", {})
        if option and size in OF_MACHINES.get(option["value"], (size,)):
            doubt = f"the start of virtual machine {machine} makes as many as it needs"
            yield Setter("guest", option["origin"], certain=False, doubt=doubt)


def default_makers(found: Setters) -> Iterator[Setter]:
    """The same of the default pool, any of them where it is not known which that is."""
    if default := default_size(found):
        yield from pool_makers(found, default)
        return
    yield from pool_words(found).get(("", ""), ())
    for size in found.table("memory").get("hugepages", {}):
        yield from _doubted(pool_makers(found, size), NO_DEFAULT)


def _of_default(setters: list[Setter], size: str, default: str) -> list[Setter]:
    """What SETTERS, of the default pool, are for that of SIZE."""
    return (setters if size == default else []) if default else [*_doubted(setters, NO_DEFAULT)]


def _doubted(setters: Iterable[Setter], doubt: str) -> Iterator[Setter]:
    return (replace(setter, value=None, certain=False, doubt=doubt) for setter in setters)


def of_pools(found: Setters) -> Kind:
    """What pools share: machines may fill them where Proxmox VE is installed."""
    return replace(POOLS, gaps=(*POOLS.gaps, QEMU)) if "proxmox_ve" in found.table("os") else POOLS


def hugepages(found: Setters, sysctls: Sysctls) -> Iterator[Tunable]:
    """A tunable for each pool, its overcommit, and its share of each node."""
    facts, table = Facts(found, of_pools(found)), found.table("memory")
    default, asked = default_size(found), pool_words(found)
    for size in table.get("hugepages", {}):
        own, path = f"{MM}/hugepages-{size}", ("memory", "hugepages", size)
        whole = [*pool_makers(found, size), *_of_default(sysctls.pool(), size, default)]
        over = _of_default(sysctls.of("vm.nr_overcommit_hugepages"), size, default)
        yield from _short(facts.one("nr_hugepages", (*path, "pages"), subject=size, setters=whole))
        yield from facts.one("nr_overcommit_hugepages", (*path, "overcommit"), f"{own}/nr_overcommit_hugepages",
                             subject=size, setters=over)
        spread = [replace(setter, value=None) for setter in whole]
        for node in table.get("nodes", {}):
            yield from _short(facts.one(
                "nr_hugepages", ("memory", "nodes", node, "hugepages", size, "pages"),
                f"{NODES}/node{node}/hugepages/hugepages-{size}/nr_hugepages", subject=f"{size} node{node}",
                setters=[*asked.get((size, node), ()), *spread],
            ))


def _short(tunables: Iterator[Tunable]) -> Iterator[Tunable]:
    """Those that may get less than they ask for."""
    for tunable in tunables:
        tunable.falls_short = True
        yield tunable
