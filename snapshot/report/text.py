"""A review as text, for a person at a terminal: the verdict first, then what to do, then what was not seen.

80 columns, fewer on a narrow terminal. Command lines are exact: never wrapped, never shortened.
"""

from __future__ import annotations

from . import compared, headline, unknowns
from .order import Entry, entries
from .other_changes import sorted_changes
from .paper import Paper, plural
from .review import Review
from .verdicts import Findings


def render_text(review: Review, color: bool = False, everything: bool = False, width: int = 80) -> str:
    """The report. EVERYTHING says all of each finding and lists changes and rules instead of counting them."""
    paper, found = Paper(width, color), entries(review)
    changes, findings = sorted_changes(review, found), Findings(paper, found, everything)
    _head(paper, review, found)
    for part in ("counting", "expected", "better", "resolved", "accepted"):
        findings.write(part)
    compared.accepted(paper, review, everything)
    compared.other_changes(paper, changes, everything)
    _benchmarks(paper, review, found, everything)
    if any(entry.part == "existing" for entry in found):
        paper.prose(f"Already so before, and not counted{'' if everything else ' (--all says more)'}:")
        findings.write("existing")
    if review.outlook:
        from . import forecast

        forecast.write(paper, review.outlook, everything)
    unknowns.write(paper, review, everything)
    if everything:
        _rules(paper, review)
    paper.blank()
    if review.diff:
        compared.counts(paper, review.diff, changes)
    if found and not review.outlook:
        paper.exact(f"How finding [1] came about: {review.explain(1, found[0].first.rule)}")
    for line in headline.closing(review):
        paper.prose(line, hang="  ")
    return paper.text()


def _head(paper: Paper, review: Review, found: list[Entry]) -> None:
    before, after = headline.stamps(review)
    if before and len(before) + len(after) + 6 <= paper.width:
        paper.exact(f"{before}  ->  {after}")
    elif before:
        paper.prose(before, hang=" " * 6)
        paper.prose(after, "  ->  ", " " * 6)
    else:
        paper.prose(after, hang=" " * 6)
    for warning in review.diff.warnings if review.diff else ():
        paper.prose(f"Warning: {warning}.", hang="  ", color="red")
    paper.blank()
    if review.outlook:
        from .forecast import header

        paper.prose(header(review.outlook), hang="  ")
    paper.pieces(headline.verdict(review, found), "  ", color="bold")
    for cause, count in headline.causes(found):
        paper.prose(f"Likely cause of {plural(count, 'finding')}: {cause.group.headline} [{cause.number}]", hang="  ")
    paper.blank()


def _rules(paper: Paper, review: Review) -> None:
    """Every rule that has nothing to say, and why."""
    why: dict[str, list[str]] = {"passed": review.passed} if review.passed else {}
    for rule, reason in review.judgement.not_applicable.items():
        why.setdefault(f"not applied ({reason})", []).append(rule)
    for reason, rules in why.items():
        paper.blank()
        paper.prose(f"{plural(len(rules), 'rule')} {reason}:", hang="  ")
        paper.pieces(rules, "  ", "  ")


def _benchmarks(paper: Paper, review: Review, found: list[Entry], everything: bool) -> None:
    if review.benchmarks:
        from .benchmarks import write
        from .likely_causes import likely

        write(paper, review.benchmarks, likely(review, found), everything)
