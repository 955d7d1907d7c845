"""Interrupts that were placed and are not any more; what drivers and the kernel choose is no choice."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.tunables.irq_moves import irq_moves
from snapshot.document import Snapshot

from ...pairs import snapshot

NIC = "0000:41:00.0"
ROW = f"{NIC} mlx5_comp*"


def host(
    affinity: dict[str, str], address: str = NIC, default: str = "0-3", irqs: str = "60-61", **more: Any
) -> Snapshot:
    functions = {address: {"vendor": "15b3", "device": "1021", "source": "config", "serial": "00-01"}}
    action = {"queues": "0-1", "affinity": affinity, "irqs": irqs} | more
    irq = {"default_affinity": default, "devices": {address: {"mlx5_comp*": action}}}
    return snapshot({"pci": {"functions": functions}, "irq": irq, "cpu": {"possible": "0-3"}})


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        (host({"2-3": "0-1"}), host({"0-3": "0-1"}), True),
        (host({"2-3": "0-1"}), host({"0-3": "0", "2-3": "1"}), True),
        (host({"2-3": "0-1"}), host({"2-3": "0-1"}, irqs="90-91"), False),
        (host({"2": "0", "3": "1"}), host({"0": "0", "1": "1"}), False),
        (host({"0": "0-1"}, default="0"), host({"0-3": "0-1"}), False),
        (host({"2-3": "0-1"}), host({"0-3": "0-1"}, fixed="0-1"), False),
    ],
)
def test_lost(before: Snapshot, after: Snapshot, lost: bool) -> None:
    assert irq_moves(after, before).rows[ROW]["lost"] is lost


def test_it_follows_a_nic_that_moved_and_names_the_numbers_of_now() -> None:
    row = irq_moves(host({"0-3": "0", "2-3": "1"}, "0000:42:00.0", irqs="90,95"), host({"2-3": "0-1"})).rows
    found = row["0000:42:00.0 mlx5_comp*"]
    assert found["queues"] == "0" and found["now"] == ["echo 2-3 > /proc/irq/90/smp_affinity_list"]


def test_no_commands_when_numbers_and_queues_do_not_match_or_the_value_is_no_list() -> None:
    for then, irqs in (({"2-3": "0-1"}, "90"), ({"own part of 2-3": "0-1"}, "90-91")):
        assert irq_moves(host({"0-3": "0-1"}, irqs=irqs), host(then)).rows[ROW]["now"] == []


@pytest.mark.parametrize(
    ("then", "now", "lost"), [("0", "0-3", True), ("0-3", "0-3", False), ("0-3", "0", False), ("0", "1", False)]
)
def test_default(then: str, now: str, lost: bool) -> None:
    row = irq_moves(host({}, default=now), host({}, default=then)).rows["default"]
    assert row["lost"] is lost


def running(on: bool | None, **meta: str) -> Snapshot:
    table: dict[str, Any] = {"irqbalance": {} if on is None else {"running": on}}
    unread = {"irq": [["irqbalance", "running"]]} if on is None else None
    return snapshot({"irq": table}, unread=unread, meta=meta)


@pytest.mark.parametrize(
    ("then", "now", "lost"), [(False, True, True), (True, True, False), (True, False, False), (None, False, None)]
)
def test_irqbalance(then: bool | None, now: bool | None, lost: bool | None) -> None:
    row = irq_moves(running(now), running(then)).rows["irqbalance"]
    assert row.get("lost") is lost and "unknown" not in row


def test_irqbalance_that_was_not_seen() -> None:
    for then, now in ((None, True), (False, None), (None, None)):
        assert irq_moves(running(now), running(then)).rows["irqbalance"]["unknown"]["lost"]["why"] == "EACCES"
    assert "irqbalance" not in irq_moves(running(None, system_state="none"), running(None)).rows


def test_unread_and_alone() -> None:
    lost = snapshot({"irq": {}}, unread={"irq": [[]]})
    assert [gap["subject"] for gap in irq_moves(lost, None).unknown] == [""]
    assert irq_moves(host({"0-3": "0-1"}), None).rows == {}
    half = snapshot({"irq": {}}, unread={"irq": [["default_affinity"]]})
    assert irq_moves(half, host({})).rows["default"]["unknown"]["lost"]["why"] == "EACCES"
