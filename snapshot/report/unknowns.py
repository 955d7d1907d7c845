"""What could not be judged and why not: rules that lack the very same evidence are said once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..engine.finding import SEVERITIES, Evidence
from ..records import record
from ..sections.shape import Path
from .groups import MANY, Group, few, grouped
from .paper import Paper
from .review import Review

Reason = tuple[str, ...]


@record(frozen=True)
class Lack:
    """The reasons, in words, and the groups of unknown verdicts that have them, by severity."""

    reasons: Reason
    groups: list[Group]


def lacks(review: Review) -> list[Lack]:
    """Every unknown verdict once, under what is missing for it; the worst first."""
    found: dict[Reason, list[Group]] = {}
    for group in grouped(review.judgement.unknown):
        reasons = (reason if review.before else reason.removeprefix("after: ") for reason in _reasons(group))
        found.setdefault(tuple(reasons), []).append(group)
    return [Lack(reasons, groups) for reasons, groups in found.items()]


def write(paper: Paper, review: Review, everything: bool) -> None:
    """What could not be judged, and once for each side what root would have read."""
    for lack in lacks(review):
        groups = lack.groups
        if len(groups) == 1:
            _one(paper, review, groups[0])
        else:
            paper.head("UNKNOWN", f"{len(groups)} rules lack the same evidence")
        for reason in lack.reasons:
            paper.prose(reason, "  ", "    ")
        if len(groups) > 1:
            _rules(paper, review, groups, everything)
        elif review.allowed(groups[0].first):
            paper.prose("Allowed by --allow-unknown.", "  ")
        paper.blank()
    for line in without_root(review):
        paper.prose(line, hang="  ")


def _one(paper: Paper, review: Review, group: Group) -> None:
    first = group.first
    paper.head("UNKNOWN", first.group or first.message, f"{first.rule} ({first.severity})")
    if group.parts:
        paper.prose(group.parts_said, f"  {_of_how_many(review, group)}: ", "    ")


def _rules(paper: Paper, review: Review, groups: Sequence[Group], everything: bool) -> None:
    """The rules by severity; with their titles if EVERYTHING is asked for."""
    for severity in SEVERITIES:
        alike = [group for group in groups if group.first.severity == severity]
        if everything:
            for group in alike:
                title = group.first.group or group.first.message
                paper.prose(f"{named(review, group)}: {title}", f"  {severity:<10}", " " * 14)
        elif alike:
            paper.pieces((named(review, group) for group in alike), "  ", f"  {severity:<10}", " " * 12)


def named(review: Review, group: Group) -> str:
    """The rule, of how many items it could not judge how many, and whether that is allowed."""
    marks = [_of_how_many(review, group)] if group.parts else []
    marks += ["allowed"] if review.allowed(group.first) else []
    return group.first.rule + (f" ({', '.join(marks)})" if marks else "")


def _of_how_many(review: Review, group: Group) -> str:
    return f"{group.count:,} of {review.judgement.items[group.first.rule]:,}"


def without_root(review: Review) -> Iterator[str]:
    """For each side that was taken without root, a sentence: what root would have read."""
    for side, refused in review.refused.items():
        out = [f"{section} ({', '.join(_of(paths))})" for section, paths in refused.items()]
        one = side.capitalize() if review.before else "This"
        yield f"{one} was taken without root, which leaves out {', '.join(out)}. Take it again as root."


def _reasons(group: Group) -> Iterable[str]:
    """Why not: the reasons of the only one, or of all in common, where * is what each calls its own."""
    if group.count == 1:
        return group.first.why
    alike: dict[tuple[str, str, int, str | int], list[Evidence]] = {}
    for finding in group.findings:
        for gap in finding.evidence:
            last = "" if gap.path[0] == "derived" or gap.path[-1] == finding.subject else gap.path[-1]
            alike.setdefault((gap.side or "after", str(gap.why), len(gap.path), last), []).append(gap)
    return [f"{side}: {_common(gaps)}{why}{_source(gaps)}" for (side, why, *_), gaps in alike.items()]


def _source(gaps: Sequence[Evidence]) -> str:
    """What was to tell it, where that is one for all."""
    files = {gap.file for gap in gaps}
    return f" ({files.pop()})" if len(files) == 1 and None not in files else ""


def _common(gaps: Sequence[Evidence]) -> str:
    """Paths of one length as one; of a derived fact nothing, because the reason says it."""
    paths = [gap.path for gap in gaps]
    keys = (str(key[0]) if len(set(key)) == 1 else "*" for key in zip(*paths, strict=True))
    return "" if paths[0][0] == "derived" else f"{'.'.join(keys)}: "


def _of(paths: Sequence[Path]) -> Iterator[str]:
    """Unknown paths in words: "8 values", or "express, serial of 212 functions"."""
    tables: dict[str, tuple[set[str], set[str]]] = {}
    for path in paths:
        keys, parts = tables.setdefault(path[0] if path else "", (set(), set()))
        keys.update(path[1:2])
        parts.add(".".join(path[2:]))
    for table, (keys, parts) in tables.items():
        named = f"{few(sorted(parts), ', ')} of " if len(parts) <= MANY and "" not in parts else ""
        yield f"{named}{len(keys):,} {table}" if keys else table or "all"
