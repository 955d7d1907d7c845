"""What a report says, in whatever format: two snapshots (or one), their differences, the verdicts, the exit code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..diff import Diff, compare
from ..engine.finding import SEVERITIES, Finding, reaches
from ..engine.judge import Judgement, judge
from ..engine.packs import shipped
from ..sections.shape import Path

if TYPE_CHECKING:
    from ..document import Outcome, Snapshot
    from ..engine.rule import Rule



@dataclass(frozen=True)
class Review:
    """Everything that a report needs. The names are what the user called the snapshots: a label, an id, now."""

    before: Snapshot | None
    after: Snapshot
    before_name: str
    after_name: str
    diff: Diff | None
    judgement: Judgement
    threshold: str = "high"
    allow_unknown: Sequence[str] = ()  # rule ids and section names

    @property
    def counting(self) -> tuple[str, ...]:
        """The classes of findings that count: new ones; where there is no before to tell them apart, all that are."""
        return ("new",) if self.before else ("new", "existing")

    @cached_property
    def gating(self) -> list[Finding]:
        """What makes the exit code 1: findings that count, are not waived, and reach the threshold."""
        return [
            finding for finding in self.judgement.findings
            if finding.class_ in self.counting and not finding.waived_by and reaches(finding.severity, self.threshold)
        ]

    @cached_property
    def open_questions(self) -> list[Finding]:
        """What makes the exit code 3: unknown verdicts at or above the threshold that are not allowed."""
        return [
            finding for finding in self.judgement.unknown
            if reaches(finding.severity, self.threshold) and not self.allowed(finding)
        ]

    def allowed(self, finding: Finding) -> bool:
        """Whether an unknown verdict is allowed: by its rule, or by a section that the rule needs."""
        names = {finding.rule, *self.judgement.needs.get(finding.rule, ())}
        return not names.isdisjoint(self.allow_unknown)

    @property
    def exit_code(self) -> int:
        """0 nothing at or above the threshold, 1 findings, 3 none, but a verdict that counts is unknown."""
        return 1 if self.gating else 3 if self.open_questions else 0

    @cached_property
    def refused(self) -> dict[str, dict[str, list[Path]]]:
        """By side taken without root and section: the paths, each with all below it, that root would have read."""
        sides = {"before": self.before, "after": self.after}
        taken = {name: side.outcomes for name, side in sides.items() if side and side.meta.uid != 0}
        found = {name: {section: _refused(o) for section, o in outcomes.items()} for name, outcomes in taken.items()}
        kept = {name: {section: paths for section, paths in parts.items() if paths} for name, parts in found.items()}
        return {name: parts for name, parts in kept.items() if parts}


def _refused(outcome: Outcome) -> list[Path]:
    if outcome.state == "denied" and not outcome.unread:
        return [()]
    return [tuple(fact.path) for fact in outcome.refused()]


def review(
    before: Snapshot | None, after: Snapshot, before_name: str = "", after_name: str = "", *,
    rules: Iterable[Rule] | None = None, volatile: bool = False, threshold: str = "high",
    allow_unknown: Sequence[str] = (),
) -> Review:
    """Compare and judge. RULES are the shipped ones unless given; without BEFORE, one snapshot is judged alone.

    FormatError when a section or pack does not fit its model, ValueError when the threshold is no severity.
    """
    if threshold not in SEVERITIES:
        raise ValueError(f"{threshold!r} is no severity: {', '.join(SEVERITIES)}")
    diff = compare(before, after, volatile) if before else None
    judgement = judge(before, after, diff, shipped() if rules is None else rules)
    return Review(before, after, before_name, after_name, diff, judgement, threshold, tuple(allow_unknown))
