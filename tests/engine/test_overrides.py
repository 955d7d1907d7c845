"""Rules as a user wants them: what an override changes, and which are errors."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.engine.judge import Judgement, judge
from snapshot.engine.lint import check
from snapshot.engine.overrides import disabled, overridden
from snapshot.engine.rule import Rule
from snapshot.engine.settings import Rules
from snapshot.errors import FormatError
from snapshot.sections.base import Origin
from tests.pairs import snapshot


def made(name: str = "made.rule", **change: Any) -> Rule:
    """A state rule: every sysctl value is at least 10; info where it is not 0."""
    rule = {
        "id": name, "title": "small", "severity": "high", "scope": "state", "needs": ["sysctl"],
        "each": ["sysctl", "values"], "limits": {"least": 10, "word": "x", "share": 0.5},
        "check": [{"path": ["item"], "op": "ge", "limit": "least"}],
        "grades": [{"when": [{"path": ["item"], "op": "gt", "value": 0}], "severity": "info"}],
        "message": "{subject} is {value}", "group": "{count} are {value}", "why": ["shipped"],
        "names": {"value": ["item"]}, "references": ["r"], "now": ["sysctl {subject}"],
        "example": [{"name": verdict, "verdict": verdict, "after": {}} for verdict in ("fail", "pass")],
    }
    return check({"rule": [rule | change]}, f"{name.partition('.')[0]}.toml")[0]


RULES = (made(), made("made.other"), made("net.mtu"))


def rules(**values: Any) -> Rules:
    return Rules.model_validate(values)


def judged(settings: Rules) -> Judgement:
    found = overridden(RULES[:1], settings)
    return judge(None, snapshot({"sysctl": {"values": {"a": 5}}}), None, found)


def one(**override: Any) -> Rules:
    return rules(override={"made.rule": override})


def test_without_settings_the_rules_stay_as_they_are() -> None:
    assert overridden(RULES, Rules()) == RULES
    assert overridden(RULES, one()) == RULES
    assert disabled([rule.id for rule in RULES], Rules()) == ()


@pytest.mark.parametrize(("override", "said"), [
    ({}, ("info", "a is 5", "{count} are 5", ["shipped"])),
    ({"severity": "critical"}, ("critical", "a is 5", "{count} are 5", ["shipped"])),
    ({"message": "look at {subject}, below {least}"}, ("info", "look at a, below 10", None, ["shipped"])),
    ({"message": ["{nothing}", "{value}!"], "group": "{count}!"}, ("info", "5!", "{count}!", ["shipped"])),
    ({"why": ["mine: {value}"]}, ("info", "a is 5", "{count} are 5", ["mine: 5"])),
    ({"why": []}, ("info", "a is 5", "{count} are 5", [])),
])
def test_severity_and_wording(override: dict[str, Any], said: tuple[Any, ...]) -> None:
    (found,) = judged(one(**override)).findings
    assert (found.severity, found.message, found.group, found.why) == said


def test_title() -> None:
    assert overridden(RULES, one(title="mine"))[0].title == "mine"


@pytest.mark.parametrize(("least", "fails"), [(5, False), (6, True), (5.5, True), (4.5, False)])
def test_a_limit_decides(least: float, fails: bool) -> None:
    found = judged(one(limits={"least": least}))
    assert bool(found.findings) is fails and not found.unknown


def test_the_other_limits_and_the_shipped_rule_stay() -> None:
    changed = overridden(RULES, one(limits={"word": "y"}))
    assert changed[0].limits == {"least": 10, "word": "y", "share": 0.5}
    assert RULES[0].limits["word"] == "x" and changed[1:] == RULES[1:]


@pytest.mark.parametrize(("settings", "off"), [
    (rules(disable=["made.rule"]), ["made.rule"]), (rules(disable=["made.*"]), ["made.rule", "made.other"]),
    (rules(disable=["*"]), ["made.rule", "made.other", "net.mtu"]),
    (one(disabled=True), ["made.rule"]), (one(disabled=False), []),
    (rules(disable=["made.*"], override={"net.mtu": {"disabled": True, "severity": "low"}}),
     ["made.rule", "made.other", "net.mtu"]),
])
def test_disabled_rules_are_dropped_and_listed(settings: Rules, off: list[str]) -> None:
    ids = [rule.id for rule in RULES]
    assert [*disabled(ids, settings)] == off
    assert [rule.id for rule in overridden(RULES, settings)] == [name for name in ids if name not in off]


@pytest.mark.parametrize(("settings", "path", "said"), [
    (rules(override={"made.rul": {}}), ("rules", "made.rul"),
     "rules.\"made.rul\": there is no rule 'made.rul' (made.rule?)"),
    (rules(override={"zzzz.q": {}}), ("rules", "zzzz.q"),
     "rules.\"zzzz.q\": there is no rule 'zzzz.q' (made.rule, made.other, net.mtu?)"),
    (rules(disable=["net.mtu", "made.othr"]), ("rules", "disable", 1),
     "rules.disable[1]: there is no rule 'made.othr' (made.other?)"),
    (rules(disable=["pci.*"]), ("rules", "disable", 0),
     "rules.disable[0]: there is no rule 'pci.*' (made.rule, made.other, net.mtu?)"),
    (one(limits={"leest": 1}), ("rules", "made.rule", "limits", "leest"),
     "rules.\"made.rule\".limits.leest: there is no limit 'leest' (least?)"),
    (one(limits={"least": "1"}), ("rules", "made.rule", "limits", "least"),
     "rules.\"made.rule\".limits.least: the rule has 10 there and cannot take '1'"),
    (one(limits={"word": 1}), ("rules", "made.rule", "limits", "word"),
     "rules.\"made.rule\".limits.word: the rule has 'x' there and cannot take 1"),
    (rules(override={"a\nb.c": {}}), ("rules", "a\nb.c"), None),
])
def test_what_is_not_there_is_an_error(settings: Rules, path: tuple[str | int, ...], said: str | None) -> None:
    asked = []

    def locate(*keys: str | int) -> Origin:
        asked.append(keys)
        return Origin(file="snap.toml", line=7, text="")

    with pytest.raises(FormatError) as error:
        overridden(RULES, settings, locate)
    assert asked == [path]
    assert "\n" not in str(error.value)
    if said:
        assert str(error.value) == f"snap.toml:7: {said}"
        with pytest.raises(FormatError) as bare:
            overridden(RULES, settings)
        assert str(bare.value) == said


def test_a_limit_of_a_rule_that_has_none() -> None:
    bare = made(limits={}, check=[{"path": ["item"], "op": "ge", "value": 10}])
    with pytest.raises(FormatError, match=r"there is no limit 'least'$"):
        overridden([bare], one(limits={"least": 1}))


def test_a_limit_that_the_rule_cannot_use_is_an_error() -> None:
    rule = made(check=[{"path": ["item"], "op": "matches", "limit": "word"}])
    with pytest.raises(FormatError, match=r'^rules\."made\.rule"\.limits: not a regular expression'):
        overridden([rule], one(limits={"word": "("}))


def test_a_setting_meets_a_fault_and_its_forecast_and_a_wording_the_fault_alone() -> None:
    both = (made(), made(scope="forecast", limits={"least": 10, "ahead": 1}, message="it will be {value}"))
    fault, foreseen = overridden(both, one(severity="low", limits={"least": 5}, message="mine"))
    assert (fault.severity, fault.limits["least"], fault.message) == ("low", 5, "mine")
    assert (foreseen.severity, foreseen.message) == ("low", "it will be {value}")
    assert foreseen.limits == {"least": 5, "ahead": 1}
    assert overridden(both, one(limits={"ahead": 2}))[1].limits["ahead"] == 2
    assert overridden(both, one(disabled=True)) == () == overridden(both, rules(disable=["made.*"]))
