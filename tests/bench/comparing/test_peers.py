"""Whether peer-to-peer is in effect, by tables measured with and without."""

from __future__ import annotations

import pytest

from snapshot.bench.comparing.compare import compare
from snapshot.bench.comparing.peers import peers
from snapshot.sections.bench import Bench, Grid

from .made import GPUS, bench, grid, table


def latency(near: float, p2p: str) -> Grid:
    return grid(table(near, near), metric="p2p_latency", unit="us", better="lower", kind="p2p-latency",
                workload={"p2p": p2p})


def bandwidth(near: float, far: float, p2p: str, **more: str) -> Grid:
    return grid(table(near, far), workload={"p2p": p2p, **more})


def without(section: Bench) -> list[int]:
    return [len(one.without) for one in peers(section.grids or {})]


@pytest.mark.parametrize(("grids", "expected"), [
    ([bandwidth(50, 37, "enabled"), bandwidth(22, 21, "disabled")], [0]),
    ([bandwidth(22.4, 21.2, "enabled"), bandwidth(22.2, 21.1, "disabled")], [6]),
    ([bandwidth(50, 21, "enabled"), bandwidth(22, 21, "disabled")], [4]),  # only within a node
    ([latency(1.3, "enabled"), latency(13.8, "disabled")], [0]),
    ([latency(11.0, "enabled"), latency(13.8, "disabled")], [6]),  # the detour's latency is unstable
    ([bandwidth(22, 22, "enabled"), bandwidth(22, 22, "disabled"), latency(1.3, "enabled"), latency(13, "disabled")],
     [0]),  # the bandwidth of the link is what limits both
    ([bandwidth(22, 22, "enabled", copies="writes"), bandwidth(22, 22, "disabled")], [6]),
    ([bandwidth(22, 22, "enabled", ways="unidirectional"), bandwidth(44, 44, "disabled", ways="bidirectional")], []),
    ([bandwidth(22, 22, "enabled")], []),
])
def test_enabled_that_is_as_good_as_disabled_is_not_in_effect(grids: list[Grid], expected: list[int]) -> None:
    assert without(bench(*grids)) == expected


def test_which_pairs_and_since_when_is_said() -> None:
    works = bench(bandwidth(50, 37, "enabled"), bandwidth(22, 21, "disabled"))
    none = bench(bandwidth(22, 21, "enabled"), bandwidth(22, 21, "disabled"))
    near = bench(bandwidth(22, 37, "enabled"), bandwidth(22, 21, "disabled"))
    tool = "p2pBandwidthLatencyTest: P2P is not in effect between"
    assert compare(works, works).remarks == []
    assert compare(works, none).remarks == [f"{tool} any two devices; it was before."]
    assert compare(none, none).remarks == [f"{tool} any two devices, as before."]
    assert compare(bench(), none).remarks == [f"{tool} any two devices, enabled being as good as disabled."]
    named = f"{GPUS[0]} and {GPUS[1]}, {GPUS[2]} and {GPUS[3]}, 2 of 6 pairs"
    assert compare(works, near).remarks == [f"{tool} {named}; it was before."]
    far = bench(bandwidth(50, 21, "enabled"), bandwidth(22, 21, "disabled"))
    assert compare(works, far).remarks[0].endswith(" and 1 more pair, 4 of 6 pairs; it was before.")
    assert compare(near, none).remarks == [f"{tool} any two devices; of 4 of them it was before."]
