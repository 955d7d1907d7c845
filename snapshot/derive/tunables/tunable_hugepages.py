"""Pools of huge pages, by size and node: what there is, and what command line, sysctl.d and boot-time lines ask for.

Documentation/admin-guide/mm/hugetlbpage.rst, kernel-parameters.txt. ``hugepages=`` counts for the ``hugepagesz=``
before it, else for the default size; said twice for one size, the first counts; NODE:PAGES,... is of single nodes.
vm.nr_hugepages is the pool of the default size. A pool may stay smaller than what was asked for, without an error. What
is asked for as a whole the kernel spreads over the nodes as it can.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...records import replace
from ...regexes import regex
from .tunable import Setter, Tunable
from .tunable_facts import Facts, Kind
from .tunable_setters import Setters
from .tunable_words import meaning

if TYPE_CHECKING:
    from .tunable_sysctls import Sysctls

POOLS = Kind("hugepages", ("hugeadm",), (("cmdline", ""), ("sysctl", "settings")))
MM, NODES = "/sys/kernel/mm/hugepages", "/sys/devices/system/node"
_SIZE = regex(r"([0-9]{1,12})([kKmMgG]?)")
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
    """What hugepages= asks for, by page size and node; node "" is all of them."""
    asked: dict[tuple[str, str], list[Setter]] = {}
    size, taken = default_size(found), set[str]()
    for name, word in found.words.ordered:
        if name == "hugepagesz":
            size = size_name(word.value or "")
        elif name == "hugepages" and size not in taken:
            taken.add(size)
            for node, _, count in (part.rpartition(":") for part in (word.value or "").split(",")):
                asked.setdefault((size, node), []).append(meaning(word, count))
    return asked


def hugepages(found: Setters, sysctls: Sysctls) -> Iterator[Tunable]:
    """A tunable for each pool, its overcommit, and its share of each node."""
    facts, table = Facts(found, POOLS), found.table("memory")
    default, asked = default_size(found), pool_words(found)
    for size in table.get("hugepages", {}):
        own, path = f"{MM}/hugepages-{size}", ("memory", "hugepages", size)
        whole = sysctls.of("vm.nr_hugepages") if size == default else asked.get((size, ""), [])
        over = sysctls.of("vm.nr_overcommit_hugepages") if size == default else []
        pages, more = f"{own}/nr_hugepages", f"{own}/nr_overcommit_hugepages"
        yield from _short(facts.one("nr_hugepages", (*path, "pages"), pages, subject=size, setters=whole))
        yield from facts.one("nr_overcommit_hugepages", (*path, "overcommit"), more, subject=size, setters=over)
        spread = [replace(setter, value=None) for setter in (*whole, *found.file(pages))]
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
