"""The evidence trail of one finding: every condition with the values that it met, and where these come from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..engine.finding import Finding
from ..engine.items import items
from ..engine.path import Gap, Row
from ..engine.trail import Met, Step, Trial, case, trail
from ..errors import SnapError, misspelt
from . import condition_words as words
from .groups import Group, about, called, few, grouped
from .order import Entry, entries
from .paper import Paper, plural
from .review import Review
from .rule_sheet import render_rule

if TYPE_CHECKING:
    from ..engine.rule import Rule

__all__ = ["render_explain", "render_rule"]

VERDICTS = {"fail": "fails", "pass": "passes", "unknown": "cannot be judged", "not-applicable": "does not apply"}
CLASSES = {
    "new": "new: it fails, and is not known to have failed before",
    "existing": "it failed before already", "resolved": "resolved: it failed before only",
    "better": "better: it passes, and was worse before", "expected": "expected: it fails, and was asked for",
}


def render_explain(review: Review, finding_key: str, width: int = 80, color: bool = False) -> str:
    """How a finding came about: RULE, "RULE SUBJECT", or its number in the report. Ends in a newline.

    When several findings are meant that do not read as one, they are listed. A rule that has nothing to say is
    explained too. SnapError when there is no such number, rule or subject.
    """
    found, paper = entries(review), Paper(width, color)
    rule_id, subject, findings = _meant(review, found, finding_key.strip())
    groups = grouped(findings, review.judgement.findings)
    if len(groups) > 1:
        _choice(paper, rule_id, groups, found)
    elif groups:
        _explain(paper, review, found, groups[0])
    else:
        _silent(paper, review, rule_id, subject)
    return paper.text()


def _meant(review: Review, found: Sequence[Entry], key: str) -> tuple[str, str, list[Finding]]:
    """The rule, the subject and the findings that KEY means."""
    if key.isdecimal():
        entry = next((entry for entry in found if entry.number == int(key)), None)
        if entry is None:
            raise SnapError(f"there is no finding {key}: the report has {len(found)}")
        return entry.first.rule, "", list(entry.group.findings)
    rule_id, _, subject = key.partition(" ")
    every = [*review.judgement.findings, *review.judgement.unknown]
    known = {*(rule.id for rule in review.rules), *(finding.rule for finding in every)}
    if rule_id not in known:
        near = misspelt(rule_id, known)
        raise SnapError(f"there is no rule {rule_id!r}" + (f": did you mean {near[0]!r}?" if near else ""))
    return rule_id, subject.strip(), about((finding for finding in every if finding.rule == rule_id), subject.strip())


def _choice(paper: Paper, rule_id: str, groups: Sequence[Group], found: Sequence[Entry]) -> None:
    paper.prose(f"{rule_id} has {len(groups)} findings that are not alike. Name the subject or number of one:",
                hang="  ")
    for group in groups:
        subjects = few([finding.subject for finding in group.findings if finding.subject], ", ")
        paper.prose(f"{group.headline}: {subjects}{_number(found, group.first)}", f"  {_word(group.first):<10}",
                    " " * 12)


def _number(found: Sequence[Entry], finding: Finding) -> str:
    """What the report calls it; empty for what could not be judged."""
    return next((f" [{entry.number}]" for entry in found if finding in entry.group.findings), "")


def _word(finding: Finding) -> str:
    return "unknown" if finding.verdict == "unknown" else finding.severity


def _explain(paper: Paper, review: Review, found: Sequence[Entry], group: Group) -> None:
    first = group.first
    entry = next((entry for entry in found if first in entry.group.findings), None)
    rule = next((rule for rule in review.rules if rule.id == first.rule), None)
    paper.head(_word(first).upper(), first.message, first.rule + _number(found, first))
    for line in _standing(review, found, entry, first):
        paper.prose(line, "  ", "    ")
    if group.count > 1:
        paper.prose(f"The same for: {', '.join(finding.subject for finding in group.findings[1:])}", "  ", "    ")
    if rule:
        _rule(paper, review, rule, first.subject, {*first.now, *first.durable, *first.warnings})
    _evidence(paper, first)
    _cure(paper, first)
    paper.blank()
    paper.block("References", first.references)


def _standing(review: Review, found: Sequence[Entry], entry: Entry | None, first: Finding) -> Iterator[str]:
    """What became of the finding: its class, its cause, who accepts it."""
    if first.class_ and review.before:
        yield CLASSES[first.class_]
    if first.explained_by:
        yield first.explained_by
    if entry and entry.cause:
        yield f"likely cause: {found[entry.cause - 1].group.headline} [{entry.cause}]"
    if first.waived_by:
        yield f"accepted: {first.waived_by}"
    if first.verdict == "unknown" and review.allowed(first):
        yield "allowed by --allow-unknown"
    yield from first.why if first.verdict != "unknown" else ()


def _rule(paper: Paper, review: Review, rule: Rule, key: str, told: Collection[str] = ()) -> None:
    """The rule, and the verdict on each side as it came about; without lines that are TOLD elsewhere."""
    paper.blank()
    paper.prose(f"The rule: {rule.title}", hang="  ")
    here = case(review.before, review.after, review.diff, review.derive)
    names = {"after": f"After ({review.after_name}) it", "before": f"Before ({review.before_name}) it"}
    for trial in trail(rule, here, key):
        paper.blank()
        paper.prose(f"{names[trial.side] if review.before and rule.scope != 'change' else 'It'}"
                    f" {VERDICTS[trial.verdict]}:", hang="  ")
        _trial(paper, rule, trial, told)


def _trial(paper: Paper, rule: Rule, trial: Trial, told: Collection[str]) -> None:
    for gap in trial.gaps:
        paper.prose(f"{'.'.join(map(str, gap.path))}: {words.said(gap)}", "    ?    ", " " * 11)
    titles = {"where": "it applies where", "check": "it passes if"}
    titles |= {"mended": "it is mended only if also"} if trial.verdict == "pass" else {}
    for role, title in titles.items():
        steps = [step for step in trial.steps if step.role == role]
        if steps:
            paper.prose(title, "  ")
        for step in steps:
            _step(paper, rule, step)
    for row in trial.rows:
        _row(paper, row, told)


def _step(paper: Paper, rule: Rule, step: Step) -> None:
    mark = "?" if isinstance(step.answer, Gap) else "yes" if step.answer else "no"
    either = "one of: " if step.choice else ""
    paper.prose(f"{either}{words.condition(step.condition, rule)}", f"    {mark:<4} ", " " * 11)
    for met in (step.left, step.right):
        if met and met.path:
            paper.prose(_met(met), " " * 11, " " * 13)


def _met(met: Met) -> str:
    keys = met.path[3:] if met.path[0] == "derived" else met.path  # the row is shown below
    return f"{f'{met.side} ' if met.side else ''}{'.'.join(map(str, keys))}: {words.said(met.value)}"


def _row(paper: Paper, row: Row, told: Collection[str]) -> None:
    """The derived row, a value a line; of a list of tables, such as lines of files, each on its own."""
    paper.prose(f"row {row.key!r} of {row.name}:", "  ")
    for name, value in row.values.items():
        lines = [line for line in _lines(value) if line not in told]
        for at, text in enumerate(lines):
            paper.prose(text, f"    {'' if at else name:<18} ", " " * 23)


def _lines(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else [value]
    if all(isinstance(part, Mapping) for part in parts):
        return [", ".join(f"{name} {words.said(inner)}" for name, inner in part.items()) for part in parts]
    texts = [words.said(part) for part in parts]
    return texts if any(" " in text for text in texts) else [" ".join(texts)]


def _evidence(paper: Paper, first: Finding) -> None:
    lines = []
    for one in first.evidence:
        where = ".".join(map(str, one.path))
        place = f"{one.file}:{one.line}   {one.text}" if one.text else f"{one.side or ''} {where}".strip()
        why = f": unknown: {one.why}{f' ({one.file})' if one.file else ''}" if one.why else ""
        lines.append(place + (why or ("" if one.text else f": {words.said(one.value)}")))
    paper.blank()
    paper.block("What is missing" if first.verdict == "unknown" else "Evidence", lines)


def _cure(paper: Paper, first: Finding) -> None:
    paper.blank()
    for label, lines in (("Now:", first.now), ("For good:", first.durable), ("Check:", first.verify)):
        if lines:
            paper.labelled(label, lines)
    paper.beside("Beware:", first.warnings)


def _silent(paper: Paper, review: Review, rule_id: str, subject: str) -> None:
    """A rule that has nothing to say of the subject, or of anything: why."""
    judgement = review.judgement
    rule = next(rule for rule in review.rules if rule.id == rule_id)
    if subject and rule_id in judgement.items:
        key = _looked_at(review, rule, subject)
        paper.head("NOTHING", f"nothing to say of {key}", rule_id)
        _rule(paper, review, rule, key)
    elif rule_id in judgement.not_applicable:
        paper.head("NOTHING", f"not applied: {judgement.not_applicable[rule_id]}", rule_id)
    elif rule_id in judgement.items:
        paper.head("PASSED", f"it looked at {plural(judgement.items[rule_id], 'item')}: {rule.title}", rule_id)
    else:
        paper.head("NOTHING", f"rules of scope {rule.scope} are not applied here", rule_id)


def _looked_at(review: Review, rule: Rule, subject: str) -> str:
    """The one item that RULE looks at of which SUBJECT is the name or a part of it. SnapError when that is not one."""
    walked = items(rule, case(review.before, review.after, review.diff, review.derive))
    keys = [*dict.fromkeys(item.key for item in walked if item.key)]
    meant = [subject] if subject in keys else [key for key in keys if subject in key]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise SnapError(f"{rule.id} looks at {len(meant)} that are called {subject!r}: {few(meant, ', ')}")
    found = (*review.judgement.findings, *review.judgement.unknown)
    told = {one.subject: called(one) for one in found if one.rule == rule.id and one.subject}
    there = few([*told.values(), *(key for key in keys if key not in told)], ", ")
    raise SnapError(f"{rule.id} looks at nothing that is called {subject!r}{there and '; there is '}{there}")
