"""The order of findings: the worst first, causes before what they explain, numbers without a gap."""

from __future__ import annotations

from snapshot.engine.finding import Finding
from snapshot.report.order import entries
from tests.pairs import snapshot
from tests.report.made import review

from .made import finding, judged


def order(*findings: Finding) -> list[tuple[int, str, str, int | None]]:
    return [(entry.number, entry.first.rule, entry.part, entry.cause) for entry in entries(judged(findings))]


def test_each_part_has_its_place_and_the_worst_is_first() -> None:
    found = [finding(f"a.{severity}", severity) for severity in ("info", "low", "critical")]
    found += [finding(f"a.{class_}", "critical", class_) for class_ in ("existing", "resolved", "better", "expected")]
    found += [finding("a.waived", "critical", waived_by="it is so")]
    assert order(*found) == [
        (1, "a.critical", "counting", None), (2, "a.low", "counting", None), (3, "a.info", "counting", None),
        (4, "a.expected", "expected", None), (5, "a.better", "better", None), (6, "a.resolved", "resolved", None),
        (7, "a.waived", "accepted", None), (8, "a.existing", "existing", None),
    ]


def test_what_one_cause_explains_stands_together_behind_it_and_no_severity_is_hidden() -> None:
    found = order(
        finding("a.first"), finding("b.cause"), finding("c.other"), finding("d.effect", cause=["b.cause", ""]),
        finding("e.worse", "critical", cause=["z.kernel", ""]), finding("f.alone", "critical"),
        finding("z.kernel", "info"),
    )
    assert [(rule, cause) for _, rule, _, cause in found] == [
        ("f.alone", None), ("e.worse", 7), ("a.first", None), ("b.cause", None), ("d.effect", 4), ("c.other", None),
        ("z.kernel", None),
    ]


def test_findings_that_explain_each_other_or_themselves_end_somewhere() -> None:
    found = order(finding("a.one", cause=["b.two", ""]), finding("b.two", cause=["a.one", ""]),
                  finding("c.three", cause=["b.two", ""]), finding("d.self", cause=["d.self", ""]),
                  finding("e.lost", cause=["gone.rule", ""]))
    assert [(rule, cause) for _, rule, _, cause in found] == [
        ("a.one", 2), ("b.two", 1), ("c.three", 2), ("d.self", None), ("e.lost", None)]


def test_two_that_differ_in_severity_or_cause_do_not_read_as_one() -> None:
    alike = {"group": "{count} are so"}
    found = [finding("a.b", subject="1", **alike), finding("a.b", subject="2", **alike),
             finding("a.b", "low", subject="3", **alike), finding("a.b", subject="4", cause=["c.d", ""], **alike)]
    assert [entry.group.count for entry in entries(judged(found))] == [2, 1, 1]


def test_what_was_so_before_is_old_only_where_it_counts_beside_what_is_new() -> None:
    found = [finding("a.b", class_="existing")]
    assert [(e.part, e.old) for e in entries(judged(found))] == [("existing", False)]
    assert [(e.part, e.old) for e in entries(judged(found, fail_on_existing=True))] == [("counting", True)]
    alone = judged(found, base=review(None, snapshot({}), rules=[]))
    assert [(e.part, e.old) for e in entries(alone)] == [("counting", False)]


def test_a_cause_stands_above_what_it_explains_though_both_have_one_cause() -> None:
    found = order(finding("a.node", cause=["b.driver", ""]), finding("b.driver", cause=["z.kernel", ""]),
                  finding("c.unit", cause=["z.kernel", ""]), finding("z.kernel", "info"))
    assert [(rule, cause) for _, rule, _, cause in found] == [
        ("b.driver", 4), ("a.node", 1), ("c.unit", 4), ("z.kernel", None)]
