"""Waivers: findings and changes that somebody accepts, each with a reason and perhaps an end.

A waiver never hides: what it accepts stays in the report, marked, and does not count. What is critical has to be named
by its rule id, so that no pattern accepts it by accident. An expired waiver accepts nothing. One that is expired, too
wide, or accepts nothing is a finding itself; but none is called unused while that is not known, because its rule was
not applied or the evidence is missing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import date
from fnmatch import fnmatchcase
from typing import Literal

from ..diff import Diff
from ..diff.change import Change
from ..diff.pattern import Pattern
from ..diff.walk import same
from ..errors import misspelt
from ..records import record
from .finding import SEVERITIES, Evidence, Finding
from .judge import Judgement
from .settings import Locate, Waiver, fault, nowhere

State = Literal["used", "unused", "expired", "too-wide", "undecided"]


@record(frozen=True)
class WaiverUse:
    """What a waiver accepts here; of one that is expired or too wide, the findings that nothing accepts therefore."""

    waiver: Waiver
    state: State
    findings: tuple[Finding, ...] = ()  # as they were judged
    changes: tuple[Change, ...] = ()


def apply(
    judgement: Judgement, waivers: Iterable[Waiver], today: date, *, known: Collection[str], diff: Diff | None = None,
    locate: Locate = nowhere,
) -> list[WaiverUse]:
    """Mark what WAIVERS accept in JUDGEMENT, and add a finding for each that is expired, too wide or unused.

    KNOWN are the ids of all rules in force, of whatever scope; LOCATE is asked for ("waiver", N, key). FormatError when
    the path of a waiver is no pattern.
    """
    given = [(waiver, _pattern(waiver, at, locate)) for at, waiver in enumerate(waivers)]
    case = _Case(judgement, today, known, diff)
    met = [case.accept(waiver, pattern) for waiver, pattern in given]
    uses = [case.use(waiver, pattern, findings) for (waiver, pattern), findings in zip(given, met, strict=True)]
    marked = [finding.copy(waived_by=case.notes[id(finding)]) if id(finding) in case.notes else finding
              for finding in judgement.findings]
    told = [_told(at, use, case, locate) for at, use in enumerate(uses) if use.state not in ("used", "undecided")]
    marked += {finding.key(): finding for finding in told}.values()
    judgement.findings = sorted(marked, key=lambda finding: (SEVERITIES.index(finding.severity), finding.rule))
    return uses


class _Case:
    """What waivers are held against. NOTES has what accepted findings say, by their identity."""

    def __init__(self, judgement: Judgement, today: date, known: Collection[str], diff: Diff | None) -> None:
        self.judgement, self.today, self.known, self.diff = judgement, today, known, diff
        self.notes: dict[int, str] = {}

    def accept(self, waiver: Waiver, pattern: Pattern | None) -> tuple[Finding, ...]:
        """The findings that it is for; those that it may accept are noted."""
        met = tuple(f for f in self.judgement.findings if f.verdict == "fail" and _takes(waiver, pattern, f))
        for finding in () if self._expired(waiver) else met:
            if finding.severity != "critical" or finding.rule == waiver.rule:
                self.notes.setdefault(id(finding), waiver.note)
        return met

    def use(self, waiver: Waiver, pattern: Pattern | None, met: tuple[Finding, ...]) -> WaiverUse:
        """What became of it, once all have accepted what they may."""
        left = tuple(finding for finding in met if id(finding) not in self.notes)
        if self._expired(waiver):
            return WaiverUse(waiver, "expired", left)
        changes = tuple(self._changes(waiver, pattern))
        if left or met or changes:
            return WaiverUse(waiver, "too-wide" if left else "used", left or met, changes)
        return WaiverUse(waiver, "undecided" if self._undecided(waiver, pattern) else "unused")

    def _expired(self, waiver: Waiver) -> bool:
        return waiver.until is not None and self.today > waiver.until

    def _changes(self, waiver: Waiver, pattern: Pattern | None) -> Iterator[Change]:
        """The changes that it accepts: none if it names a rule or subject, for then it is about findings."""
        if self.diff is None or pattern is None or waiver.rule or waiver.subject:
            return
        for change in (*self.diff.changes, *self.diff.files, *self.diff.meta):
            there = pattern.direction in (None, change.state) and pattern.covers((change.section, *change.path))
            if there and _valued(waiver, change):
                yield change

    def _undecided(self, waiver: Waiver, pattern: Pattern | None) -> bool:
        """Whether it may accept something that nobody looked at, or that could not be seen."""
        if waiver.rule and any(rule not in self.judgement.needs for rule in _named(waiver.rule, self.known)):
            return True
        if any(_might(waiver, pattern, unknown) for unknown in self.judgement.unknown):
            return True
        if waiver.rule or pattern is None:
            return False
        if self.diff is None or self.diff.selection.only:
            return True
        return any(_near(pattern, (gap.section, *gap.path)) for gap in self.diff.incomparable)


def _pattern(waiver: Waiver, at: int, locate: Locate) -> Pattern | None:
    try:
        return Pattern.parse(waiver.path) if waiver.path else None
    except ValueError as error:
        raise fault(("waiver", at, "path"), str(error), locate) from None


def _takes(waiver: Waiver, pattern: Pattern | None, finding: Finding) -> bool:
    return (
        (waiver.rule is None or fnmatchcase(finding.rule, waiver.rule))
        and (waiver.subject in (None, finding.subject) or fnmatchcase(finding.subject, str(waiver.subject)))
        and (pattern is None or _stands_on(pattern, finding)) and _valued(waiver, finding)
    )


def _stands_on(pattern: Pattern, finding: Finding) -> bool:
    """Whether the finding is about facts that are meant: those whose values it says, else all of its evidence."""
    said = {side: getattr(finding, side) for side in ("before", "after")}
    about = [e for e in finding.evidence if e.side and e.value is not None and same(e.value, said[e.side])]
    state = "added" if finding.before is None else "removed" if finding.after is None else "changed"
    places = [tuple(map(str, evidence.path)) for evidence in about or finding.evidence]
    return pattern.direction in (None, state) and bool(places) and all(map(pattern.covers, places))


def _valued(waiver: Waiver, found: Finding | Change) -> bool:
    return all(value is None or same(value, getattr(found, side))
               for side, value in (("before", waiver.before), ("after", waiver.after)))


def _might(waiver: Waiver, pattern: Pattern | None, unknown: Finding) -> bool:
    """Whether the waiver may be for what could not be judged: a subject there stands for all that begin with it."""
    begin = re.split(r"[*?[]", waiver.subject or "", maxsplit=1)[0]
    return (
        (waiver.rule is None or fnmatchcase(unknown.rule, waiver.rule))
        and (begin.startswith(unknown.subject) or unknown.subject.startswith(begin))
        and (pattern is None or any(_near(pattern, tuple(map(str, gap.path))) for gap in unknown.evidence))
    )


def _near(pattern: Pattern, path: tuple[str, ...]) -> bool:
    """Whether a fact that is meant may be at PATH or below."""
    return pattern.covers(path) or pattern.reaches(path)


def _named(rule: str, known: Iterable[str]) -> list[str]:
    return [name for name in known if fnmatchcase(name, rule)]


def _told(at: int, use: WaiverUse, case: _Case, locate: Locate) -> Finding:
    """The finding that a waiver is expired, too wide or unused."""
    waiver, origin = use.waiver, locate("waiver", at, "rule" if use.waiver.rule else "path")
    message, why = {
        "expired": (f"ended on {waiver.expires}", _ended(use.findings)),
        "too-wide": ("is too wide for what is critical", _critical(use.findings)),
        "unused": ("accepts nothing here", _idle(waiver, case)),
    }[use.state]
    return Finding(
        rule=f"meta.waiver-{use.state}", severity="low", verdict="fail", class_="new", subject=waiver.target,
        message=f"the waiver of {waiver.target} {message}", part=waiver.target,
        why=[why, f"Its reason: {waiver.note}"],
        evidence=[Evidence(path=["waiver", at], **origin.table())] if origin else [],
    )


def _ended(findings: tuple[Finding, ...]) -> str:
    return f"{_many(findings)} again." if findings else "There is nothing left for it to accept: remove it."


def _critical(findings: tuple[Finding, ...]) -> str:
    rules = ", ".join(sorted({finding.rule for finding in findings}))
    return f"{_many(findings)} all the same: what is critical has to be named by its rule, {rules}."


def _idle(waiver: Waiver, case: _Case) -> str:
    if waiver.rule and not _named(waiver.rule, case.known):
        near = misspelt(waiver.rule, case.known)
        return f"There is no rule {waiver.rule!r}" + (f": did you mean {near[0]}?" if near else ".")
    if why := case.judgement.not_applicable.get(waiver.rule or ""):
        return f"Its rule does not apply: {why}."
    return "Remove it, or mend what it names."


def _many(findings: tuple[Finding, ...]) -> str:
    return "1 finding counts" if len(findings) == 1 else f"{len(findings)} findings count"
