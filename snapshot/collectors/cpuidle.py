"""Idle states, from /sys/devices/system/cpu/cpuidle and cpu*/cpuidle.

Documentation/admin-guide/pm/cpuidle.rst; drivers/cpuidle/sysfs.c.

What a state is belongs to the driver and is read of one CPU of those with the same driver and states; ``disable`` is
each CPU's own. The directory of a CPU that was taken offline stays: only online ones are asked. cpuidle.off=1 leaves no
cpuidle directory at all; with idle=poll everything is listed and never used. ``current_governor_ro`` is all that older
kernels have. Counters (usage, time, above, below, rejected) are left out.

max_cstate of the modules processor and intel_idle echoes the command line, whichever driver runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..errors import AbsentError
from ..records import record, replace
from ..sections.base import collapse
from ..sections.cpuidle import Cpuidle, State
from .attributes import integer
from .base import Reading, Reads
from .kernel_values import CPU, CPU_PATHS, each_cpu, online, parse_switch, parse_word, parse_words, value

IDLE = f"{CPU}/cpuidle"
_OF_CPU = f"{CPU}/cpu*/cpuidle"
_PROCESSOR = "/sys/module/processor/parameters/max_cstate"
_INTEL_IDLE = "/sys/module/intel_idle/parameters/max_cstate"
READS = Reads(
    paths=(
        *(f"{_OF_CPU}/state*/{name}" for name in ("disable", "name", "desc", "latency", "residency", "default_status")),
        *CPU_PATHS, _OF_CPU, f"{_OF_CPU}/driver/name",
        *(f"{IDLE}/{name}" for name in (
            "current_driver", "current_governor", "current_governor_ro", "available_governors")),
        _PROCESSOR, _INTEL_IDLE,
    ),
    root="the limits processor.max_cstate and intel_idle.max_cstate as the kernel took them",
)


@record(frozen=True)
class Kind:
    """What the driver says of a state; TWIN tells equal ones of one CPU apart."""

    name: str
    description: str | None
    latency_us: int | None
    residency_us: int | None
    enabled_at_start: bool | None
    twin: int = 0


def collect(reading: Reading) -> Cpuidle:
    """The section. AbsentError when the kernel shows its CPUs and no cpuidle."""
    cpus = online(reading)
    if cpus and "cpuidle" not in (reading.list(CPU) or ["cpuidle"]):
        raise AbsentError(f"{CPU} has no cpuidle: switched off, or the kernel was built without")
    governor = value(reading, parse_word, f"{IDLE}/current_governor", "governor")
    return Cpuidle(
        driver=value(reading, parse_word, f"{IDLE}/current_driver", "driver"),
        governor=governor or value(reading, parse_word, f"{IDLE}/current_governor_ro", "governor"),
        governors=value(reading, parse_words, f"{IDLE}/available_governors", "governors"),
        states=_states(reading, cpus) if cpus else None,
        processor_max_cstate=value(reading, integer, _PROCESSOR, "processor_max_cstate"),
        intel_idle_max_cstate=value(reading, integer, _INTEL_IDLE, "intel_idle_max_cstate"),
    )


def _states(reading: Reading, cpus: list[int]) -> dict[str, State]:
    found: dict[Kind, dict[int, bool]] = {}
    for names, members in _alike(reading, cpus).items():
        for folder, kind in _kinds(reading, members[0], names):
            paths = {cpu: f"{CPU}/cpu{cpu}/cpuidle/{folder}/disable" for cpu in members}
            disabled = each_cpu(reading, paths, parse_switch, "states")
            found.setdefault(kind, {}).update(disabled)
    return {
        key: State(
            description=kind.description, latency_us=kind.latency_us, residency_us=kind.residency_us,
            enabled_at_start=kind.enabled_at_start, disabled=collapse(found[kind]) or None,
        )
        for key, kind in keys(found).items()
    }


def _alike(reading: Reading, cpus: list[int]) -> dict[tuple[str, ...], list[int]]:
    """The CPUs by the names in their cpuidle, and the driver's where each has its own."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for cpu in cpus:
        names = reading.list(f"{CPU}/cpu{cpu}/cpuidle", "states")
        if "driver" in names:
            names.append(reading.text(f"{CPU}/cpu{cpu}/cpuidle/driver/name", "states") or "")
        groups.setdefault(tuple(names), []).append(cpu)
    return groups


def _kinds(reading: Reading, cpu: int, names: Iterable[str]) -> Iterator[tuple[str, Kind]]:
    """Folder and kind of each state of a CPU."""
    met: dict[Kind, int] = {}
    for folder in (name for name in names if name.startswith("state")):
        path = f"{CPU}/cpu{cpu}/cpuidle/{folder}"
        name = value(reading, parse_word, f"{path}/name", "states")
        if name is None:
            reading.settle(False, f"{path}/name", "ENOENT", "states")
            continue
        kind = Kind(  # the key of a state is known when all are: until then an unread file is of any of them
            name,
            value(reading, parse_word, f"{path}/desc", "states"),
            value(reading, integer, f"{path}/latency", "states"),
            value(reading, integer, f"{path}/residency", "states"),
            value(reading, parse_switch, f"{path}/default_status", "states"),
        )
        met[kind] = met.get(kind, -1) + 1
        yield folder, replace(kind, twin=met[kind])


def keys(kinds: Iterable[Kind]) -> Mapping[str, Kind]:
    """The kinds by name; those of one name by name and latency, and by number where that is not enough."""
    found: dict[str, Kind] = {}
    listed = list(kinds)
    for kind in listed:
        same = [other for other in listed if other.name == kind.name]
        key = kind.name if len(same) == 1 else f"{kind.name}, {kind.latency_us} us"
        number = 1
        while (numbered := key if number == 1 else f"{key}, {number}") in found:
            number += 1
        found[numbered] = kind
    return found
