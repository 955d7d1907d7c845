"""The trail of a verdict leads to the verdict that the judge gave."""

from __future__ import annotations

from collections.abc import Iterator

from snapshot import tomlio
from snapshot.derive import Derived, derived
from snapshot.diff import compare
from snapshot.diff.change import MISSING
from snapshot.document import Snapshot
from snapshot.engine import trail
from snapshot.engine.example import Example
from snapshot.engine.example import snapshot as build
from snapshot.engine.items import Case
from snapshot.engine.judge import judge
from snapshot.engine.lint import check, examples
from snapshot.engine.packs import directory, files, read, shipped
from snapshot.engine.path import Gap
from snapshot.engine.rule import AnyOf, Condition, Rule
from tests.pairs import GPUS, pci, snapshot, story

RULES = {rule.id: rule for rule in shipped() if rule.scope != "forecast"}


def case(before: Snapshot | None, after: Snapshot) -> Case:
    return trail.case(before, after, compare(before, after) if before else None)


def shown() -> Iterator[tuple[Rule, Example]]:
    """Every example of the shipped rules."""
    for path in files(directory()):
        table = tomlio.loads(read(path), path)
        for rule, cases in zip(check(table, path), examples(table), strict=True):
            yield from ((rule, example) for example in cases)


def of_example(rule: Rule, example: Example) -> Case:
    after, before = build(rule, example.after), build(rule, example.before) if example.before else None

    def derive(name: str, of: Snapshot, old: Snapshot | None) -> Derived:
        side = example.after if of is after else example.before
        return Derived(side.derived[name]) if side and name in side.derived else derived(name, of, old)

    return Case(after, before, case(before, after).diff, derive)


def test_it_ends_in_the_verdict_of_the_judge() -> None:
    """Of what cannot be judged as a whole (subject "") the trail does not know why, nor of items taken together."""
    met = set()
    for rule, example in ((rule, example) for rule, example in shown() if rule.subject is None):
        here = of_example(rule, example)
        judgement = judge(here.before, here.after, here.diff, [rule], here.derive, [rule.scope])
        for finding in (*judgement.findings, *judgement.unknown):
            trials = {trial.side: trial.verdict for trial in trail.trail(rule, here, finding.subject)}
            if finding.verdict != "unknown" or finding.subject:
                assert trials.get("after", "pass") == finding.verdict, (rule.id, example.name)
                assert (trials.get("before") == "fail") == (finding.class_ in ("existing", "resolved")
                                                            and here.before is not None), (rule.id, example.name)
            met.add(finding.class_ or finding.verdict)
    assert met >= {"new", "existing", "resolved", "expected", "unknown"}


def test_each_condition_has_what_it_met() -> None:
    [trial] = trail.trail(RULES["pcie.maxreadreq-reverted"], case(*story()), GPUS[0])
    path = ("pci", "functions", GPUS[0], "express", "max_read_request_bytes")
    assert {step.role for step in trial.steps[:-1]} == {"where"} and trial.steps[-1].role == "check"
    check = trial.steps[-1]
    assert check.answer is False and check.right
    assert (check.left.value, check.left.side, check.left.path) == (512, "after", path)
    assert (check.right.value, check.right.side, check.right.path) == (4096, "before", path)
    assert [row.name for row in trial.rows] == ["read_requests"]


def test_a_state_rule_is_shown_on_both_sides_and_its_row_too() -> None:
    now, then = trail.trail(RULES["lxc.device-major-stale"], case(*story()), "101 /dev/nvidia-uvm")
    assert (now.side, now.verdict, then.side, then.verdict) == ("after", "fail", "before", "pass")
    assert now.rows[0].values["major"] == 511 and then.rows[0].values["major"] == 508
    assert [step.left.value for step in then.steps if step.role == "check"] == ["ok", MISSING]


def test_operands_limits_and_alternatives() -> None:
    one = Condition(path=["item", "sysctl", "values", "a"], op="gt", limit="least")
    two = Condition(path=["item", "sysctl", "values", "b"], op="exists")
    rule = Rule(id="a.b", title="t", severity="low", scope="state", needs=["sysctl"], limits={"least": 5}, message="m",
                check=[AnyOf(any=[one, two]), one], references=["r"])
    [trial] = trail.trail(rule, case(None, snapshot({"sysctl": {"values": {"a": 3}}})), "")
    assert [(step.answer, step.left.value, step.right and step.right.value, step.choice) for step in trial.steps] == [
        (False, 3, 5, 1), (False, MISSING, None, 1), (False, 3, 5, 0)]
    assert trial.verdict == "fail" and trial.steps[0].right and trial.steps[0].right.path == ()


def test_what_is_unknown_is_a_gap_and_what_is_not_there_has_no_trail() -> None:
    rule = RULES["pcie.maxreadreq-reverted"]
    before, _ = story()
    poor = snapshot({"pci": {"functions": {GPUS[0]: {"vendor": "10de", "device": "2bb5", "driver": "nvidia",
                                                      "source": "config"}}}},
                    unread={"pci": [["functions", GPUS[0], "express"]]})
    [trial] = trail.trail(rule, case(before, poor), GPUS[0])
    assert trial.verdict == "unknown" and isinstance(trial.steps[-1].answer, Gap)
    assert trail.trail(rule, case(before, poor), "0000:ff:00.0") == []


def test_what_is_gone_is_no_business_of_a_rule_about_what_was_kept() -> None:
    before, after = snapshot({"pci": pci(4096)}), snapshot({"pci": pci(512, GPUS[1:])})
    assert trail.trail(RULES["pcie.maxreadreq-reverted"], case(before, after), GPUS[0]) == []
    assert trail.trail(RULES["pcie.maxreadreq-reverted"], case(before, after), GPUS[1])
