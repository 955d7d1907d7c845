"""Which finding stands under which."""

from __future__ import annotations

from snapshot.engine.causes import explained
from snapshot.engine.finding import Class, Finding
from snapshot.engine.rule import Rule
from tests.engine.test_judge import made


def finding(rule: str, subject: str = "", class_: Class = "new") -> Finding:
    return Finding(rule=rule, severity="high", verdict="fail", class_=class_, subject=subject, message=f"of {rule}")


def explaining(name: str, *rules: str) -> Rule:
    return made(id=name, explains={"rules": [*rules]})


def causes(findings: list[Finding], *rules: Rule) -> list[list[str]]:
    return [one.cause for one in explained(findings, rules)]


def test_a_new_finding_names_the_first_that_explains_it() -> None:
    kernel, other = explaining("made.kernel", "made.major"), explaining("made.other", "made.*")
    old = finding("made.old", class_="existing")
    found = [finding("made.kernel"), finding("made.other"), finding("made.major"), old]
    assert causes(found, kernel, other) == [["made.other", ""], [], ["made.kernel", ""], []]


def test_findings_that_explain_each_other_stand_under_the_first() -> None:
    rules = [explaining(f"made.{name}", "made.*") for name in "abc"]
    found = [finding("made.a"), finding("made.b"), finding("made.c")]
    assert causes(found, *rules) == [[], ["made.a", ""], ["made.a", ""]]
    circle = [explaining("made.a", "made.b"), explaining("made.b", "made.c"), explaining("made.c", "made.a")]
    assert causes(found, *circle) == [[], ["made.a", ""], ["made.b", ""]]


def test_findings_of_one_rule_that_explains_its_own() -> None:
    found = [finding("made.a", "x"), finding("made.a", "y")]
    assert causes(found, explaining("made.a", "made.a")) == [[], ["made.a", "x"]]


def test_the_nearest_cause_counts() -> None:
    rules = [explaining("made.kernel", "made.driver", "made.node"), explaining("made.driver", "made.node")]
    found = [finding("made.kernel"), finding("made.driver"), finding("made.node")]
    assert causes(found, *rules) == [[], ["made.kernel", ""], ["made.driver", ""]]


def test_of_causes_of_one_rule_that_which_says_the_same_names() -> None:
    found = [finding("made.option", name).copy(message=f"{name} is not set") for name in ("nvidia.one", "uvm.hmm")]
    effect = finding("made.effect").copy(message="hmm is on")
    assert causes([*found, effect], explaining("made.option", "made.effect"))[2] == ["made.option", "uvm.hmm"]


def test_one_that_explains_what_is_about_the_same_thing_alone() -> None:
    rule = made(id="made.lost", explains={"same": ["made.error"]})
    lost = [finding("made.lost", "GPU-a").copy(part="0000:01:00.0"), finding("made.lost", "GPU-b")]
    errors = [finding("made.error", key).copy(message=text) for key, text in (
        ("x", "0000:01:00.0: Xid 79"), ("y", "0000:01:00.01: Xid 79"), ("GPU-b", "Xid 79"))]
    assert causes([*lost, *errors], rule)[2:] == [["made.lost", "GPU-a"], [], ["made.lost", "GPU-b"]]
