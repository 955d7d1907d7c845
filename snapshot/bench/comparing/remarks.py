"""What is to be said beside the numbers: peer-to-peer, other tools, other devices, limits that do not hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...sections.bench import Measured
from .comparison import Comparison, GridComparison
from .peers import Peers

UUID = ("GPU-", "MIG-")


def remarks(
    comparisons: Sequence[Comparison], grids: Sequence[GridComparison], before: Sequence[Peers], after: Sequence[Peers]
) -> list[str]:
    """One line each."""
    both: list[Comparison | GridComparison] = [*comparisons, *grids]
    return [*_peers({one.tool: one for one in before}, after), *_versions(both), *_devices(both), *_passed(comparisons)]


def _peers(before: Mapping[str, Peers], after: Sequence[Peers]) -> Iterator[str]:
    for one in after:
        if one.without:
            count = f", {len(one.without)} of {len(one.pairs)} pairs" if len(one.without) < len(one.pairs) else ""
            yield f"{one.tool}: P2P is not in effect between {one.where}{count}{_was(before.get(one.tool), one)}."


def _was(before: Peers | None, after: Peers) -> str:
    if before is None:
        return ", enabled being as good as disabled"
    lost = [pair for pair in after.without if before.pairs.get(pair)]
    if len(lost) == len(after.without):
        return "; it was before"
    return f"; of {len(lost)} of them it was before" if lost else ", as before"


def _versions(both: Sequence[Comparison | GridComparison]) -> Iterator[str]:
    """Tools of which either side has another version: the difference may be theirs."""
    found = dict.fromkeys(
        (one.before.source.tool, one.before.source.version, one.after.source.version) for one in both
        if one.before and one.after and one.before.source.version != one.after.source.version)
    for tool, old, new in found:
        yield f"{tool}: version {old or 'not known'} before and {new or 'not known'} after, which may itself differ."


def _devices(both: Sequence[Comparison | GridComparison]) -> Iterator[str]:
    """Tools that ran on other GPUs than before, by UUID: addresses move."""
    tools = dict.fromkeys(one.after.source.tool for one in both if one.before and one.after
                          and (old := _uuids(one.before)) and (new := _uuids(one.after)) and old != new)
    yield from (f"{tool}: it ran on other GPUs than before." for tool in tools)


def _uuids(measured: Measured) -> list[str]:
    """The devices, if all are UUIDs."""
    devices = measured.devices or []
    return devices if all(device.startswith(UUID) for device in devices) else []


def _passed(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Limits that a measurement passes."""
    for one in comparisons:
        shares = (one.limit.before_percent, one.limit.after_percent) if one.limit else ()
        if one.limit and any(share is not None and share > 100 for share in shares):
            yield (f"{one.measured.source.tool} {one.measured.metric} passes its declared limit of {one.limit.value:g}"
                   f" {one.limit.unit}: that does not hold for this workload.")
