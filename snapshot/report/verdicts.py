"""The verdicts of a review on paper: what got worse and the cure, then what could not be judged and why not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..sections.shape import Path
from .groups import MANY, Group, few, grouped
from .paper import Paper
from .review import Review

CLASSES = {"new": "new", "existing": "already so before", "expected": "expected", "better": "better",
           "resolved": "resolved"}  # each in words, in the order of the report
COLOR = {"critical": "red", "high": "yellow", "resolved": "green"}
LABELS = (("Now:", "now"), ("For good:", "durable"), ("Check:", "verify"))
HANG = " " * 13  # beneath what stands beside a label


def findings(paper: Paper, review: Review, everything: bool) -> None:
    """What counts in full; of the rest what it is, and all that there is to say of it if EVERYTHING is asked for."""
    said: list[list[str]] = []
    groups = grouped(review.judgement.findings)
    for class_ in (*review.counting, *(word for word in CLASSES if word not in review.counting)):
        for group in (group for group in groups if group.first.class_ == class_):
            counts = class_ in review.counting
            word = group.first.severity if counts else class_
            paper.head(word.upper(), group.headline, group.first.rule, COLOR.get(word, "bold"))
            if class_ != "resolved" or everything:
                _explanation(paper, group, everything)
            if counts or everything:
                _commands(paper, group, said)
            paper.blank()


def _explanation(paper: Paper, group: Group, everything: bool) -> None:
    first = group.first
    if not group.told:
        _parts(paper, group, everything)
    for line in (*([first.explained_by] if first.explained_by else []), *first.why[:1]):
        paper.prose(line, "  ")
    for evidence in group.lines:
        paper.exact(f"{evidence.file}:{evidence.line}   {evidence.text}", "    ")
    for line in first.why[1:]:
        paper.prose(line, "  ")


def _parts(paper: Paper, group: Group, everything: bool, indent: str = "  ") -> None:
    between = ", " if any(" " in part for part in group.parts) else " "
    paper.prose(between.join(group.parts) if everything else few(group.parts, between), indent, "  ")


def _commands(paper: Paper, group: Group, said: list[list[str]]) -> None:
    """The commands; those SAID before are not said again, nor is a warning."""
    for label, kind in LABELS:
        commands = group.commands(kind)
        if kind == "verify" and len(commands) > 1:
            commands = [f"{commands[0]}   # and so on for all {group.count}"]
        if commands and commands in said:
            paper.prose("the same commands as above mend this too", f"  {label:<11}")
        elif commands:
            paper.labelled(label, commands)
            said.append(commands)
    label = "Beware:"
    for warning in group.commands("warnings"):
        if [warning] not in said:
            said.append([warning])
            paper.prose(warning, f"  {label:<11}", HANG)
            label = ""


def unknown(paper: Paper, review: Review) -> None:
    """What could not be judged and why, and once for each side what root would have read."""
    for group in grouped(review.judgement.unknown):
        first = group.first
        paper.head("UNKNOWN", first.group or first.message, first.rule)
        if group.parts:
            _parts(paper, group, False, f"  {group.count:,} of {review.judgement.items[first.rule]:,}: ")
        for reason in _reasons(group):
            paper.prose(reason, "  ", "    ")
        if review.allowed(first):
            paper.prose("Allowed by --allow-unknown.", "  ")
        paper.blank()
    for side, refused in review.refused.items():
        out = [f"{section} ({', '.join(_of(paths))})" for section, paths in refused.items()]
        taken = f"{side.capitalize()} was taken without root, which leaves out {', '.join(out)}."
        paper.prose(f"{taken} Take it again as root.", hang="  ")


def _reasons(group: Group) -> list[str]:
    """Why not: the reasons of the only one, or of all in common, where * is what each calls its own."""
    if group.count == 1:
        return group.first.why
    alike: dict[tuple[str, str, int, str | int], list[list[str | int]]] = {}
    for finding in group.findings:
        for gap in finding.evidence:
            last = "" if gap.path[0] == "derived" or gap.path[-1] == finding.subject else gap.path[-1]
            alike.setdefault((gap.side or "after", str(gap.why), len(gap.path), last), []).append(gap.path)
    return [f"{side}: {_common(paths)}{why}" for (side, why, *_), paths in alike.items()]


def _common(paths: list[list[str | int]]) -> str:
    """Paths of one length as one; of a derived fact nothing, because the reason says it."""
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
