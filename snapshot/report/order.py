"""The findings of a review in the order of reports: parts, in each the worst first, numbered.

What a cause explains stands right behind it as long as no severity is hidden: within one severity, findings of one
cause stand together, the cause before them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ..engine.finding import SEVERITIES, Finding
from ..records import record
from .groups import Group, grouped
from .review import Review

Part = Literal["counting", "expected", "better", "resolved", "accepted", "existing"]
PARTS: tuple[Part, ...] = ("counting", "expected", "better", "resolved", "accepted", "existing")
OLD = "It was so before."


@record(frozen=True)
class Entry:
    """A group of findings in its place. NUMBER is what a user may call it, CAUSE the number of what explains it.

    OLD is what counts although it was so before.
    """

    number: int
    group: Group
    part: Part
    cause: int | None = None
    old: bool = False

    @property
    def first(self) -> Finding:
        """The finding that speaks for all."""
        return self.group.first


def entries(review: Review) -> list[Entry]:
    """Every group of findings once, numbered from 1."""
    groups = grouped(review.judgement.findings)
    causes, parts = _causes(groups), [_part(group.first, review) for group in groups]
    order = sorted(range(len(groups)), key=lambda at: (
        PARTS.index(parts[at]), SEVERITIES.index(groups[at].first.severity), _line(at, causes),
    ))
    numbers = {at: number for number, at in enumerate(order, 1)}
    return [
        Entry(numbers[at], groups[at], parts[at], numbers[causes[at]] if at in causes else None,
              parts[at] == "counting" and review.before is not None and groups[at].first.class_ == "existing")
        for at in order
    ]


def _part(finding: Finding, review: Review) -> Part:
    if finding.waived_by:
        return "accepted"
    if review.counts(finding):
        return "counting"
    return finding.class_ if finding.class_ in PARTS else "existing"  # what is new counts


def _causes(groups: Sequence[Group]) -> dict[int, int]:
    """Which group another one explains, by place."""
    at: dict[tuple[str, ...], int] = {one.key(): place for place, group in enumerate(groups) for one in group.findings}
    found = {place: at.get(tuple(group.first.cause)) for place, group in enumerate(groups)}
    return {place: cause for place, cause in found.items() if cause is not None and cause != place}


def _line(at: int, causes: Mapping[int, int]) -> list[int]:
    """From the last of its causes down to itself; of those that explain each other, from the first."""
    passed = [at]
    while causes.get(passed[-1], at) not in passed:
        passed.append(causes[passed[-1]])
    first = min(passed) if passed[-1] in causes else passed[-1]
    return passed[passed.index(first)::-1]
