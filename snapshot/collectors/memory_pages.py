"""Transparent huge pages and KSM, from /sys/kernel/mm.

Documentation/admin-guide/mm/transhuge.rst, ksm.rst. A choice has its word in brackets: ``always [madvise] never``.
Statistics stand beside the settings and are left out, by name: what is unknown here is not recorded.
"""

from __future__ import annotations

from ..sections.memory import Ksm, Thp, ThpSize
from .attributes import integer, marked
from .base import Reading
from .kernel_values import parse_switch, value

MM = "/sys/kernel/mm"
THP, KSM = f"{MM}/transparent_hugepage", f"{MM}/ksm"
_KHUGEPAGED = (
    "alloc_sleep_millisecs", "defrag", "max_ptes_none", "max_ptes_shared", "max_ptes_swap", "pages_to_scan",
    "scan_sleep_millisecs",
)
_KSM = (
    "run", "pages_to_scan", "sleep_millisecs", "merge_across_nodes", "use_zero_pages", "max_page_sharing", "smart_scan",
    "advisor_mode",
)
THP_PATHS = (
    THP, *(f"{THP}/{name}" for name in (
        "enabled", "defrag", "shmem_enabled", "use_zero_page", "hugepages-*/enabled", "hugepages-*/shmem_enabled")),
    *(f"{THP}/khugepaged/{name}" for name in _KHUGEPAGED),
)
KSM_PATHS = tuple(f"{KSM}/{name}" for name in _KSM)


def read_thp(reading: Reading) -> Thp | None:
    """The switches; None when the kernel has no transparent huge pages."""
    names = reading.list(THP, "thp")
    if not names:
        return None
    return Thp(
        enabled=_choice(reading, "enabled", "thp", "enabled"),
        defrag=_choice(reading, "defrag", "thp", "defrag"),
        shmem_enabled=_choice(reading, "shmem_enabled", "thp", "shmem_enabled"),
        use_zero_page=value(reading, parse_switch, f"{THP}/use_zero_page", "thp", "use_zero_page"),
        khugepaged=_khugepaged(reading) or None,
        sizes={
            name[10:]: ThpSize(
                enabled=_choice(reading, f"{name}/enabled", "thp", "sizes", name[10:], "enabled"),
                shmem_enabled=_choice(reading, f"{name}/shmem_enabled", "thp", "sizes", name[10:], "shmem_enabled"),
            )
            for name in names if name.startswith("hugepages-")
        } or None,
    )


def _choice(reading: Reading, name: str, *fact: str) -> str | None:
    return value(reading, marked, f"{THP}/{name}", *fact)


def _khugepaged(reading: Reading) -> dict[str, int]:
    found = {name: value(reading, integer, f"{THP}/khugepaged/{name}", "thp", "khugepaged", name)
             for name in _KHUGEPAGED}
    return {name: number for name, number in found.items() if number is not None}


def read_ksm(reading: Reading) -> Ksm | None:
    """The settings; None when the kernel has no KSM."""
    def number(name: str) -> int | None:
        return value(reading, integer, f"{KSM}/{name}", "ksm", name)

    def switch(name: str) -> bool | None:
        return value(reading, parse_switch, f"{KSM}/{name}", "ksm", name)

    found = Ksm(
        run=number("run"), pages_to_scan=number("pages_to_scan"), sleep_millisecs=number("sleep_millisecs"),
        merge_across_nodes=switch("merge_across_nodes"), use_zero_pages=switch("use_zero_pages"),
        max_page_sharing=number("max_page_sharing"), smart_scan=switch("smart_scan"),
        advisor_mode=value(reading, marked, f"{KSM}/advisor_mode", "ksm", "advisor_mode"),
    )
    return found if found.table() else None
