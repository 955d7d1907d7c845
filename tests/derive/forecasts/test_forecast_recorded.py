"""A forecast of a guest that really rebooted, recorded: what its boot had left, what was set by hand, what came."""

from __future__ import annotations

from snapshot.derive.forecasts.forecast import outlook
from snapshot.derive.forecasts.forecast_score import score
from snapshot.derive.tunables.tunable_values import agrees, text
from snapshot.derive.tunables.tunables import tunables
from tests.recordings import taken

BOOT, TUNED, REBOOTED = "vm-boot.tar.xz", "vm-tuned.tar.xz", "vm-rebooted.tar.xz"
LOST = ("reverts", "changes")


def test_all_that_was_set_by_hand_and_lost_was_foreseen() -> None:
    boot, tuned, rebooted = map(taken, (BOOT, TUNED, REBOOTED))
    came = tunables(tuned, rebooted).rows
    by_hand = {key for key, row in tunables(tuned, boot).rows.items() if row.get("reverted")}
    lost = {key for key in by_hand if came[key]["reverted"]}
    found = {one.key: one for one in outlook(tuned, boot).predictions if one.key in came}
    nodes = {f"hugepages 2048kB node{node} nr_hugepages" for node in (0, 1)}  # how a pool is spread cannot be known
    assert len(lost) > 40 and {found[key].status for key in lost - nodes} <= {*LOST}


def test_what_was_foreseen_came() -> None:
    boot, tuned, rebooted = map(taken, (BOOT, TUNED, REBOOTED))
    came = {key: row["before"] for key, row in tunables(tuned, rebooted).rows.items() if "before" in row}
    foreseen = [one for one in outlook(tuned, boot).predictions if one.status in LOST and one.key in came]
    wrong = [one.key for one in foreseen if came[one.key] != one.next and not agrees(came[one.key], text(one.next))]
    assert len(foreseen) > 40 and wrong == []


def test_without_a_baseline_nothing_wrong_is_said() -> None:
    found = score(taken(TUNED), taken(REBOOTED))
    assert found is not None and found.true > 30 and not found.missed and not found.wrong
