"""A rule for people, and conditions in words."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from snapshot.diff.change import MISSING
from snapshot.engine.example import Example
from snapshot.engine.ops import OPERATORS
from snapshot.engine.packs import shipped
from snapshot.engine.path import Gap
from snapshot.engine.rule import AnyOf, Condition, Explains, Grade, Note, Rule
from snapshot.report import condition_words as words
from snapshot.report.rule_sheet import render_rule

BIG = Condition(path=["item", "speed_gts"], op="gt", limit="least")
NO_WORSE = Condition(path=["item", "speed_gts"], op="not-worse", better="higher", tolerance="5%")
RULE = Rule(
    id="pcie.made-up", title="a link is slow", severity="medium", scope="change", needs=["pci"], boot="new",
    settles=True, each=["pci", "functions"], items=["kept", "added"], fact="read_requests", limits={"least": 8},
    where=[Condition(path=["item", "driver"], op="exists")],
    check=[AnyOf(any=[NO_WORSE, BIG])],
    mended=[BIG], grades=[Grade(when=[BIG], severity="low")], explains=Explains(rules=["nvidia.*"], changes=["nvidia"]),
    expected=Note(when=[BIG], text="asked for"), better=Note(when=[BIG], text="faster"),
    message=["{subject} is slow", "slow"], why=[Note(when=[BIG], text=["because {x}", "or so"])],
    now=["{restore}", "setpci -s {subject} x=1"], durable=["write a unit"], warnings=["{warnings}", "It may hurt."],
    verify=["lspci"], references=["a book"],
)


def test_all_that_a_rule_can_say(golden: SnapshotAssertion) -> None:
    side: dict[str, Any] = {"after": {"sections": {}}}
    examples = [Example.model_validate({"name": verdict, "verdict": verdict, "class": class_} | side)
                for verdict, class_ in (("fail", "new"), ("pass", None), ("unknown", None), ("not-applicable", None))]
    assert render_rule(RULE, examples) == golden
    assert max(map(len, render_rule(RULE, examples, width=60).splitlines())) <= 60


@pytest.mark.parametrize("rule", shipped(), ids=lambda rule: str(rule.id))
def test_every_shipped_rule_can_be_shown(rule: Rule) -> None:
    text = render_rule(rule, [])
    assert rule.id in text and "Has to hold, else it fails:\n  " in text and "References:\n  " in text
    assert "Examples" not in text


def test_every_operator_has_words() -> None:
    assert words.PHRASES.keys() == OPERATORS.keys()


@pytest.mark.parametrize(("condition", "said"), [
    ({"path": ["item", "a"], "op": "absent"}, "a does not exist"),
    ({"path": ["item"], "op": "equal", "value": "x"}, "the value is x"),
    ({"path": ["was", "a"], "op": "in", "value": [1, "b", False]}, "a before is one of 1, b, false"),
    ({"path": ["item", "a"], "op": "unchanged"}, "a is still a before"),
    ({"path": ["after", "sysctl", "values", "x.y"], "op": "changed"},
     "sysctl.values.x.y is no longer sysctl.values.x.y before"),
    ({"path": ["fact", "a"], "op": "ge", "limit": "least"}, "a of read_requests is at least 8 (limit least)"),
    ({"path": ["parent", "a"], "op": "matches", "value": "^x"}, "a of all matches ^x"),
    ({"path": ["item", "a"], "op": "not-worse", "to": ["was", "b"], "better": "lower", "tolerance": 2},
     "a is no worse than b before (give or take 2) (lower is better)"),
])
def test_conditions_in_words(condition: dict[str, Any], said: str) -> None:
    assert words.condition(Condition(**condition), RULE) == said


@pytest.mark.parametrize(("value", "said"), [
    (MISSING, "nothing"), (Gap(("pci",), "/src", "EACCES"), "unknown: EACCES (/src)"), ("", '""'), ("a b", "a b"),
    (True, "true"), (1.5, "1.5"), ([], "an empty list"), ([1, "a"], "1, a"), ({"a": 1}, "a table of 1 key"),
    ([{"a": 1}, {"a": 2}], "2 entries"), ([[1, ["a"]]], "1, a"),
])
def test_values_in_words(value: Any, said: str) -> None:
    assert words.said(value) == said
