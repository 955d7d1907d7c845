"""Tunables by kind: the same rows as all together, and no gaps of other kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from snapshot.derive.facts import Derived
from snapshot.derive.tunables import tunable_kinds
from snapshot.derive.tunables.tunables import tunables
from snapshot.document import Snapshot

from ...pairs import snapshot
from ...recordings import HOSTS, taken

TABLES: dict[str, Any] = {
    "sysctl": {"values": {"vm.swappiness": 10, "vm.nr_hugepages": 4}},
    "memory": {"thp": {"enabled": "never"}, "ksm": {"run": 0}, "hugepages": {"2048kB": {"pages": 4}},
               "swaps": {"/dev/sda3": {"type": "partition", "size_bytes": 1, "used_bytes": 0, "priority": -2}}},
    "storage": {"blocks": {"S1": {"name": "sda", "serial": "S1", "queue": {"scheduler": "none"}}}},
    "units": {"units": {}}, "net": {"interfaces": {}}, "cmdline": {"tokens": [], "parameters": {}}, "boot": {},
}
VIEWS: dict[str, Callable[[Snapshot, Snapshot | None], Derived]] = {
    "sysctl": tunable_kinds.sysctl_tunables, "thp": tunable_kinds.thp_tunables, "ksm": tunable_kinds.ksm_tunables,
    "hugepages": tunable_kinds.hugepage_tunables, "swap": tunable_kinds.swap_tunables,
    "block": tunable_kinds.block_tunables,
}


@pytest.mark.parametrize("kind", VIEWS)
def test_the_same_rows(kind: str) -> None:
    host = snapshot(TABLES)
    whole = {key: row for key, row in tunables(host, host).rows.items() if row["kind"] == kind}
    if kind == "sysctl":  # those of which nothing is to be said are left out
        whole = {key: row for key, row in whole.items() if "default" in row or "setters" in row or "live" not in row}
    assert whole and VIEWS[kind](host, host).rows == whole


@pytest.mark.parametrize("host", HOSTS)
def test_the_thousands_that_nobody_sets_are_told_alike(host: str) -> None:
    """They are not worked out one by one, and are the same rows as if they were."""
    side = taken(host)
    whole = {key: row for key, row in tunables(side, None).rows.items() if row["kind"] == "sysctl"}
    rows = tunable_kinds.sysctl_tunables(side, None).rows
    assert {key: rows[key] for key in whole} == whole


def test_gaps_of_other_kinds_do_not_count() -> None:
    unread = {"memory": [["thp", "defrag"]], "storage": [["blocks", "S1", "queue", "nr_requests"]]}
    host = snapshot(TABLES, unread=unread)
    gaps = {kind: [gap["subject"] for gap in view(host, None).unknown] for kind, view in VIEWS.items()}
    assert gaps == {"sysctl": [], "thp": ["thp transparent_hugepage/defrag"], "ksm": [], "hugepages": [], "swap": [],
                    "block": ["block sda nr_requests"]}


def test_a_sysctl_that_was_not_read_is_a_row() -> None:
    found = tunable_kinds.sysctl_tunables(snapshot(TABLES, unread={"sysctl": [["values", "kernel.cad_pid"]]}), None)
    row = found.rows["sysctl kernel.cad_pid"]
    assert found.unknown == [] and row["name"] == "kernel.cad_pid" and {*row["unknown"]} == {"live", "absent"}
    whole = tunable_kinds.sysctl_tunables(snapshot({}, states={"sysctl": "failed"}), None)
    assert [gap["subject"] for gap in whole.unknown] == ["sysctl "]


def test_the_rule_of_udev_that_keeps_a_queue() -> None:
    then = {**TABLES, "storage": {"blocks": {"S1": {"name": "sdb", "serial": "S1", "queue": {"scheduler": "bfq"}}}}}
    row = tunable_kinds.block_tunables(snapshot(TABLES), snapshot(then)).rows["block sda scheduler"]
    assert 'KERNEL=="sda", ATTR{queue/scheduler}="bfq"\' >> /etc/udev/rules.d/' in row["durable"][0]
    then["storage"]["blocks"]["S1"]["queue"]["scheduler"] = 'x"; reboot'
    assert "durable" not in tunable_kinds.block_tunables(snapshot(TABLES), snapshot(then)).rows["block sda scheduler"]


def test_who_sets_it_is_unknown_where_that_was_not_read() -> None:
    host = snapshot(TABLES, unread={"units": [["scripts"]]})
    row = tunable_kinds.sysctl_tunables(host, None).rows["sysctl vm.swappiness"]
    assert row["unknown"] == {"configured_by": {"source": "/src", "why": "EACCES"}}


def test_a_host_of_which_no_sysctl_was_known_before() -> None:
    host, before = snapshot(TABLES), snapshot({**TABLES, "sysctl": {"values": {}}})
    rows = tunable_kinds.sysctl_tunables(host, before).rows
    assert rows["sysctl vm.swappiness"]["live"] == 10
    assert not any("before" in row or "reverted" in row for row in rows.values())
