"""Sysctls that a file sets and that this kernel has at another place, or no more: from sections sysctl and kernel.

Linux 5.13 took the scheduler's tunables from /proc/sys/kernel to /sys/kernel/debug/sched ("sched: Move SCHED_DEBUG
sysctl to debugfs"); Linux 6.6 took some away there ("sched: Commit to EEVDF") and has base_slice_ns instead of
min_granularity_ns ("sched/debug: Rename sysctl_sched_min_granularity to sysctl_sched_base_slice"). Patched kernels may
keep the sysctls: only one that is not there counts. debugfs itself is not read.

Row keys, by the sysctl's name; a key without a value is missing:
    name, value      what the line asks for
    vain             the kernel has no such sysctl: the line sets nothing
    place            then, the file where the tunable is now
    line             {file, line, text} that asks for it; file: its file
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Snapshot

DEBUGFS, MOVED, EEVDF = "/sys/kernel/debug/sched", (5, 13), (6, 6)
PLACES = {
    "kernel.sched_latency_ns": "latency_ns", "kernel.sched_min_granularity_ns": "min_granularity_ns",
    "kernel.sched_wakeup_granularity_ns": "wakeup_granularity_ns",
    "kernel.sched_migration_cost_ns": "migration_cost_ns", "kernel.sched_nr_migrate": "nr_migrate",
    "kernel.sched_tunable_scaling": "tunable_scaling",
    **{f"kernel.numa_balancing_{name}": f"numa_balancing/{name}"
       for name in ("scan_delay_ms", "scan_period_min_ms", "scan_period_max_ms", "scan_size_mb")},
}
SINCE_EEVDF = {"latency_ns": None, "wakeup_granularity_ns": None, "min_granularity_ns": "base_slice_ns"}


def moved_sysctls(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each such sysctl that sysctl.d sets; BEFORE adds nothing."""
    del before
    release = re.match(r"([0-9]{1,4})\.([0-9]{1,4})", after.table("kernel").get("release") or after.meta.kernel or "")
    if not release or (int(release[1]), int(release[2])) < MOVED:
        return Derived()
    eevdf, section, found = (int(release[1]), int(release[2])) >= EEVDF, after.table("sysctl"), Derived()
    for key, setting in section.get("settings", {}).items():
        line = (setting.get("systemd") or setting.get("procps")) if key in PLACES else None
        fact = after.unread("sysctl", ("values", key)) if line and key not in section["values"] else None
        if fact:
            what = f"whether there is {key}"
            found.unknown.append({"subject": key, "what": what, "source": fact.source, "why": fact.why})
        elif line:
            found.rows[key] = _row(key, line, key not in section["values"], eevdf)
    return found


def _row(key: str, line: Mapping[str, Any], vain: bool, eevdf: bool) -> dict[str, Any]:
    place = SINCE_EEVDF.get(PLACES[key], PLACES[key]) if eevdf else PLACES[key]
    origin = line["origin"]
    row = {"name": key, "value": line["value"], "vain": vain, "line": origin, "file": origin["file"]}
    return row | ({"place": f"{DEBUGFS}/{place}"} if vain and place else {})
