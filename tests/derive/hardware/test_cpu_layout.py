from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.hardware.cpu_layout import cpus_online, numa_layout

from ...pairs import snapshot


def side(nodes: dict[str, str] | None = None, distance: int = 0, **more: Any) -> dict[str, Any]:
    """Section cpu: node -> its CPUs, and DISTANCE between any two."""
    cpu: dict[str, Any] = dict(more)
    if nodes is not None:
        cpu["nodes"] = {name: {"cpus": cpus} for name, cpus in nodes.items()}
    if distance:
        rows = [[10 if a == b else distance for b in nodes or ()] for a in nodes or ()]
        cpu["distances"] = {"ids": [*(nodes or ())], "rows": rows}
    return {"cpu": cpu}


@pytest.mark.parametrize(
    ("now", "then", "row"),
    [
        ("0-126", "0-127", {"online": 127, "online_before": 128, "lost": "127"}),
        ("0-127", "0-127", {"online": 128, "online_before": 128}),
        ("0-2,4", "0-3", {"online": 4, "online_before": 4, "lost": "3", "gained": "4"}),
        ("0-3", None, {"online": 4}),
        ("0-3", "by hand", {"online": 4}),
    ],
)
def test_cpus_online(now: str, then: str | None, row: dict[str, Any]) -> None:
    before = snapshot(side(online=then)) if then else None
    assert cpus_online(snapshot(side(online=now)), before).rows == {"cpus": row}


def test_cpus_that_are_present_are_counted_too() -> None:
    now, then = (snapshot(side(online=cpus, present=cpus)) for cpus in ("0-3", "0-7"))
    row = cpus_online(now, then).rows["cpus"]
    assert (row["present"], row["present_before"]) == (4, 8)


@pytest.mark.parametrize(
    ("now", "then", "found"),
    [
        ({"0": "0-15"}, {"0": "0-7", "1": "8-15"}, (1, 2, "8-15")),
        ({"0": "0-3,8-11", "1": "4-7,12-15"}, {"0": "0-7", "1": "8-15"}, (2, 2, "4-11")),
        ({"0": "0-7", "1": "8-14"}, {"0": "0-7", "1": "8-15"}, (2, 2, None)),
        ({"0": "0-15", "1": ""}, {"0": "0-15"}, (1, 1, None)),
    ],
    ids=["NPS", "other CPUs", "one offline", "a node of memory alone"],
)
def test_numa_layout(now: dict[str, str], then: dict[str, str], found: tuple[Any, ...]) -> None:
    row = numa_layout(snapshot(side(now)), snapshot(side(then))).rows["nodes"]
    assert (row["nodes"], row["nodes_before"], row.get("cpus_moved")) == found


def test_distances_count_between_nodes_with_cpus() -> None:
    two, memory = {"0": "0-7", "1": "8-15"}, {"0": "0-7", "1": "8-15", "2": ""}
    for now, far, changed in ((two, 32, True), (two, 21, False), (memory, 21, False)):
        row = numa_layout(snapshot(side(now, far)), snapshot(side(two, 21))).rows["nodes"]
        assert row["distances_changed"] is changed
    assert "distances_changed" not in numa_layout(snapshot(side(two, 21)), snapshot(side(two))).rows["nodes"]


def test_a_host_that_tells_nothing_has_no_row_and_an_unread_one_is_unknown() -> None:
    for table, name in ((cpus_online, "online"), (numa_layout, "nodes")):
        nothing = snapshot(side())
        assert not table(nothing, nothing).rows and not table(nothing, nothing).unknown
        unread = table(snapshot(side(), unread={"cpu": [[name]]}), None)
        assert not unread.rows and len(unread.unknown) == 1
    assert numa_layout(snapshot(side({"0": "0-3"})), None).rows == {"nodes": {"nodes": 1}}


def test_a_node_whose_cpus_were_not_read_is_not_lost() -> None:
    whole = snapshot(side({"0": "0-3", "1": "4-7"}))
    half = snapshot(side({"1": "4-7"}), unread={"cpu": [["nodes", "0"]]})
    found = numa_layout(half, whole)
    assert not found.rows and [gap["subject"] for gap in found.unknown] == ["nodes"]
    row = numa_layout(whole, half).rows["nodes"]
    assert row["unknown"].keys() == {"nodes_before", "cpus_moved", "distances_changed"} and row["nodes"] == 2
