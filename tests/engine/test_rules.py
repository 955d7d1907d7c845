"""Every shipped rule is run on its own examples."""

from __future__ import annotations

import pytest

from snapshot.engine.example import problems
from snapshot.engine.packs import shipped
from snapshot.engine.rule import Example, Rule

CASES = [pytest.param(rule, example, id=f"{rule.id}: {example.name}") for rule in shipped() for example in rule.example]


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_example(rule: Rule, example: Example) -> None:
    assert problems(rule, example) == []


def test_every_rule_shows_a_cure_or_says_why_there_is_none() -> None:
    for rule in shipped():
        assert rule.now and rule.durable, rule.id
