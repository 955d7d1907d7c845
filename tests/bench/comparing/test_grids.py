"""Tables between devices: cell by cell, by distance, when buses were renumbered, when a device is lost."""

from __future__ import annotations

import random

import pytest

from snapshot.bench.comparing.compare import compare
from snapshot.bench.comparing.comparison import GridComparison
from snapshot.sections.bench import Grid

from .made import GPUS, NAN, bench, grid, nodes, table


def one(before: Grid, after: Grid, moved: dict[str, str] | None = None) -> GridComparison:
    """The only table of two sections."""
    [found] = compare(bench(before), bench(after), apart=nodes, moved=moved).grids
    return found


def groups(found: GridComparison) -> dict[str, tuple[str, int]]:
    return {group.name: (group.effect.verdict, len(group.worse)) for group in found.groups}


def test_groups_are_judged_by_how_far_apart_devices_are() -> None:
    found = one(grid(table(50, 37)), grid(table(50.2, 21)))
    assert groups(found) == {"same NUMA node": ("same", 0), "across NUMA nodes": ("worse", 8)}
    assert (found.effect.verdict, len(found.cells)) == ("worse", 12)
    assert found.effect.percent == pytest.approx(-43.2, abs=0.1)
    assert found.effect.why == "across NUMA nodes: 1 sample each, noise band 5 %; 8 of 12 cells worse"


def test_one_slow_pair_is_seen_though_the_middle_stays() -> None:
    found = one(grid(table(50, 37)), grid(table(50, 37, slow=(0, 2))))
    assert groups(found) == {"same NUMA node": ("same", 0), "across NUMA nodes": ("same", 1)}
    assert found.effect.verdict == "worse"
    [group] = [group for group in found.groups if group.worse]
    assert group.worse == [(GPUS[0], GPUS[2])]


def test_without_distances_all_cells_are_one_group() -> None:
    [found] = compare(bench(grid(table(50, 37))), bench(grid(table(25, 18)))).grids
    assert groups(found) == {"all": ("worse", 12)}


def test_the_diagonal_is_a_group_of_its_own() -> None:
    cells = [[800.0, 50.0], [50.0, 800.0]]
    found = one(grid(cells, names=GPUS[:2]), grid(cells, names=GPUS[:2]))
    assert {group.name: len(group.cells) for group in found.groups} == {"same device": 2, "same NUMA node": 2}


def test_cells_that_move_apart_by_themselves_are_no_slow_pairs() -> None:
    """Latencies of 8 devices that each moved by some percent: the noise of the cells is what they show."""
    draw, alarms, runs = random.Random(1), 0, 300
    names = [f"0000:{at:02x}:00.0" for at in range(1, 9)]
    for _ in range(runs):
        sides = [table(1, 1, size=8) for _ in range(2)]
        noisy = [[[cell * draw.gauss(1.3, 0.1) for cell in row] for row in side] for side in sides]
        made = (grid(side, names=names, kind="p2p-latency", better="lower") for side in noisy)
        [found] = compare(*map(bench, made)).grids
        alarms += found.effect.verdict in ("worse", "better")
    print(f"{100 * alarms / runs} % of tables with a false alarm")
    assert alarms / runs <= 0.05 + 0.02


def test_with_runs_enough_cells_are_tested_and_corrected_for_together() -> None:
    draw = random.Random(2)

    def runs(factor: float) -> Grid:
        tables = [table(50, 37) for _ in range(8)]
        for cells in tables:
            cells[0][1] *= factor * draw.uniform(0.99, 1.01)
            cells[1][0] *= draw.uniform(0.99, 1.01)
        return grid(*tables)

    found = one(runs(1), runs(0.9))
    slow = found.cells[GPUS[0], GPUS[1]]
    assert (slow.basis, slow.verdict) == ("rank test", "worse")
    assert slow.p_adjusted == pytest.approx(12 * (slow.p or 0))


def test_cells_follow_devices_that_have_another_address() -> None:
    moved = ["0000:02:00.0", *GPUS[1:]]
    found = one(grid(table(50, 37, slow=(0, 1))), grid(table(50, 37, slow=(0, 1)), names=moved),
                moved={moved[0]: GPUS[0]})
    assert found.effect.verdict == "same"
    assert (moved[0], GPUS[1]) in found.cells


def test_a_device_that_took_the_address_of_a_lost_one_is_not_taken_for_it() -> None:
    """The first one is gone, and the second one has its address."""
    found = one(grid(table(40, 40, slow=(0, 2))), grid(table(40, 40), names=[GPUS[0], *GPUS[2:], "0000:c1:00.0"]),
                moved={GPUS[0]: GPUS[1]})
    assert found.effect.verdict == "failed"
    assert found.cells[GPUS[0], GPUS[2]].percent == 0


def test_a_lost_device_is_not_the_same() -> None:
    found = one(grid(table(50, 37)), grid([row[:3] for row in table(50, 37)[:3]], names=GPUS[:3]))
    assert (found.effect.verdict, len(found.cells)) == ("failed", 6)
    assert found.effect.why.endswith("6 cells without a value now")


def test_tables_of_other_devices_cannot_be_compared() -> None:
    found = one(grid(table(50, 37)), grid(table(50, 37), names=["a", "b", "c", "d"]))
    assert (found.effect.verdict, found.effect.why) == (
        "not-comparable", "there is no cell that has a value on both sides")


@pytest.mark.parametrize(("after", "said"), [
    (grid(status="waived", names=()), "failed"), (grid(table(NAN, NAN)), "failed"),
    (grid(table(50, 37), unit="GiB/s"), "not-comparable"),
])
def test_a_table_without_cells_or_in_another_unit(after: Grid, said: str) -> None:
    found = one(grid(table(50, 37)), after)
    assert found.effect.verdict == said
    assert not found.cells


def test_a_table_that_only_one_side_has() -> None:
    [gone] = compare(bench(grid(table(50, 37))), bench()).grids
    [new] = compare(bench(), bench(grid(table(50, 37)))).grids
    assert (gone.effect.verdict, new.effect.verdict) == ("vanished", "added")


def test_256_devices_take_no_minute() -> None:
    names = [f"gpu{at}" for at in range(128)]
    cells = [[NAN if x == y else 50.0 + (x * y) % 3 for x in range(128)] for y in range(128)]
    found = compare(bench(grid(cells, names=names)), bench(grid(cells, names=names))).grids[0]
    assert found.effect.verdict == "same"
