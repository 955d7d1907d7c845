"""Verdicts and classes: what is new, was so before, is resolved, and above all what is not known."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from snapshot.derive import Derived
from snapshot.diff import compare
from snapshot.document import Snapshot
from snapshot.engine.finding import schema
from snapshot.engine.judge import NOT_JUDGED_BEFORE, Judgement, judge
from snapshot.engine.lint import check
from snapshot.engine.packs import shipped
from snapshot.engine.rule import Rule
from tests.pairs import GPUS, devices, gpu, lxc, pci, snapshot, story

RULES = {rule.id: rule for rule in shipped() if rule.scope != "forecast"}
STALE, REVERTED = STORY = RULES["lxc.device-major-stale"], RULES["pcie.maxreadreq-reverted"]


def made(**change: Any) -> Rule:
    """A state rule: every sysctl value is at least 10."""
    rule = {
        "id": "made.rule", "title": "small", "severity": "low", "scope": "state", "needs": ["sysctl"],
        "each": ["sysctl", "values"], "check": [{"path": ["item"], "op": "ge", "value": 10}],
        "message": "{subject} is {value}", "names": {"value": ["item"]}, "references": ["r"],
        "now": ["sysctl {subject}"],
        "example": [{"name": name, "verdict": name, "after": {}} for name in ("fail", "pass")],
    }
    return check({"rule": [rule | change]}, "made.toml")[0]


def judged(rule: Rule, before: Snapshot | None, after: Snapshot) -> Judgement:
    return judge(before, after, compare(before, after) if before else None, [rule])


def values(**numbers: Any) -> Snapshot:
    return snapshot({"sysctl": {"values": numbers}})


def classes(judgement: Judgement) -> dict[str, str | None]:
    return {finding.subject: finding.class_ for finding in judgement.findings}


def test_classes_of_a_state_rule() -> None:
    before = values(new=10, old=1, mended=1, gone=1, fine=11)
    found = judged(made(), before, values(new=1, old=1, mended=10, fine=11, born=1))
    assert classes(found) == {"new": "new", "old": "existing", "mended": "resolved", "gone": "resolved", "born": "new"}
    assert found.passed == 2 and not found.unknown
    resolved = next(finding for finding in found.findings if finding.subject == "mended")
    assert (resolved.verdict, resolved.message, resolved.now) == ("pass", "mended is 1", [])


def test_one_snapshot_alone() -> None:
    found = judged(made(), None, values(a=1, b=10))
    assert classes(found) == {"a": "existing"} and found.passed == 1


def test_a_change_rule_has_nothing_to_say_of_one_snapshot() -> None:
    found = judged(REVERTED, None, story()[1])
    assert not found.findings and not found.unknown and not found.not_applicable


def test_fails_after_and_was_not_judged_before() -> None:
    before = snapshot({"sysctl": {"values": {}}}, unread={"sysctl": [["values", "a"]]})
    (finding,) = judged(made(), before, values(a=1)).findings
    assert finding.class_ == "new" and finding.why == [NOT_JUDGED_BEFORE]


@pytest.mark.parametrize("state", ["failed", "denied", "timeout", "skipped"])
def test_a_section_that_failed_after_is_unknown_and_resolves_nothing(state: Any) -> None:
    found = judged(made(), values(a=1), snapshot({}, states={"sysctl": state}))
    assert not found.findings and not found.passed
    (finding,) = found.unknown
    assert (finding.verdict, finding.subject, finding.class_) == ("unknown", "", None)
    assert finding.evidence[0].path == ["sysctl"] and finding.evidence[0].side == "after"


def test_an_empty_snapshot_is_no_pass() -> None:
    for before in (None, snapshot({}), story()[0]):
        found = judge(before, snapshot({}), compare(before, snapshot({})) if before else None, STORY)
        assert not found.passed and not found.findings
        assert {finding.rule for finding in found.unknown} == {r.id for r in STORY if before or r.scope == "state"}


def test_an_absent_section_makes_the_rule_not_applicable() -> None:
    found = judged(made(), None, snapshot({}, states={"sysctl": "absent"}))
    assert [*found.not_applicable] == ["made.rule"] and not found.unknown


def test_a_single_unknown_item_is_unknown_and_the_others_are_judged() -> None:
    after = snapshot({"sysctl": {"values": {"a": 1, "b": 10}}}, unread={"sysctl": [["values", "c"]]})
    found = judged(made(), None, after)
    assert [finding.subject for finding in found.unknown] == ["c"]
    assert classes(found) == {"a": "existing"} and found.passed == 1


def test_a_table_of_which_not_all_keys_are_known_is_unknown_besides() -> None:
    after = snapshot({"sysctl": {"values": {"a": 10}}}, unread={"sysctl": [["values"]]})
    found = judged(made(), None, after)
    assert [finding.subject for finding in found.unknown] == [""] and found.passed == 1


def test_a_value_that_the_operator_cannot_judge_is_unknown() -> None:
    (finding,) = judged(made(), None, values(a="ten")).unknown
    assert "cannot be judged by ge" in str(finding.evidence[0].why)


def test_of_a_long_value_that_cannot_be_judged_the_beginning_is_said() -> None:
    (finding,) = judged(made(), None, values(a="x" * 1_000_000)).unknown
    assert len(str(finding.evidence[0].why)) < 100


def test_a_value_that_is_not_there_is_unknown_and_said_in_words() -> None:
    check = {"path": ["after", "sysctl", "values", "b"], "op": "ge", "value": 1}
    (finding,) = judged(made(check=[check]), None, values(a=1)).unknown
    assert finding.evidence[0].why == "cannot be judged by ge: it does not exist, 1"


def test_a_false_guard_wins_over_an_unknown_one_and_a_pass_over_an_unknown_guard() -> None:
    unknown = {"path": ["after", "cmdline", "parameters"], "op": "exists"}
    never = {"path": ["item"], "op": "equal", "value": "x"}
    assert judged(made(where=[unknown, never]), None, values(a=1)).not_applicable.keys() == {"made.rule"}
    found = judged(made(where=[unknown]), None, values(a=1, b=10))
    assert found.passed == 1 and [finding.subject for finding in found.unknown] == ["a"]


def test_expected_needs_its_evidence() -> None:
    asked = {"when": [{"path": ["after", "cmdline", "parameters", "tuned"], "op": "exists"}], "text": "asked for"}
    told = snapshot({"sysctl": {"values": {"a": 1}}, "cmdline": {"tokens": [], "parameters": {"tuned": [True]}}})
    (finding,) = judged(made(expected=asked), values(a=10), told).findings
    assert (finding.class_, finding.explained_by) == ("expected", "asked for")
    (finding,) = judged(made(expected=asked), values(a=10), values(a=1)).findings
    assert (finding.class_, finding.explained_by) == ("new", None)


def test_before_is_unknown_to_a_rule_that_judges_one_side() -> None:
    rule = made(check=[{"path": ["item"], "op": "equal", "to": ["before", "sysctl", "values", "a"]}])
    (finding,) = judged(rule, None, values(a=1)).unknown
    assert finding.evidence[0].why == "there is no snapshot from before"


def test_the_story() -> None:
    before, after = story()
    found = judge(before, after, compare(before, after), STORY)
    assert [(f.rule, f.subject, f.class_) for f in found.findings] == [
        *(("lxc.device-major-stale", f"101 {path}", "new") for path in ("/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")),
        *(("pcie.maxreadreq-reverted", address, "new") for address in GPUS),
    ]
    first = found.findings[0]
    assert first.message == "container 101 (llm) cannot open /dev/nvidia-uvm"
    assert "nvidia-uvm had 508 and now has 511; nobody owns 508" in first.why[0]
    assert (first.evidence[0].file, first.evidence[0].line) == ("/etc/pve/lxc/101.conf", 14)
    assert first.now == ["sed -i '14s/c 508:/c 511:/' /etc/pve/lxc/101.conf"]
    last = found.findings[-1]
    assert (last.before, last.after) == (4096, 512)
    assert last.now == ["setpci -s 0000:e1:00.0 CAP_EXP+8.w=5000:7000"]
    assert not found.unknown


def test_the_story_the_other_way_round_is_resolved_and_no_regression() -> None:
    after, before = story()
    tables = {"devices": devices(511), "lxc": lxc(508), "pci": pci(512)}
    assert set(classes(judged(STALE, snapshot(tables), after)).values()) == {"resolved"}
    assert not judged(REVERTED, before, after).findings


def test_findings_stand_in_the_order_of_the_lines_that_they_blame() -> None:
    rows = {"a": 15, "b": 7, "c": 14}
    table = {key: {"file": "/f", "line": line, "text": "x"} for key, line in rows.items()}
    rule = made(each=["derived", "device_access"], check=[{"path": ["item", "no"], "op": "exists"}],
                evidence=[["item"]], names={})
    found = judge(None, values(), None, [rule], lambda name, after, before: Derived(dict(table)))
    assert [finding.subject for finding in found.findings] == ["b", "c", "a"]


def test_many_that_one_unread_path_hides_are_unknown_for_one_reason() -> None:
    bare = {"functions": {a: {k: v for k, v in gpu(0).items() if k != "express"} for a in GPUS}}
    hidden = snapshot({"pci": bare}, unread={"pci": [["functions", a, "express"] for a in GPUS]}, why="needs root")
    found = judged(REVERTED, hidden, snapshot({"pci": pci(512)}))
    assert len(found.unknown) == found.items[REVERTED.id] == 8
    assert [gap.path for gap in found.unknown[0].evidence] == [["pci", "functions", GPUS[0], "express"]]


@pytest.mark.parametrize("turn", [1, -1])
def test_of_two_alternatives_that_are_not_known_the_one_with_a_source_says_why(turn: int) -> None:
    either = [{"path": ["after", "kernel", "release"], "op": "equal", "value": "6"},
              {"path": ["item"], "op": "ge", "value": 10}]
    rule = made(check=[{"any": either[::turn]}], needs=["sysctl", "kernel"])
    after = snapshot({"sysctl": {"values": {"a": "text"}}, "kernel": {}}, unread={"kernel": [["release"]]})
    [found] = judged(rule, None, after).unknown
    assert [gap.path for gap in found.evidence] == [["kernel", "release"]] and "EACCES" in " ".join(found.why)


def test_swapped_majors_name_the_new_owner() -> None:
    before = snapshot({"devices": devices(508, nvidia_caps=511), "lxc": lxc(508)})
    after = snapshot({"devices": devices(511, nvidia_caps=508), "lxc": lxc(508)})
    finding = judged(STALE, before, after).findings[0]
    assert "508 is now nvidia-caps's" in finding.why[0]


def test_a_healthy_reboot_finds_nothing() -> None:
    tables = {"pci": pci(512), "devices": devices(508), "lxc": lxc(508)}
    before, after = snapshot(tables, meta={"boot_id": "a"}), snapshot(tables, meta={"boot_id": "b"})
    found = judge(before, after, compare(before, after), STORY)
    assert not found.findings and not found.unknown and found.passed == 10


def test_a_function_that_before_could_not_see_is_unknown_and_a_new_one_is_not() -> None:
    after = snapshot({"pci": {"functions": {GPUS[0]: gpu(512)}}})
    hidden = snapshot({"pci": {"functions": {}}}, unread={"pci": [["functions"]]})
    assert [f.subject for f in judged(REVERTED, hidden, after).unknown] == [GPUS[0]]
    assert judged(REVERTED, snapshot({"pci": {"functions": {}}}), after).not_applicable.keys() == {REVERTED.id}


def test_findings_fit_the_published_schema() -> None:
    before, after = story()
    found = judge(before, after, compare(before, after), STORY)
    lost = judge(before, snapshot({}), compare(before, snapshot({})), STORY)
    validator = Draft202012Validator(schema())
    for finding in (*found.findings, *lost.unknown):
        validator.validate(finding.table())
    assert not validator.is_valid({"rule": 1})
    assert found.findings[0].table()["class"] == "new"


def ahead(rule: Rule, after: Snapshot) -> Judgement:
    return judge(None, after, None, [rule], scopes=("forecast", "state"))


def test_before_a_reboot_what_one_fault_comes_of_is_one_finding() -> None:
    grades = [{"when": [{"path": ["item"], "op": "lt", "value": 2}], "severity": "high"}]
    rule = made(scope="forecast", subject="", grades=grades, evidence=[["item"]])
    found = ahead(rule, values(a=2, b=1, c=10)).findings
    assert [(one.key(), one.severity, one.message) for one in found] == [(("made.rule", ""), "high", "b is 1")]
    assert (found[0].why, found[0].now) == (["a is 2"], ["sysctl b", "sysctl a"])
    assert [proof.value for proof in found[0].evidence] == [1, 2]


def test_a_forecast_has_the_subject_of_its_fault_as_it_is() -> None:
    table = {"low_bytes": 1 << 30, "unit": 0}
    rule = made(scope="forecast", subject="{value} of {subject}", check=[{"path": ["item"], "op": "equal", "value": 0}])
    assert [one.subject for one in ahead(rule, values(**table)).findings] == ["1073741824 of low_bytes"]
    nameless = made(scope="forecast", subject="{what}", names={"what": ["before", "meta", "label"], "value": ["item"]})
    assert [one.subject for one in ahead(nameless, values(a=1)).findings] == ["a"]


def test_what_is_unknown_before_a_reboot_may_be_about_anything_unless_its_subject_is_known() -> None:
    after = snapshot({"sysctl": {"values": {}}}, unread={"sysctl": [["values", "a"]]})
    for subject, about in ((None, "a"), ("{value}", ""), ("{subject}", "a")):
        found = ahead(made(scope="forecast", subject=subject), after).unknown
        assert [(one.subject, one.message) for one in found] == [(about, "small: a")]


def test_a_rule_that_foresees_leaves_out_what_the_boot_mends() -> None:
    guard = [{"path": ["item"], "op": "not-equal", "value": 1}]
    rule = made(foresees=True, ahead=guard, subject="{value}")
    assert classes(ahead(rule, values(a=1, b=2))) == {"2": "existing"}
    assert classes(judged(rule, None, values(a=1, b=2))) == {"a": "existing", "b": "existing"}
