"""The deepest idle state that each CPU may enter, now and before: from sections cpuidle and cmdline.

Documentation/admin-guide/pm/cpuidle.rst, kernel-parameters.txt. A state that the driver does not offer cannot be
entered, as if it were switched off: C2 that was switched off, and no C2 at all after processor.max_cstate=1, are
equal. So are cpuidle.off=1 (no states) and idle=poll, which leaves the states listed, enabled and never used: idle
CPUs spin. Another driver names its states otherwise, so depth is the time to leave a state.

Row keys, by CPU list; a key without a value is missing:
    state, latency_us       the deepest state that is enabled now, and the time to leave it, microseconds
    state_before, latency_before_us
    cpu                     the one CPU of the list; missing of several
    was_off                 this very state was there before, and switched off
    now, durable            commands that switch it off, where it is deeper than before
    unknown                 {latency_before_us, state_before: {source, why}} when before could not be read
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...sections.base import expand, format_cpus
from ..actions.boot_unit import install
from ..facts import Derived
from .tunable_cpuidle import numbers

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

SPINS = ("POLL", 0)
JUDGED = ("state_before", "latency_before_us")
Depth = tuple[str, int]
States = Mapping[str, Mapping[str, Any]]


def idle_depths(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for CPUs alike on both sides; unknown where the states of AFTER were not read."""
    if fact := _unread(after):
        return Derived({}, [{"subject": "", "what": "idle states", "source": fact.source, "why": fact.why}])
    lost = _unread(before) if before else None
    now, states = _depths(after), _states(after)
    then = _depths(before) if before else {}
    off = _off(before) if before else {}
    groups: dict[tuple[Depth, Depth | None, bool], list[int]] = {}
    for cpu, depth in now.items():
        old = then.get(cpu, None if then else SPINS) if before and not lost else None
        groups.setdefault((depth, old, cpu in off.get(depth[0], ())), []).append(cpu)
    rows = {}
    for (depth, old, was_off), cpus in groups.items():
        row: dict[str, Any] = {"state": depth[0], "latency_us": depth[1]} | ({"cpu": cpus[0]} if len(cpus) == 1 else {})
        if old:
            row |= {"state_before": old[0], "latency_before_us": old[1], "was_off": was_off}
            deeper = was_off or depth[1] > old[1]
            row |= _remedy(format_cpus(cpus), numbers(states).get(depth[0]), depth[1]) if deeper else {}
        if lost:
            row["unknown"] = {key: {"source": lost.source, "why": lost.why} for key in JUDGED}
        rows[format_cpus(cpus)] = row
    return Derived(rows)


def _remedy(cpus: str, number: int | None, latency: int) -> dict[str, list[str]]:
    """Commands that switch a state off: by its number, else all that take as long."""
    command = f"cpupower --cpu {cpus} idle-set {f'-D {latency}' if number is None else f'-d {number}'}"
    after = "systemd-modules-load.service"
    return {"now": [command], "durable": install("hostsnap-cpuidle", "CPU idle states", [f"/usr/bin/{command}"], after)}


def _states(snapshot: Snapshot) -> States:
    found: States = snapshot.table("cpuidle").get("states", {})
    return found


def _unread(snapshot: Snapshot) -> UnreadFact | None:
    """Why something of the states, or of the command line, is unknown."""
    paths: list[tuple[str, ...]] = [("states",), *(("states", name, key) for name in _states(snapshot)
                                                   for key in ("disabled", "latency_us"))]  # also if of some CPUs only
    own = next((fact for path in paths if (fact := snapshot.unread("cpuidle", path))), None)
    return own or (snapshot.unread("cmdline", ()) if _states(snapshot) else None)


def _depths(snapshot: Snapshot) -> dict[int, Depth]:
    """The deepest enabled state of each CPU that has any."""
    spins = snapshot.table("cmdline").get("parameters", {}).get("idle", [None])[-1] == "poll"
    found: dict[int, Depth] = {}
    for name, state in _states(snapshot).items():
        latency = state.get("latency_us")
        for cpu, disabled in expand(state.get("disabled", {}), bool).items():
            deepest = found.setdefault(cpu, SPINS)
            if not disabled and not spins and latency is not None and latency > deepest[1]:
                found[cpu] = (name, latency)
    return found


def _off(snapshot: Snapshot) -> dict[str, set[int]]:
    """State -> CPUs on which it was switched off."""
    return {name: {cpu for cpu, disabled in expand(state.get("disabled", {}), bool).items() if disabled}
            for name, state in _states(snapshot).items()}
