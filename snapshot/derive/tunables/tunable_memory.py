"""Memory: transparent huge pages, KSM, the multi-generational LRU, demotion.

Documentation/admin-guide/mm/{transhuge,ksm,multigen_lru}.rst, kernel-parameters.txt. lru_gen/enabled takes a number, a
bit for each part, or y and n for all; what y means depends on the kernel's parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from .tunable import Path, Tunable, Value
from .tunable_facts import Facts, Kind
from .tunable_setters import Setters
from .tunable_values import agrees, flag, number

MM = "/sys/kernel/mm"
THP = Kind("thp", ("tuned", "tuned-adm"), (("cmdline", ""),))
KSM, OTHER = Kind("ksm", ("ksmtuned", "ksmctl")), Kind("memory")
SWITCHES = ("enabled", "defrag", "shmem_enabled", "use_zero_page")
WORDS = {"enabled": "transparent_hugepage", "shmem_enabled": "transparent_hugepage_shmem"}


def memory(found: Setters) -> Iterator[Tunable]:
    """Every tunable of section memory but pools and swap."""
    yield from _thp(Facts(found, THP))
    ksm, other = Facts(found, KSM), Facts(found, OTHER)
    for name in found.table("memory").get("ksm", {}):
        yield from ksm.one(f"ksm/{name}", ("memory", "ksm", name), f"{MM}/ksm/{name}")
    yield from other.one("lru_gen/enabled", ("memory", "lru_gen"), f"{MM}/lru_gen/enabled", same=_lru_agrees)
    yield from other.one("lru_gen/min_ttl_ms", ("memory", "lru_gen_min_ttl_ms"), f"{MM}/lru_gen/min_ttl_ms")
    yield from other.one("numa/demotion_enabled", ("memory", "numa_demotion"), f"{MM}/numa/demotion_enabled")


def _thp(facts: Facts) -> Iterator[Tunable]:
    top, thp = "transparent_hugepage", facts.found.table("memory").get("thp", {})
    names: list[tuple[str, Path]] = [(name, ("memory", "thp", name)) for name in SWITCHES]
    names += [(f"khugepaged/{name}", ("memory", "thp", "khugepaged", name)) for name in thp.get("khugepaged", {})]
    names += [(f"hugepages-{size}/{name}", ("memory", "thp", "sizes", size, name))
              for size, switches in thp.get("sizes", {}).items() for name in switches]
    for name, path in names:
        words = facts.found.words.taken(WORDS[name]) if name in WORDS else ()
        yield from facts.one(f"{top}/{name}", path, f"{MM}/{top}/{name}", setters=words)


def _lru_agrees(live: Value, written: str) -> bool | None:
    if number(written) is not None or flag(written) is None:
        return agrees(live, written)
    return number(str(live)) == 0 if flag(written) is False else None
