"""Changes under their causes: each one once, and nobody says harmless of what a finding may rest on."""

from __future__ import annotations

from typing import Any

from snapshot.diff import compare
from snapshot.diff.change import Change
from snapshot.engine.finding import Evidence, Finding
from snapshot.engine.settings import Waiver
from snapshot.report.change_lines import line
from snapshot.report.order import entries
from snapshot.report.other_changes import Sorted, sorted_changes
from snapshot.report.review import Review
from tests.pairs import GPUS, pci, snapshot, story
from tests.report.made import review

from .made import KERNEL, finding, judged, unknown


def sorting(found: Review) -> Sorted:
    return sorted_changes(found, entries(found))


def every(found: Sorted) -> list[Change]:
    return [*found.shown, *found.accepted, *(change for heap in found.heaps for change in heap.changes)]


def test_each_change_stands_in_one_place() -> None:
    found = review(*story(), waivers=[Waiver(path="sysctl.values.net.core.key2", reason="so")])
    assert found.diff
    assert sorted(map(repr, every(sorting(found)))) == sorted(map(repr, found.diff.changes))
    assert [change.path for change in sorting(found).accepted] == [("values", "net.core.key2")]
    assert {change.section for change in sorting(found).shown} == {"pci"}


def test_sections_that_a_rule_explains_stand_under_its_finding() -> None:
    found = review(*story(), rules=[KERNEL])
    caused, other = sorting(found).heaps
    assert caused.cause and caused.cause.first.rule == KERNEL.id
    assert {change.section for change in caused.changes} == {"sysctl", "cmdline"}
    assert other.cause is None and {change.section for change in other.changes} == {"pci", "devices"}
    assert caused.harmless and other.harmless


def test_a_finding_that_is_resolved_or_was_there_before_explains_nothing() -> None:
    base = review(*story(), rules=[KERNEL])
    for class_, count in (("existing", 1), ("resolved", 1), ("better", 2), ("expected", 2), ("new", 2)):
        found = judged([finding(KERNEL.id, "info", class_, evidence=[evidence("meta", "kernel")])], base=base)
        assert len(sorting(found).heaps) == count


def evidence(*path: str, **more: Any) -> Evidence:
    return Evidence(**{"side": "after", "path": list(path), **more})


def changed(*evidence: Evidence, unknowns: tuple[Finding, ...] = ()) -> Sorted:
    """The changes of 8 functions, and what a finding with this EVIDENCE shows of them."""
    base = review(snapshot({"pci": pci(4096)}), snapshot({"pci": pci(512)}), rules=[])
    return sorting(judged([finding("a.b", evidence=list(evidence))], unknowns, base))


def test_what_is_evidence_or_holds_it_or_stands_below_is_shown_by_the_finding() -> None:
    exact = ("pci", "functions", GPUS[0], "express", "max_read_request_bytes")
    for path in (exact, exact[:3], (*exact, "deeper")):
        found = changed(evidence(*path))
        assert [change.path[1] for change in found.shown] == [GPUS[0]] and len(found.heaps[0].changes) == 7
    assert changed(evidence(*exact[:2], GPUS[0][:-1])).shown == []


def test_what_a_derived_table_was_made_of_is_not_called_harmless() -> None:
    row = evidence("derived", "device_access", "x", side=None)
    assert not changed(row).heaps[0].harmless
    assert not changed().heaps[0].harmless
    assert changed(evidence("net", "interfaces")).heaps[0].harmless


def test_where_a_rule_could_not_be_judged_nothing_is_called_harmless() -> None:
    assert not changed(evidence("net"), unknowns=(unknown("c.d"),)).heaps[0].harmless


def test_the_evidence_of_an_absence_is_told_of_the_side_that_it_is_of() -> None:
    device = {"name": "mlx5_0"}
    some, none = snapshot({"rdma": {"devices": {"mlx5_0": device}}}), snapshot({}, states={"rdma": "absent"})
    for sides, text in (((none, some), "+ rdma  added, 1 fact; before: because"),
                        ((some, none), "- rdma  removed, 1 fact: because")):
        assert [line(change) for change in compare(*sides).changes] == [text]
