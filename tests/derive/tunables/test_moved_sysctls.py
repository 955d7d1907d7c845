from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.tunables.moved_sysctls import moved_sysctls
from snapshot.document import Snapshot

from ...pairs import snapshot

ORIGIN = {"file": "/etc/sysctl.d/90-sched.conf", "line": 3, "text": "x"}
COST = "kernel.sched_migration_cost_ns"


def host(key: str = COST, release: str = "6.8.12-9-pve", how: str = "systemd", **more: Any) -> Snapshot:
    setting = {how: {"value": "5", "origin": ORIGIN}}
    return snapshot({"kernel": {"release": release}, "sysctl": {"values": {}, "settings": {key: setting}} | more})


@pytest.mark.parametrize(("key", "release", "place"), [
    (COST, "5.13.0", "migration_cost_ns"), (COST, "6.8.12-9-pve", "migration_cost_ns"),
    ("kernel.sched_latency_ns", "6.1.0-57-amd64", "latency_ns"), ("kernel.sched_latency_ns", "6.6", None),
    ("kernel.sched_min_granularity_ns", "6.5", "min_granularity_ns"),
    ("kernel.sched_min_granularity_ns", "6.12", "base_slice_ns"), ("kernel.sched_wakeup_granularity_ns", "7.0", None),
    ("kernel.numa_balancing_scan_size_mb", "6.8", "numa_balancing/scan_size_mb"),
])
def test_where_it_is_now(key: str, release: str, place: str | None) -> None:
    row = moved_sysctls(host(key, release), None).rows[key]
    assert row["vain"] and row.get("place") == (place and f"/sys/kernel/debug/sched/{place}")
    assert (row["value"], row["file"]) == ("5", ORIGIN["file"])


@pytest.mark.parametrize("after", [
    host(release="5.12.9"), host("vm.swappiness"), host(how="cmdline"), host(release="junk"),
], ids=["before 5.13", "another sysctl", "the command line", "no release"])
def test_no_row(after: Snapshot) -> None:
    assert not moved_sysctls(after, None).rows


def test_a_kernel_that_still_has_it() -> None:
    row = moved_sysctls(host(values={COST: 5}), None).rows[COST]
    assert not row["vain"] and "place" not in row


def test_whether_it_is_there_is_not_known() -> None:
    tables: dict[str, dict[str, Any]] = {"kernel": {"release": "6.8"}, "sysctl": {"values": {}, "settings": {
        COST: {"systemd": {"value": "5", "origin": ORIGIN}}}}}
    found = moved_sysctls(snapshot(tables, unread={"sysctl": [["values", COST]]}), None)
    assert not found.rows and found.unknown[0]["subject"] == COST
