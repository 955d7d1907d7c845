"""Rules applied to one snapshot or a pair: findings, what could not be judged and why, and how many passed.

State rules are judged on each side: fails after only is new, on both sides existing, before only resolved. Change
rules are judged on the pair. Items pair as the diff pairs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..derive import derived
from ..diff import Diff
from .finding import SEVERITIES, Class, Finding
from .items import Derive, Ruling, covering, holds, rulings
from .rule import Rule
from .wording import failed, unknown

if TYPE_CHECKING:
    from ..document import Snapshot

NOT_JUDGED_BEFORE = "Whether it was so before is not known: the evidence is missing there."


@dataclass(slots=True)
class Judgement:
    """What the rules say. NEEDS has the sections of each rule, NOT_APPLICABLE the rules that apply to no item."""

    findings: list[Finding] = field(default_factory=list)
    unknown: list[Finding] = field(default_factory=list)
    passed: int = 0  # items, over all rules
    not_applicable: list[str] = field(default_factory=list)
    needs: dict[str, list[str]] = field(default_factory=dict)
    items: dict[str, int] = field(default_factory=dict)  # how many each rule walked


def judge(
    before: Snapshot | None, after: Snapshot, diff: Diff | None, rules: Iterable[Rule], derive: Derive = derived
) -> Judgement:
    """Apply RULES to a pair and its DIFF, or, with both None, its state rules to one snapshot.

    Findings come by severity and rule, then as the lines that they blame stand in their files. FormatError when a
    section does not fit its model.
    """
    out = Judgement()
    for rule in rules:
        out.needs[rule.id] = rule.needs
        if rule.scope == "state" or diff:
            now = rulings(rule, after, before, diff, derive)
            then = rulings(rule, before, None, None, derive) if before and rule.scope == "state" else None
            out.items[rule.id] = len(now)
            _classify(out, rule, now, then, _keys_before(rule, diff))
    for findings in (out.findings, out.unknown):
        findings.sort(key=_order)
    return out


def _order(found: Finding) -> tuple[int, str, str, int, str]:
    file, line = next(((e.file, e.line) for e in found.evidence if e.file and e.line), ("", 0))
    return SEVERITIES.index(found.severity), found.rule, file, line, found.subject


def _keys_before(rule: Rule, diff: Diff | None) -> Mapping[str, str]:
    """Key after -> key before of items that moved; derived rows keep their keys."""
    section, *path = rule.each
    return {} if diff is None or section == "derived" else diff.pairing(section, tuple(path)).before_of


def _classify(
    out: Judgement, rule: Rule, now: dict[str, Ruling], then: dict[str, Ruling] | None, was: Mapping[str, str]
) -> None:
    """Take the rulings of both sides together. THEN is None where only one is judged."""
    if all(ruling.verdict == "not-applicable" for ruling in (*now.values(), *(then or {}).values())):
        out.not_applicable.append(rule.id)
    for key, ruling in now.items():
        if ruling.verdict == "unknown":
            out.unknown.append(unknown(rule, key, ruling))
        elif ruling.verdict == "fail":
            out.findings.append(_failed(rule, ruling, then, was.get(key, key)))
        else:
            out.passed += ruling.verdict == "pass"
    after_of = {before: after for after, before in was.items()}
    for key, ruling in (then or {}).items():
        if ruling.verdict == "fail" and _resolved(rule, covering(now, after_of.get(key, key))):
            out.findings.append(failed(rule, ruling, "resolved"))


def _resolved(rule: Rule, now: Ruling | None) -> bool:
    """Whether what failed before is gone, or passes and is in order."""
    if now is None:
        return True
    passes = now.verdict in ("pass", "not-applicable")
    return passes and all(holds(condition, now.scope) is True for condition in rule.mended)


def _failed(rule: Rule, ruling: Ruling, then: dict[str, Ruling] | None, key: str) -> Finding:
    if then is None:
        return failed(rule, ruling, "new" if rule.scope == "change" else "existing")
    old = covering(then, key)
    class_: Class = "existing" if old and old.verdict == "fail" else "new"
    return failed(rule, ruling, class_, NOT_JUDGED_BEFORE if old and old.verdict == "unknown" else "")
