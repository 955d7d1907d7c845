"""What the snapshots of a host tell of one measurement, and of what changed between them that is known to matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...document import Snapshot
from ...sections.bench import Bench, Measurement
from ..comparing.naming import by_workload
from .history import History, Moment

Named = tuple[str, Snapshot]


def histories(snapshots: Sequence[Named]) -> dict[str, History]:
    """By the measurement's id, of snapshots from the oldest to the newest; those that lack it are left out."""
    benches = [(name, snapshot, found) for name, snapshot in snapshots
               if isinstance(found := snapshot.section("bench"), Bench)]
    every = {identifier: one for _, _, bench in benches for identifier, one in bench.measurements.items()}
    ids = sorted(every, key=lambda one: (every[one].source.tool, every[one].metric, by_workload(every[one].workload)))
    return {one: _history([(name, snapshot, bench.measurements[one]) for name, snapshot, bench in benches
                           if one in bench.measurements]) for one in ids}


def _history(found: Sequence[tuple[str, Snapshot, Measurement]]) -> History:
    last = found[-1][2]
    befores = [None, *(snapshot for _, snapshot, _ in found)]
    moments = [
        Moment(name=name, samples=one.samples if one.unit == last.unit else [],
               changes=[*_changes(before, snapshot)] if before else [])
        for before, (name, snapshot, one) in zip(befores, found, strict=False)]
    return History(tool=last.source.tool, metric=last.metric, unit=last.unit, better=last.better,
                   workload=last.workload, primary=bool(last.primary), moments=moments)


def _changes(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Kernel, driver, firmware and command line, in words. What a side does not tell is no change."""
    places = {"NVIDIA driver": ("nvidia", "driver", "version"), "firmware": ("firmware", "bios", "version")}
    sides = {what: (_fact(before, place), _fact(after, place)) for what, place in places.items()}
    for what, (old, new) in {"kernel": (before.meta.kernel, after.meta.kernel), **sides}.items():
        if old and new and old != new:
            yield f"{what} {old} -> {new}"
    olds, news = (side.table("cmdline").get("tokens") for side in (before, after))
    if olds is not None and news is not None:
        gone = [f"-{token}" for token in olds if token not in news and _says(token)]
        come = [f"+{token}" for token in news if token not in olds and _says(token)]
        if gone or come:
            yield "command line " + " ".join((*gone, *come))


def _says(token: str) -> bool:
    """Whether a word of the command line is more than the name of the kernel that was booted."""
    return not token.startswith(("BOOT_IMAGE=", "initrd="))


def _fact(snapshot: Snapshot, place: Sequence[str]) -> str | None:
    value: Any = snapshot.table(place[0])
    for key in place[1:]:
        value = value.get(key, {})
    return value if isinstance(value, str) else None
