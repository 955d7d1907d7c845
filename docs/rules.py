"""The page of the rules, from the packs: what is judged, and of the known faults that are not, what is missing."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from snapshot import tomlio
from snapshot.engine.finding import SEVERITIES
from snapshot.engine.packs import directory, shipped
from snapshot.engine.rule import Rule

PAGE = Path(__file__).parent / "rules.md"
UNDETECTED = Path(directory()) / "undetected.toml"
HEAD = """\
# What is judged

One chapter a pack, named after the first word of its rules' ids. The page is made from the packs in `rules/`
(`python -m docs.generate`); `snap rules show ID` prints a rule with its cures and sources.

A *state* rule is judged on each snapshot, so that a fault is told to be new, to have been there before, or resolved. A
*change* rule is judged on a pair. A *forecast* rule is judged before a reboot. A severity after a comma is that of a
case that is worse or less bad.
"""
MISSING = """
## Known and not judged

Faults that are known, or cases of them, and the evidence that it would take to tell them.

| fault | what it is | what is missing |
|---|---|---|
"""


def page() -> str:
    """The whole page."""
    rules = sorted(shipped(), key=lambda rule: (_pack(rule), SEVERITIES.index(rule.severity), rule.id))
    chapters = "".join(f"\n## {pack}\n\n{_table(found)}" for pack, found in groupby(rules, _pack))
    rows = "".join(f"| `{one['id']}` | {one['title']} | {one['needs']} |\n" for one in undetected())
    return f"{HEAD}\n{_counts(rules)}{chapters}{MISSING}{rows}"


def undetected() -> list[dict[str, str]]:
    """The known faults that no rule judges, by id: title, and the evidence it would take."""
    text = UNDETECTED.read_bytes()
    found: list[dict[str, str]] = tomlio.loads(text, str(UNDETECTED)).get("undetected", [])
    return sorted(found, key=lambda one: one["id"])


def _pack(rule: Rule) -> str:
    return rule.id.partition(".")[0]


def _counts(rules: list[Rule]) -> str:
    by_severity = ", ".join(f"{sum(r.severity == word for r in rules)} {word}" for word in SEVERITIES)
    return f"{len(rules)} rules: {by_severity}.\n"


def _table(rules: Iterable[Rule]) -> str:
    rows = (f"| `{rule.id}` | {', '.join(_severities(rule))} | {rule.scope} | {rule.title} |\n" for rule in rules)
    return f"| rule | severity | scope | what it is about |\n|---|---|---|---|\n{''.join(rows)}"


def _severities(rule: Rule) -> list[str]:
    return [*dict.fromkeys([rule.severity, *(grade.severity for grade in rule.grades)])]
