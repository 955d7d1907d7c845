"""Whether peer-to-peer is in effect: tables measured with it enabled, against the same with it disabled.

CUDA samples, p2pBandwidthLatencyTest: a pair without peer access falls back to a copy through host memory, so that
enabled is then as good as disabled. In effect, bandwidth differs by more than noise, or a small copy takes less than
half the time (1 to 2 us instead of some 10 to 14, as PCIe hosts show; the latency of the detour is unstable, so that
less says nothing). All directions and metrics of a tool are taken together: one that differs is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...records import record
from ...sections.bench import Grid
from ..statistics.spread import middle
from .bands import band
from .grids import Cell
from .status import finite

KEY, COPIES = "p2p", "copies"  # of the workload: enabled or disabled; reads or writes, only of what is enabled
HALF = 0.5
FEW = 3  # pairs that are named


@record(frozen=True)
class Peers:
    """Which two devices copy no faster with peer-to-peer than without, by a tool."""

    tool: str
    pairs: Mapping[Cell, bool]  # two devices, in the order of their names -> whether it is in effect

    @property
    def without(self) -> list[Cell]:
        """Those where it is not."""
        return [pair for pair, works in self.pairs.items() if not works]

    @property
    def where(self) -> str:
        """Which those are, in words, of many the first."""
        if len(self.without) == len(self.pairs):
            return "any two devices" if len(self.pairs) > 1 else "the two devices"
        named = ", ".join(" and ".join(pair) for pair in self.without[:FEW])
        more = len(self.without) - FEW
        return f"{named} and {more} more pair{'s'[: more > 1]}" if more > 0 else named


def peers(grids: Mapping[str, Grid]) -> list[Peers]:
    """What the tables of one snapshot tell, by tool; nothing of a tool that did not measure both."""
    found: dict[str, dict[Cell, bool]] = {}
    for with_, without in _twins(grids):
        pairs = found.setdefault(with_.source.tool, {})
        for cell, works in _works(with_, without, band({}, "", with_).percent).items():
            pairs[cell] = pairs.get(cell, False) or works
    return [Peers(tool, dict(sorted(pairs.items()))) for tool, pairs in sorted(found.items()) if pairs]


def _twins(grids: Mapping[str, Grid]) -> Iterable[tuple[Grid, Grid]]:
    """Tables with it enabled and disabled, all else equal."""
    disabled = {_kind(grid): grid for grid in grids.values() if grid.workload.get(KEY) == "disabled"}
    for _, grid in sorted(grids.items()):
        if grid.workload.get(KEY) == "enabled" and _kind(grid) in disabled:
            yield grid, disabled[_kind(grid)]


def _kind(grid: Grid) -> tuple[object, ...]:
    rest = sorted((key, value) for key, value in grid.workload.items() if key not in (KEY, COPIES))
    return grid.source.tool, grid.metric, grid.unit, *rest


def _works(with_: Grid, without: Grid, percent: float) -> dict[Cell, bool]:
    """Two devices -> whether any of both directions shows a gain."""
    one, other, found = with_.cells(), without.cells(), dict[Cell, bool]()
    for cell in one:
        now, base = finite(one[cell]), finite(other.get(cell, ()))
        if cell[0] != cell[1] and now and base:
            pair = (min(cell), max(cell))
            found[pair] = found.get(pair, False) or _gains(with_, middle(now), middle(base), percent)
    return found


def _gains(grid: Grid, now: float, base: float, percent: float) -> bool:
    return now < HALF * base if grid.better == "lower" else now > base * (1 + percent / 100)

