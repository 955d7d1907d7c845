"""The verdict in a line: nothing is called in order that nobody looked at."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.engine.finding import Finding
from snapshot.engine.settings import Waiver
from snapshot.report import as_json, headline
from snapshot.report.order import entries
from snapshot.report.review import Review
from tests.pairs import snapshot, story
from tests.report.made import review

from .made import finding, judged, unknown

EMPTY = snapshot({})


def said(found: Review) -> str:
    return " ".join(headline.verdict(found, entries(found)))


@pytest.mark.parametrize(("findings", "verdict"), [
    ([finding("a.b"), finding("a.c", "low"), finding("a.d", "low")], "REGRESSED: 1 high, 2 low."),
    ([finding("a.b", "info")], "Nothing regressed (1 rule judged). 1 note."),
    ([finding("a.b", class_="existing"), finding("a.c", class_="resolved")],
     "Nothing regressed (2 rules judged). 1 resolved. 1 already so before."),
    ([finding("a.b", waived_by="so")], "Nothing regressed (1 rule judged). 1 accepted."),
])
def test_what_counts_comes_first(findings: list[Finding], verdict: str) -> None:
    assert said(judged(findings)) == verdict


def test_what_could_not_be_judged_is_part_of_the_verdict() -> None:
    assert said(judged(unknowns=[unknown("a.b", subject="1"), unknown("a.b", subject="2")])) == (
        "Nothing is known to have regressed (0 rules judged). 1 rule could not be judged.")
    alone = review(None, EMPTY, rules=[])
    assert said(judged([finding("a.c", "info", "existing")], [unknown("a.b")], alone)).startswith(
        "Nothing is known to be wrong (1 rule judged).")


def test_where_no_rule_applies_nothing_is_in_order() -> None:
    assert said(review(EMPTY, EMPTY, rules=[])) == "Nothing was judged: no rule applies here."
    assert headline.rules(review(EMPTY, EMPTY, rules=[])) == "Applied 0 rules: 0 judged."


def test_both_sides_and_what_lies_between() -> None:
    assert headline.stamps(review(*story(), "pre", "now")) == (
        "pve1  pre (6.8.12-9-pve, 2026-11-29 21:40Z)", "now (6.14.11-1-pve, 2026-11-30 01:44Z, new boot)")
    bare = snapshot({}, meta={"kernel": None, "taken": None, "host": "other"})
    assert headline.stamps(review(EMPTY, bare, "a", "b"))[1] == "other  b (taken at an unknown time)"
    assert headline.stamps(review(None, bare, "", "b"))[0] == ""


@pytest.mark.parametrize(("more", "ending"), [
    ({}, "Exit 0: no new finding at or above high."),
    ({"fail_on_existing": True}, "Exit 0: no finding at or above high."),
    ({"threshold": "low"}, "Exit 1: new findings at or above low."),
])
def test_why_it_ends_so(more: dict[str, Any], ending: str) -> None:
    assert headline.ending(judged([finding("a.b", "low")], base=review(EMPTY, EMPTY, rules=[], **more))) == ending


def test_waivers_that_may_be_needed_are_named() -> None:
    waivers = [Waiver(rule="x.y", subject="z", reason="so")]
    _, line, _ = headline.closing(review(EMPTY, EMPTY, rules=[], waivers=waivers, known=["x.y"]))
    assert line == "Whether it is needed is not known of 1 waiver: x.y z."


def test_rules_that_the_settings_leave_out_are_named() -> None:
    found = review(EMPTY, EMPTY, rules=[], disabled=[f"x.rule-{number}" for number in range(7)])
    _, line, _ = headline.closing(found)
    assert line == "The settings leave out 7 rules: x.rule-0, x.rule-1, x.rule-2, x.rule-3 and 3 more."
    assert len(as_json.table(found)["disabled_rules"]) == 7
