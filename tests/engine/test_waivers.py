"""What a waiver accepts and what it does not, and what is said of one that is expired, too wide or unused."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from snapshot.diff import Diff, compare
from snapshot.diff.pattern import Pattern
from snapshot.diff.selection import Selection
from snapshot.document import Snapshot
from snapshot.engine.finding import Evidence, Finding
from snapshot.engine.judge import Judgement, judge
from snapshot.engine.packs import shipped
from snapshot.engine.settings import Waiver
from snapshot.engine.waivers import WaiverUse, apply
from snapshot.errors import FormatError
from snapshot.sections.base import Origin
from tests.pairs import GPUS, snapshot, story

TODAY = date(2026, 12, 1)
RULES = {rule.id: rule for rule in shipped() if rule.scope != "forecast"}
STALE, REVERTED = "lxc.device-major-stale", "pcie.maxreadreq-reverted"
PATH = ["pci", "functions", GPUS[0], "express", "max_read_request_bytes"]


def waiver(**values: Any) -> Waiver:
    return Waiver.model_validate({"reason": "planned"} | values)


def finding(rule: str = "a.b", subject: str = "x", **values: Any) -> Finding:
    return Finding(**{"rule": rule, "severity": "high", "verdict": "fail", "class_": "new", "subject": subject,
                      "message": "m"} | values)


def judgement(*findings: Finding, unknown: tuple[Finding, ...] = ()) -> Judgement:
    needs: dict[str, list[str]] = {one.rule: [] for one in (*findings, *unknown)}
    return Judgement(findings=list(findings), unknown=list(unknown), needs=needs)


def applied(
    case: Judgement, *waivers: Waiver, known: tuple[str, ...] = (), diff: Diff | None = None,
) -> list[WaiverUse]:
    return apply(case, waivers, TODAY, known={*case.needs, *known}, diff=diff)


def states(case: Judgement, *waivers: Waiver, **more: Any) -> list[str]:
    return [use.state for use in applied(case, *waivers, **more)]


def meta(case: Judgement) -> list[Finding]:
    return [one for one in case.findings if one.rule.startswith("meta.")]


def the_story() -> tuple[Judgement, Diff]:
    before, after = story()
    diff = compare(before, after)
    return judge(before, after, diff, [RULES[STALE], RULES[REVERTED]]), diff


def test_what_is_waived_stays_and_is_marked() -> None:
    case, _ = the_story()
    keys = [one.key() for one in case.findings]
    (use,) = applied(case, waiver(rule=STALE, subject="101 *", reason="moved\nsoon", expires="2027-01-31", by="ops"))
    assert [one.key() for one in case.findings] == keys
    noted = {one.rule: one.waived_by for one in case.findings}
    assert noted == {STALE: "moved soon (by ops, until 2027-01-31)", REVERTED: None}
    assert use.state == "used" and {one.rule for one in use.findings} == {STALE}


def test_nothing_without_waivers() -> None:
    case, _ = the_story()
    found = list(case.findings)
    assert applied(case) == [] and case.findings == found


@pytest.mark.parametrize(("values", "waived"), [
    ({"rule": "a.b"}, True), ({"rule": "a.*"}, True), ({"rule": "*"}, True), ({"rule": "A.B"}, False),
    ({"rule": "a"}, False), ({"rule": "a.b", "subject": "x[1]"}, True), ({"rule": "a.b", "subject": "x*"}, True),
    ({"rule": "a.b", "subject": "x"}, False), ({"rule": "a.b", "before": 10}, True),
    ({"rule": "a.b", "before": 10, "after": "60"}, True), ({"rule": "a.b", "after": 60}, False),
    ({"rule": "a.b", "before": 10.0}, False), ({"rule": "a.b", "before": 10, "after": "61"}, False),
    ({"path": "sysctl.values.vm.swappiness"}, True), ({"path": "sysctl"}, True), ({"path": "sysctl.*.vm.*"}, True),
    ({"path": "sysctl.values.vm.dirty_ratio"}, False), ({"path": "kernel.release"}, False),
    ({"path": "+sysctl"}, False), ({"path": "sysctl", "rule": "a.*", "after": "60"}, True),
    ({"path": "sysctl", "rule": "b.*"}, False), ({"path": "sysctl", "subject": "y"}, False),
])
def test_which_findings_it_is_for(values: dict[str, Any], waived: bool) -> None:
    path: list[str | int] = ["sysctl", "values", "vm.swappiness"]
    evidence = [Evidence(side="before", path=path, value=10), Evidence(side="after", path=path, value="60"),
                Evidence(side="after", path=["kernel", "release"], value="6.14")]
    case = judgement(finding(subject="x[1]", before=10, after="60", evidence=evidence))
    applied(case, waiver(**values))
    assert (case.findings[0].waived_by or case.findings[-1].waived_by) == ("planned" if waived else None)


@pytest.mark.parametrize(("path", "waived"), [
    ("kernel.release", False), ("sysctl", False), ("**", True),
])
def test_without_values_all_of_the_evidence_has_to_be_meant(path: str, waived: bool) -> None:
    evidence = [Evidence(side="after", path=["kernel", "release"], value="6.14"),
                Evidence(side="after", path=["sysctl", "values", "a"], value=1)]
    case = judgement(finding(evidence=evidence))
    applied(case, waiver(path=path))
    assert bool([one for one in case.findings if one.waived_by]) is waived


def test_a_path_accepts_nothing_that_has_no_evidence() -> None:
    case = judgement(finding())
    applied(case, waiver(path="**"))
    assert not case.findings[0].waived_by


@pytest.mark.parametrize("values", [{"verdict": "pass", "class_": "resolved"}, {"verdict": "pass", "class_": "better"}])
def test_what_does_not_fail_needs_no_waiver(values: dict[str, Any]) -> None:
    case = judgement(finding(**values))
    assert states(case, waiver(rule="a.b")) == ["unused"]
    assert not case.findings[0].waived_by


def test_the_first_of_several_is_named_and_all_are_used() -> None:
    case = judgement(finding())
    assert states(case, waiver(rule="a.b", reason="one"), waiver(rule="a.*", reason="two")) == ["used", "used"]
    assert [one.waived_by for one in case.findings] == ["one"]


@pytest.mark.parametrize(("today", "expired"), [
    (date(2026, 11, 30), False), (date(2026, 12, 1), False), (date(2026, 12, 2), True), (date(2030, 1, 1), True),
])
def test_it_holds_on_its_last_day(today: date, expired: bool) -> None:
    case = judgement(finding())
    (use,) = apply(case, [waiver(rule="a.b", expires="2026-12-01")], today, known={"a.b"})
    assert use.state == ("expired" if expired else "used")
    assert (case.findings[0].waived_by is None) is expired
    assert [one.message for one in meta(case)] == ["the waiver of a.b ended on 2026-12-01"] * expired


def test_an_expired_waiver_says_what_counts_again() -> None:
    case = judgement(finding(), finding(subject="y"), finding("c.d"))
    old = {"expires": "2026-11-30", "reason": "until the move", "by": "ops"}
    uses = applied(case, waiver(rule="a.b", **old), waiver(rule="c.d", **old), waiver(rule="c.d", reason="again"),
                   waiver(rule="e.f", **old), known=("e.f",))
    assert [use.state for use in uses] == ["expired", "expired", "used", "expired"]
    assert [one.why[0] for one in meta(case)] == [
        "2 findings count again.", "There is nothing left for it to accept: remove it.",
        "There is nothing left for it to accept: remove it."]
    assert meta(case)[0].why[1] == "Its reason: until the move (by ops, until 2026-11-30)"
    assert [one.waived_by for one in case.findings if one.rule == "c.d"] == ["again"]


@pytest.mark.parametrize("values", [
    {"rule": "*"}, {"rule": "lxc.*"}, {"rule": "lxc.device-major-stal?"}, {"path": "lxc"},
    {"path": "lxc", "rule": "lxc.*"},
])
def test_what_is_critical_has_to_be_named(values: dict[str, Any]) -> None:
    evidence = [Evidence(side="after", path=["lxc", "containers", "101"])]
    case = judgement(finding(STALE, severity="critical", evidence=evidence), finding("lxc.other", evidence=evidence))
    (use,) = applied(case, waiver(**values))
    assert use.state == "too-wide" and [one.rule for one in use.findings] == [STALE]
    assert {one.rule: one.waived_by for one in case.findings}[STALE] is None
    (told,) = meta(case)
    assert (told.rule, told.severity, told.class_, told.verdict) == ("meta.waiver-too-wide", "low", "new", "fail")
    assert told.why[0] == f"1 finding counts all the same: what is critical has to be named by its rule, {STALE}."


def test_a_wide_waiver_accepts_the_rest() -> None:
    case = judgement(finding(STALE, severity="critical"), finding("lxc.other"))
    applied(case, waiver(rule="lxc.*"))
    assert {one.rule: one.waived_by for one in case.findings}["lxc.other"] == "planned"


def test_it_is_not_too_wide_for_what_another_names() -> None:
    case = judgement(finding(STALE, severity="critical"))
    assert states(case, waiver(rule="*", reason="all"), waiver(rule=STALE, reason="this")) == ["used", "used"]
    assert [one.waived_by for one in case.findings] == ["this"]


def test_an_unused_waiver_is_a_finding_with_its_place() -> None:
    case = judgement(finding())
    place = Origin(file="snap.toml", line=7, text='rule = "c.d"')
    asked = []

    def locate(*path: str | int) -> Origin:
        asked.append(path)
        return place

    apply(case, [waiver(rule="a.b"), waiver(rule="c.d", subject="y")], TODAY, known={"a.b"}, locate=locate)
    (told,) = meta(case)
    assert told.key() == ("meta.waiver-unused", "c.d y")
    assert told.message == "the waiver of c.d y accepts nothing here"
    assert told.evidence == [Evidence(path=["waiver", 1], file="snap.toml", line=7, text='rule = "c.d"')]
    assert asked == [("waiver", 1, "rule")]  # a place costs a walk through the file


@pytest.mark.parametrize(("rule", "why"), [
    ("c.d", "Remove it, or mend what it names."), ("e.f", "Its rule does not apply: e: no such hardware."),
    ("c.dd", "There is no rule 'c.dd': did you mean c.d?"), ("zzz.*", "There is no rule 'zzz.*'."),
    ("meta.waiver-unused", "There is no rule 'meta.waiver-unused'."),
])
def test_why_it_is_unused(rule: str, why: str) -> None:
    case = judgement()
    case.needs = {"c.d": [], "e.f": []}
    case.not_applicable = {"e.f": "e: no such hardware"}
    assert states(case, waiver(rule=rule)) == ["unused"]
    assert meta(case)[0].why[0] == why


def test_a_rule_that_was_not_applied_leaves_it_open() -> None:
    case = judgement(finding())
    assert states(case, waiver(rule="c.d"), waiver(rule="c.*"), known=("c.d",)) == ["undecided", "undecided"]
    assert not meta(case)


@pytest.mark.parametrize(("subject", "unknown", "state"), [
    (None, "", "undecided"), ("101 /dev/kfd", "", "undecided"), ("101 /dev/kfd", "101 ", "undecided"),
    ("101*", "101 /dev/kfd", "undecided"), ("*kfd", "101 /dev/kfd", "undecided"),
    ("101 /dev/kfd", "102 /dev/kfd", "unused"), ("102*", "101 ", "unused"),
])
def test_what_could_not_be_judged_leaves_it_open(subject: str | None, unknown: str, state: str) -> None:
    case = judgement(unknown=(finding(subject=unknown, verdict="unknown", class_=None),))
    assert states(case, waiver(rule="a.b", **({"subject": subject} if subject else {}))) == [state]
    assert case.unknown[0].waived_by is None


def values(**numbers: Any) -> dict[str, Any]:
    return {"sysctl": {"values": {f"vm.{name}": number for name, number in numbers.items()}}}


def pair(before: Snapshot, after: Snapshot) -> tuple[Judgement, Diff]:
    diff = compare(before, after)
    return judge(before, after, diff, []), diff


@pytest.mark.parametrize(("one", "accepted"), [
    ({"path": "sysctl.values.vm.a"}, ["vm.a"]), ({"path": "sysctl"}, ["vm.a", "vm.b", "vm.new"]),
    ({"path": "+sysctl"}, ["vm.new"]), ({"path": "-sysctl"}, []), ({"path": "sysctl", "before": 1}, ["vm.a"]),
    ({"path": "sysctl", "before": 1, "after": 3}, []), ({"path": "sysctl", "after": 7}, ["vm.new"]),
    ({"path": "sysctl", "subject": "x"}, []), ({"path": "sysctl", "rule": "a.b"}, []), ({"path": "pci"}, []),
])
def test_which_changes_it_accepts(one: dict[str, Any], accepted: list[str]) -> None:
    case, diff = pair(snapshot(values(a=1, b=5, same=0)), snapshot(values(a=2, b=6, same=0, new=7)))
    (use,) = applied(case, waiver(**one), diff=diff)
    assert [change.path[-1] for change in use.changes] == accepted
    assert use.state == ("used" if accepted else "unused")


def test_a_change_of_a_file_or_of_the_kernel_can_be_accepted() -> None:
    before = snapshot({}, files={"/etc/fstab": "a"}, meta={"kernel": "6.8"})
    case, diff = pair(before, snapshot({}, files={"/etc/fstab": "b"}, meta={"kernel": "6.14"}))
    assert states(case, waiver(path="/etc/fstab"), waiver(path="meta.kernel", after="6.14"), diff=diff) == ["used"] * 2


def test_what_was_not_compared_leaves_it_open() -> None:
    before, after = snapshot(values(a=1)), snapshot(values(a=1), unread={"sysctl": [["values", "vm.b"]]})
    case, diff = pair(before, after)
    one, other = waiver(path="sysctl.values.vm.b"), waiver(path="sysctl.values.vm.a")
    assert states(case, one, other, diff=diff) == ["undecided", "unused"]
    assert states(judgement(), other, diff=None) == ["undecided"]
    diff = compare(before, after, Selection(only=(Pattern.parse("pci"),)))
    assert states(judgement(), other, diff=diff) == ["undecided"]


def test_a_waiver_for_what_could_not_be_read_of_a_fact() -> None:
    gap = Evidence(side="after", path=["lxc", "containers", "101", "running"], why="EACCES")
    case = judgement(unknown=(finding(STALE, "", verdict="unknown", class_=None, evidence=[gap]),))
    _, diff = pair(snapshot({}), snapshot({}))
    one, other = waiver(path="lxc.containers.101.running"), waiver(path="net")
    assert states(case, one, other, diff=diff) == ["undecided", "unused"]


def test_what_is_no_pattern_is_an_error_with_its_place() -> None:
    place = Origin(file="snap.toml", line=3, text="")
    with pytest.raises(FormatError, match=r"^snap\.toml:3: waiver\[1\]\.path: sysctll: there is no section 'sysctll'"):
        apply(judgement(), [waiver(path="sysctl"), waiver(path="sysctll")], TODAY, known=(), locate=lambda *_: place)


def test_findings_keep_their_order() -> None:
    case = judgement(finding("a.a", "2", severity="critical"), finding("a.b", "9"), finding("a.b", "1"),
                     finding("z.z", severity="low"), finding("z.z", severity="info"))
    applied(case, waiver(rule="n.n"))
    assert [(one.rule, one.subject) for one in case.findings] == [
        ("a.a", "2"), ("a.b", "9"), ("a.b", "1"), ("meta.waiver-unused", "n.n"), ("z.z", "x"), ("z.z", "x")]


def test_two_that_are_alike_are_one_finding() -> None:
    case = judgement()
    applied(case, waiver(rule="n.n", reason="one"), waiver(rule="n.n", reason="two"))
    assert len(meta(case)) == 1


def test_hostile_words_stay_on_one_line() -> None:
    case = judgement()
    applied(case, waiver(rule="a\n\nb", subject="x\r\ny", reason="a\n\n[CRITICAL]\tb", by="o\np"))
    (told,) = meta(case)
    assert all("\n" not in text and "\r" not in text for text in (told.message, told.subject, *told.why))


def test_a_moved_item_and_one_that_is_resolved_under_its_old_key() -> None:
    case = judgement(finding(verdict="pass", class_="resolved"), finding())
    applied(case, waiver(rule="a.b"))
    assert [(one.verdict, one.waived_by) for one in case.findings] == [("pass", None), ("fail", "planned")]
