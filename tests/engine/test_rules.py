"""Every shipped rule: its pack has nothing wrong, and it says of its own examples what they say it has to."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from snapshot import tomlio
from snapshot.diff import compare
from snapshot.engine.example import Example, problems
from snapshot.engine.judge import expecting, judge
from snapshot.engine.lint import check, examples, faults
from snapshot.engine.packs import directory, files, read, shipped
from snapshot.engine.rule import Rule
from tests.pairs import snapshot

PACKS = {path: tomlio.loads(read(path), path) for path in files(directory())}
CASES = [
    pytest.param(rule, example, id=f"{rule.id}: {example.name}")
    for path, table in PACKS.items() for rule, shown in zip(check(table, path), examples(table), strict=True)
    for example in shown
]


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_example(rule: Rule, example: Example) -> None:
    assert problems(rule, example) == []


@pytest.mark.parametrize("path", PACKS, ids=lambda path: Path(path).name)
@pytest.mark.skipif(sys.version_info >= (3, 15), reason="its tomllib reads TOML 1.1")
def test_a_pack_is_toml_1_0(path: str) -> None:
    tomllib.loads(Path(path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PACKS, ids=lambda path: Path(path).name)
def test_a_pack_has_nothing_wrong(path: str) -> None:
    assert [*faults(PACKS[path], path)] == []


def test_what_is_read_without_the_examples_is_what_the_packs_say() -> None:
    assert [rule for path, table in PACKS.items() for rule in check(table, path)] == [*shipped()]


RULES = [rule for rule in shipped() if not rule.id.startswith("meta.")]  # those are about the snapshots themselves


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.id}, {rule.scope}")
def test_of_snapshots_that_hold_nothing_a_rule_says_that_it_cannot_judge(rule: Rule) -> None:
    before, after = (snapshot({}, meta={"boot_id": boot}) for boot in "ab")
    derive = expecting({"gpus": 8, "mounts": ["/models"]})
    found = judge(before, after, compare(before, after), [rule], derive, [rule.scope])
    assert not found.findings and not found.passed and not found.not_applicable
    assert {finding.rule for finding in found.unknown} == {rule.id}
