"""The rows of benchmarks, which rules read: of a pair, of one snapshot, of groups and single pairs of devices."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from snapshot.derive import derived
from snapshot.derive.bench.benchmarks import benchmarks, compared, p2p_effect
from snapshot.document import Snapshot
from snapshot.sections.bench import Bench
from tests.bench.comparing.made import GPUS, bench, grid, measurement, table

from ..made import snapshot


def taken(section: Bench | None, **more: Any) -> Snapshot:
    return snapshot(**more) if section is None else snapshot(bench=section.table(), **more)


def rows(before: Bench, after: Bench, **more: Any) -> dict[str, dict[str, Any]]:
    return benchmarks(taken(after), taken(before), **more).rows


def test_the_row_of_a_metric() -> None:
    [row] = rows(bench(measurement(10.3)), bench(measurement(8.1))).values()
    assert row == {
        "what": "sglang output_throughput, concurrency 1", "short": "output_throughput concurrency 1",
        "tool": "sglang", "metric": "output_throughput",
        "unit": "tok/s", "kind": "serving-low", "primary": True, "troubled": False, "verdict": "worse",
        "why": "1 sample each, noise band 5 %", "was": "10.30", "now": "8.10", "by": "21 %", "measured_after": True,
        "valued_before": True,
    }


def test_settings_reach_the_rows() -> None:
    sides = bench(measurement(10.3)), bench(measurement(8.1))
    [row] = rows(*sides, noise={"output_throughput": 30}).values()
    assert (row["verdict"], row["why"]) == ("same", "1 sample each, noise band 30 %")


def test_what_was_not_measured_after_has_no_trouble_there() -> None:
    [row] = rows(bench(measurement(status="failed", failed=1)), bench()).values()
    assert row["verdict"] == "vanished"
    assert row["measured_after"] is False
    assert "troubled" not in row


def test_one_snapshot_tells_trouble_and_no_verdict() -> None:
    partial = measurement(10, status="partial", why="3 of 640 requests failed")
    [row] = benchmarks(taken(bench(partial)), None).rows.values()
    assert (row["troubled"], row["trouble"]) == (True, "3 of 640 requests failed")
    assert "verdict" not in row


def test_groups_of_a_table_have_rows() -> None:
    found = rows(bench(grid(table(50, 37))), bench(grid(table(50, 20, slow=(0, 1)))))
    [(key, row)] = found.items()
    assert key.endswith(" all")
    assert (row["verdict"], row["cells"], row["worse"], row["pair"]) == ("worse", 12, 9, f"{GPUS[0]} to {GPUS[1]}")


def test_where_only_a_pair_got_worse_the_row_has_its_values() -> None:
    [row] = rows(bench(grid(table(50, 50))), bench(grid(table(50, 50, slow=(0, 1))))).values()
    assert (row["verdict"], row["pair_was"], row["pair_now"], row["pair_by"]) == ("worse", "50.00", "12.50", "75 %")
    assert "was" not in row


def test_a_lost_device_is_a_row_of_the_whole_table() -> None:
    small = grid([row[:3] for row in table(50, 37)[:3]], names=GPUS[:3])
    found = rows(bench(grid(table(50, 37))), bench(small))
    assert {row["verdict"]: row["troubled"] for row in found.values()} == {"failed": True, "same": False}
    slower = grid([row[:3] for row in table(40, 30)[:3]], names=GPUS[:3])
    found = rows(bench(grid(table(50, 37))), bench(slower))
    assert {row["verdict"]: row["troubled"] for row in found.values()} == {"failed": True, "worse": False}
    assert all("was" not in row for row in found.values() if row["verdict"] == "failed")


def test_what_was_waived_after_is_trouble_where_it_had_a_value_before() -> None:
    [row] = rows(bench(measurement(10)), bench(measurement(status="waived"))).values()
    assert (row["verdict"], row["troubled"], row["trouble"]) == ("failed", True, "waived")
    [row] = rows(bench(measurement(status="waived")), bench(measurement(status="waived"))).values()
    assert row["troubled"] is False


def test_what_has_no_value_is_told_from_what_is_not_whole() -> None:
    failed = measurement(status="failed", failed=1, why="run 1: exit status 3")
    [row] = benchmarks(taken(bench(failed)), None).rows.values()
    assert row["valueless"] is True
    [row] = rows(bench(failed), bench(failed)).values()
    assert (row["verdict"], row["valueless"], row["valued_before"]) == ("not-comparable", True, False)
    small = grid([line[:3] for line in table(50, 37)[:3]], names=GPUS[:3])
    lost = next(row for row in rows(bench(grid(table(50, 37))), bench(small)).values() if row["troubled"])
    assert (lost["trouble"], lost.get("valueless")) == ("6 cells without a value now", None)


def test_distances_come_from_the_snapshot_after() -> None:
    path = {one: {other: "NODE" if (one < "0000:8") == (other < "0000:8") else "SYS" for other in GPUS} for one in GPUS}
    topology = {"ids": GPUS, "rows": [[path[one][other] for other in GPUS] for one in GPUS]}
    after = taken(bench(grid(table(50, 21))), nvidia={"topology": topology})
    found = benchmarks(after, taken(bench(grid(table(50, 37))))).rows
    assert {row["group"]: row["verdict"] for row in found.values()} == {
        "same NUMA node": "same", "across NUMA nodes": "worse"}


@pytest.mark.parametrize("other", [None, bench()])
def test_without_measurements_there_is_nothing(other: Bench | None) -> None:
    assert benchmarks(taken(other), taken(bench())).rows == {}
    assert benchmarks(taken(bench()), taken(other)).unknown == []
    assert compared(taken(bench()), taken(other)) is None
    assert benchmarks(taken(other), None).rows == {}


@pytest.mark.parametrize("turned", [False, True])
def test_a_side_without_the_section_is_unknown_where_the_other_was_measured(turned: bool) -> None:
    sides = taken(None), taken(bench(measurement(1)))
    found = benchmarks(*(reversed(sides) if turned else sides))
    assert found.rows == {}
    assert [gap["subject"] for gap in found.unknown] == [""]


def enabled(bandwidth: float) -> Bench:
    return bench(grid(table(bandwidth, bandwidth)), grid(table(22, 22), workload={"p2p": "disabled"}))


def test_peer_to_peer_that_brings_nothing() -> None:
    [row] = p2p_effect(taken(enabled(22.1)), None).rows.values()
    assert (row["pairs"], row["without"], row["where"]) == (6, 6, "any two devices")
    assert "driver" not in row
    [row] = p2p_effect(taken(enabled(50)), None).rows.values()
    assert row["without"] == 0
    assert p2p_effect(taken(bench()), None).rows == {}


@pytest.mark.parametrize(("words", "said"), [("OK", "OK"), ("CNS", "CNS")])
def test_what_the_driver_says_of_these_pairs(words: str, said: str) -> None:
    gpus = {f"GPU-{at}": {"uuid": f"GPU-{at}", "address": address} for at, address in enumerate(GPUS)}
    matrix = {"ids": GPUS, "rows": [["X" if one == other else words for other in GPUS] for one in GPUS]}
    named = [grid(table(22, 22), names=[*gpus], workload={"p2p": p2p}) for p2p in ("enabled", "disabled")]
    [row] = p2p_effect(taken(bench(*named), nvidia={"gpus": gpus, "p2p_read": matrix}), None).rows.values()
    assert row["driver"] == said


def test_snapshots_without_benchmarks_are_compared_without_what_compares_them() -> None:
    code = ("import sys; from tests.derive.made import snapshot; from snapshot.report.review import review;"
            "from snapshot.report.text import render_text; s = snapshot(bench={'measurements': {}});"
            "render_text(review(s, s)); print([m for m in sys.modules if m.startswith('snapshot.bench')])")
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_both_tables_are_registered() -> None:
    after, before = taken(bench(measurement(8.1))), taken(bench(measurement(10.3)))
    assert derived("benchmarks", after, before).rows == benchmarks(after, before).rows
    assert derived("p2p_effect", after, None).rows == {}
