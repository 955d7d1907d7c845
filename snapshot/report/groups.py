"""Findings of one rule with equal values and explanation, taken together: 8 GPUs are one story, not eight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise

from ..engine.finding import Evidence, Finding
from ..records import record

MANY = 5  # names that are all said


@record(frozen=True)
class Group:
    """One or more findings that read as one. The first one speaks for all."""

    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The one whose rule, severity, class and explanation all share."""
        return self.findings[0]

    @property
    def headline(self) -> str:
        """The message, or the group's with the count or the parts in it."""
        many = self.count > 1 and self.first.group
        if not many:
            return self.first.message
        return many.replace("{count}", str(self.count)).replace("{parts}", few(self.parts, ", "))

    @property
    def told(self) -> bool:
        """Whether the headline names every part."""
        return self.count == 1 or (self.begun and self.count <= MANY)

    @property
    def begun(self) -> bool:
        """Whether the headline names the parts, of many the first."""
        return "{parts}" in str(self.first.group)

    @property
    def parts(self) -> list[str]:
        """What tells each from the others."""
        return [finding.part for finding in self.findings if finding.part]

    @property
    def parts_said(self) -> str:
        """What tells each from the others, in a line; of many the first."""
        return few(self.parts, self.between)

    @property
    def between(self) -> str:
        """What stands between parts in a line."""
        return ", " if any(" " in part for part in self.parts) else " "

    @property
    def lines(self) -> list[Evidence]:
        """The configuration lines that the findings stand on, each once."""
        found = [e for finding in self.findings for e in finding.evidence if e.text]
        return list({(e.file, e.line): e for e in found}.values())

    @property
    def count(self) -> int:
        """How many findings."""
        return len(self.findings)

    def commands(self, kind: str) -> list[str]:
        """What is to be done, in order and each once. KIND is now, durable, warnings or verify."""
        return merged([getattr(finding, kind) for finding in self.findings])

    @property
    def check(self) -> list[str]:
        """How to see whether it is mended: of more than two that are not seen by the same commands, the first."""
        commands = self.first.verify
        every = self.commands("verify")
        if self.count > 2 and commands and every != commands:
            return [*commands[:-1], f"{commands[-1]}   # and so on for all {self.count}"]
        return every


def few(names: Sequence[str], between: str = " ") -> str:
    """The names, or the first of many and how many more there are."""
    if len(names) <= MANY:
        return between.join(names)
    return f"{between.join(names[: MANY - 1])} and {len(names) - MANY + 1:,} more"


def about(findings: Iterable[Finding], subject: str) -> list[Finding]:
    """Those about SUBJECT: of this name, as their key or as the report has it, else with this as a part of it."""
    every = list(findings)
    whole = [finding for finding in every if subject in ("", finding.subject, finding.part)]
    return whole or [finding for finding in every if subject in finding.subject or subject in (finding.part or "")]


def called(finding: Finding) -> str:
    """Its subject, and the part that the report names it by where that is not of the subject."""
    part = finding.part or ""
    return finding.subject + ("" if part in finding.subject else f" ({part})")


def merged(lists: Sequence[Sequence[str]]) -> list[str]:
    """Every line once, after all that stand before it in any list: all edits come before the restart they share.

    The lists one after the other where they contradict each other.
    """
    if len(lists) < 2:
        return list(chain.from_iterable(lists))
    from graphlib import CycleError, TopologicalSorter

    order: TopologicalSorter[str] = TopologicalSorter()
    for lines in lists:
        for line in lines[:1]:
            order.add(line)
        for before, line in pairwise(lines):
            order.add(line, before)
    try:
        return list(order.static_order())
    except CycleError:
        return list(chain.from_iterable(lists))


def grouped(findings: Iterable[Finding], among: Iterable[Finding] = ()) -> list[Group]:
    """The findings by what they say, in the order of the first of each. AMONG are others that may be their causes."""
    findings, groups = list(findings), dict[str, list[Finding]]()
    causes: dict[tuple[str, ...], Finding] = {one.key(): one for one in (*among, *findings)}
    for finding in findings:
        groups.setdefault(_story(finding, causes), []).append(finding)
    return [Group(tuple(group)) for group in groups.values()]


def _story(finding: Finding, causes: Mapping[tuple[str, ...], Finding]) -> str:
    """What has to be equal: for a known verdict the values and explanation, for an unknown one the reasons.

    A value that is the name of what the finding is about says nothing of its own, and causes may be alike themselves.
    """
    if not finding.group:
        return repr(finding.key())
    if finding.verdict == "unknown":
        return repr((finding.rule, sorted({(str(e.side), e.why) for e in finding.evidence})))
    sides = ["{part}" if value and value in (finding.subject, finding.part) else value
             for value in (finding.before, finding.after)]
    cause = causes.get((*finding.cause,))
    due = _story(cause.copy(cause=[]), causes) if cause else finding.cause
    values = (*sides, finding.why, finding.explained_by, finding.waived_by, due)
    return repr((finding.rule, finding.severity, finding.class_, finding.group, values))
