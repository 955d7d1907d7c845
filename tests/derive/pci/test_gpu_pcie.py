from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.facts import Derived
from snapshot.derive.pci.gpu_pcie import gpu_pcie

from ...pairs import snapshot
from ..machines import GPU1, ROOT, function, gpu

MIB, GIB = 1 << 20, 1 << 30
SIZES = [64 * MIB, 256 * MIB, 16 * GIB, 128 * GIB]


def pci(size: int | None = 256 * MIB, bar: str = "1", offered: list[int] | None = SIZES, **more: Any) -> dict[str, Any]:
    bars = {bar: {"size_bytes": size, "kind": "memory"}} if size else {}
    resizable = {bar: {"size_bytes": size, "supported_bytes": offered}} if size and offered else {}
    one = gpu([ROOT], bars=bars, resizable_bars=resizable, **more)
    return {"functions": {ROOT: function("root port", []), GPU1: one}}


def nvidia(memory: int | None = 96 * GIB, **state: Any) -> dict[str, Any]:
    told = {"memory_bytes": memory} if memory else {}
    return {"gpus": {"GPU-1": {"uuid": "GPU-1", "address": GPU1, "answers": True, "state": told | state}}}


def of(functions: dict[str, Any], before: dict[str, Any] | None = None, **sections: Any) -> Derived:
    return gpu_pcie(snapshot({"pci": functions, **sections}), snapshot({"pci": before}) if before else None)


@pytest.mark.parametrize(
    ("size", "offered", "memory", "small"),
    [
        (256 * MIB, SIZES, 96 * GIB, True),
        (128 * GIB, SIZES, 96 * GIB, False),
        (16 * GIB, [16 * GIB, 32 * GIB], 12 * GIB, False),
        (256 * MIB, None, 15 * GIB, False),
        (256 * MIB, [64 * MIB, 256 * MIB], 15 * GIB, False),
        (256 * MIB, SIZES, None, True),
        (16 * GIB, SIZES, None, False),
    ],
    ids=["rebar off", "rebar on", "shows all memory", "cannot resize", "offers no more", "no driver", "large"],
)
def test_small_is_less_than_the_memory_though_more_is_offered(
    size: int, offered: list[int] | None, memory: int | None, small: bool
) -> None:
    found = of(pci(size, offered=offered), nvidia=nvidia(memory))
    assert found.rows[GPU1]["small"] is small and not found.unknown


@pytest.mark.parametrize(("vendor", "bar"), [("1002", "0"), ("8086", "2"), ("10de", "1")])
def test_each_vendor_has_its_bar(vendor: str, bar: str) -> None:
    row = of(pci(bar=bar, vendor=vendor)).rows[GPU1]
    assert (row["bar"], row["bar_bytes"], row["offered_bytes"]) == (bar, 256 * MIB, 128 * GIB)


def test_amd_tells_its_memory_in_its_own_section() -> None:
    amd = {"gpus": {GPU1: {"address": GPU1, "vram_bytes": 192 * GIB}}}
    row = of(pci(256 * GIB, "0", None, vendor="1002"), amdgpu=amd).rows[GPU1]
    assert row["memory_bytes"] == 192 * GIB and not row["small"]


def test_smaller_than_before_even_of_a_gpu_that_cannot_resize() -> None:
    row = of(pci(256 * MIB, offered=None), pci(128 * GIB, offered=None)).rows[GPU1]
    assert row["shrunk"] and row["before_bytes"] == 128 * GIB
    assert "shrunk" not in of(pci()).rows[GPU1]


def test_what_it_offers_is_unknown_without_root_unless_the_window_shows_all() -> None:
    unread = {"pci": [["functions", GPU1, "resizable_bars"]]}
    for size, rows in ((256 * MIB, set()), (128 * GIB, {GPU1})):
        found = gpu_pcie(snapshot({"pci": pci(size, offered=None), "nvidia": nvidia()}, unread=unread), None)
        assert found.rows.keys() == rows and bool(found.unknown) is not bool(rows)


def test_unknown_size_and_unknown_functions() -> None:
    one = gpu_pcie(snapshot({"pci": pci(None)}, unread={"pci": [["functions", GPU1, "bars"]]}), None)
    assert not one.rows and [gap["subject"] for gap in one.unknown] == [GPU1]
    assert not of(pci(None)).rows
    every = gpu_pcie(snapshot({"pci": {"functions": {}}}, unread={"pci": [["functions"]]}), None)
    assert [gap["subject"] for gap in every.unknown] == [""]


@pytest.mark.parametrize(
    ("state", "now", "most", "slow"),
    [("P0", 2, 5, 2), ("P0", 5, 5, None), ("P8", 1, 5, None), (None, 1, 5, None), ("P0", None, 5, None)],
)
def test_slow_at_p0_alone(state: str | None, now: int | None, most: int, slow: int | None) -> None:
    told = {key: value for key, value in {"generation": now, "max_generation": most}.items() if value}
    performance: dict[str, Any] = {"performance_state": state} if state else {}
    assert of(pci(), nvidia=nvidia(pcie=told, **performance)).rows[GPU1].get("slow_generation") == slow


def test_a_bmc_has_no_row() -> None:
    assert not of(pci(vendor="1a03")).rows
