"""What a report says, in whatever format: two snapshots (or one), their differences, the verdicts, the exit code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..derive.bench import benchmarks
from ..diff import Diff, compare
from ..diff.selection import EVERYTHING, Selection
from ..engine.finding import SEVERITIES, Finding, reaches
from ..engine.items import Derive
from ..engine.judge import SCOPES, Judgement, expecting, judge
from ..engine.packs import shipped
from ..engine.settings import Locate, Waiver, nowhere
from ..records import record
from ..sections.shape import Path

if TYPE_CHECKING:
    from ..bench.comparing.comparison import Benchmarks
    from ..bench.comparing.limits import Roofline
    from ..derive.forecasts.forecast import Outlook
    from ..derive.forecasts.forecast_score import Score
    from ..document import Outcome, Snapshot
    from ..engine.rule import Rule
    from ..engine.waivers import WaiverUse


Explain = Callable[[int, str], str]  # number and rule of a finding -> the command that explains it


def _explain(number: int, _: str) -> str:
    return f"explain {number}"


@record(frozen=True)
class Ran:
    """A command that was run between both snapshots and failed: its name, exit code, and HOW it ended, in words."""

    command: str
    exit_code: int
    how: str


@record(frozen=True)
class Review:
    """Everything that a report needs. The names are what the user called the snapshots: a label, an id, now."""

    before: Snapshot | None
    after: Snapshot
    before_name: str
    after_name: str
    diff: Diff | None
    judgement: Judgement
    derive: Derive  # as the judgement has it
    rules: tuple[Rule, ...] = ()
    threshold: str = "high"
    allow_unknown: Sequence[str] = ()  # rule ids and section names
    fail_on_existing: bool = False
    waivers: tuple[WaiverUse, ...] = ()
    explain: Explain = _explain
    outlook: Outlook | None = None  # of a forecast: what is foreseen
    disabled: Sequence[str] = ()  # rules that the settings leave out
    benchmarks: Benchmarks | None = None  # of both sides; None where neither has a measurement
    ran: Ran | None = None

    @cached_property
    def score(self) -> Score | None:
        """What came true of what the snapshot before foresaw; None where there was no boot that it was for."""
        if self.before is None or self.diff is None or self.diff.same_boot is not False:
            return None
        from ..derive.forecasts.forecast_score import score

        return score(self.before, self.after)

    @property
    def counting(self) -> tuple[str, ...]:
        """The classes of findings that count: new ones; those that were before if asked for, or if there is no before.
        """
        return ("new",) if self.before and not self.fail_on_existing else ("new", "existing")

    def counts(self, finding: Finding) -> bool:
        """Whether a finding counts: it is of such a class, and nobody accepts it."""
        return finding.class_ in self.counting and not finding.waived_by

    @cached_property
    def gating(self) -> list[Finding]:
        """What makes the exit code 1: findings that count and reach the threshold."""
        return [finding for finding in self.judgement.findings
                if self.counts(finding) and reaches(finding.severity, self.threshold)]

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
        """That of a command that failed, else what was found comes to."""
        return self.ran.exit_code if self.ran else self.found

    @property
    def found(self) -> int:
        """0 nothing at or above the threshold, 1 findings, 3 none, but a verdict that counts is unknown."""
        return 1 if self.gating else 3 if self.open_questions else 0

    @cached_property
    def passed(self) -> list[str]:
        """The rules that looked at something and have nothing to say of it."""
        said = {finding.rule for finding in (*self.judgement.findings, *self.judgement.unknown)}
        return [rule for rule in self.judgement.items if rule not in said | self.judgement.not_applicable.keys()]

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
    rules: Iterable[Rule] | None = None, selection: Selection = EVERYTHING, threshold: str = "high",
    allow_unknown: Sequence[str] = (), fail_on_existing: bool = False, waivers: Sequence[Waiver] = (),
    today: date | None = None, scopes: Collection[str] = SCOPES, known: Collection[str] = (),
    locate: Locate = nowhere, expect: Mapping[str, Any] | None = None, explain: Explain = _explain,
    outlook: Outlook | None = None, disabled: Sequence[str] = (), noise: Mapping[str, float] | None = None,
    rooflines: Sequence[Roofline] = (),
) -> Review:
    """Compare and judge. RULES are the shipped ones unless given; without BEFORE, one snapshot is judged alone.

    TODAY decides which waivers are expired; KNOWN are rules besides RULES that they may name, LOCATE says where they
    and EXPECT stand, which is what the host has to have: noun -> count or names. EXPLAIN words the command that
    explains a finding; OUTLOOK is what the rules of a forecast read, DISABLED are the ids of rules that the settings
    leave out; NOISE and ROOFLINES are what they say of benchmarks. FormatError when a section, pack or waiver does not
    have its form, ValueError when the threshold is no severity.
    """
    if threshold not in SEVERITIES:
        raise ValueError(f"{threshold!r} is no severity: {', '.join(SEVERITIES)}")
    diff = compare(before, after, selection) if before else None
    rules = shipped() if rules is None else tuple(rules)
    derive = expecting(expect or {}, locate)
    if outlook:
        derive = _foreseeing(outlook, derive)
    found = benchmarks.compared(after, before, noise, rooflines) if before else None
    if found:
        derive = _measured(found, after, derive)
    judgement = judge(before, after, diff, rules, derive, scopes)
    uses: list[WaiverUse] = []
    if waivers:
        from ..engine.waivers import apply

        every = {*known, *(rule.id for rule in rules)}
        uses = apply(judgement, waivers, today or date.today(), known=every, diff=diff, locate=locate)
    return Review(before, after, before_name, after_name, diff, judgement, derive, rules, threshold,
                  tuple(allow_unknown), fail_on_existing, tuple(uses), explain, outlook, tuple(disabled), found)


def _foreseeing(outlook: Outlook, derive: Derive) -> Derive:
    """DERIVE, in which the table of what is foreseen is that of OUTLOOK, which knows a baseline."""
    return lambda name, of, before: outlook.table() if name == "forecast" else derive(name, of, before)


def _measured(found: Benchmarks, after: Snapshot, derive: Derive) -> Derive:
    """DERIVE, in which the table of the benchmarks of both sides is that of what was FOUND, with the settings."""
    rows = benchmarks.table(found, benchmarks.some(benchmarks.section(after)))
    return lambda name, of, before: rows if name == "benchmarks" and before else derive(name, of, before)
