"""Bench sections for the tests of comparing: few words for what differs, the rest as a server's benchmark has it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from snapshot.bench.merging import identifier
from snapshot.sections.bench import Bench, Grid, Measurement, Source

NAN = math.nan
GPUS = ["0000:01:00.0", "0000:21:00.0", "0000:81:00.0", "0000:a1:00.0"]


def measurement(*samples: float, **more: Any) -> Measurement:
    """Tokens a second at concurrency 1, one value a run."""
    plain: dict[str, Any] = {
        "metric": "output_throughput", "unit": "tok/s", "better": "higher", "kind": "serving-low", "primary": True,
        "workload": {"concurrency": "1"}, "status": "ok", "source": Source(tool="sglang", format="json"),
    }
    return Measurement(**plain | more, samples=[*samples])


def grid(*tables: Sequence[Sequence[float]], names: Sequence[str] = GPUS, **more: Any) -> Grid:
    """Bandwidth between GPUS with P2P enabled, one table a run."""
    plain: dict[str, Any] = {
        "metric": "p2p_bandwidth", "unit": "GB/s", "better": "higher", "kind": "p2p-bandwidth", "primary": True,
        "workload": {"p2p": "enabled"}, "status": "ok",
        "source": Source(tool="p2pBandwidthLatencyTest", format="text"),
    }
    samples = [[[*row] for row in table] for table in tables]
    return Grid(**plain | more, rows=[*names], columns=[*names], samples=samples)


def table(near: float, far: float, *, size: int = 4, slow: tuple[int, int] | None = None) -> list[list[float]]:
    """Cells of two NUMA nodes with half of SIZE devices each; the pair SLOW has a quarter."""
    half = size // 2
    rows = [[near if x // half == y // half else far for x in range(size)] for y in range(size)]
    for at in range(size):
        rows[at][at] = NAN
    if slow:
        rows[slow[0]][slow[1]] /= 4
    return rows


def bench(*measured: Measurement | Grid) -> Bench:
    """The section that holds them, by their ids."""
    ids = {identifier(one.source.tool, one.metric, one.workload): one for one in measured}
    return Bench(measurements={id_: one for id_, one in ids.items() if isinstance(one, Measurement)},
                 grids={id_: one for id_, one in ids.items() if isinstance(one, Grid)} or None)


def nodes(one: str, other: str) -> str:
    """Which are how far apart, of GPUS."""
    near = {*GPUS[:2]}
    return "same NUMA node" if (one in near) == (other in near) else "across NUMA nodes"
