"""A review as text, for a person at a terminal: the verdict first, then what to do, then what was not seen.

80 columns, fewer on a narrow terminal. Command lines are exact: never wrapped, never shortened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..diff import Diff
from ..diff.change import Incomparable
from ..engine.finding import SEVERITIES
from . import change_lines, verdicts
from .groups import grouped
from .paper import Paper
from .review import Review
from .taken import plural

if TYPE_CHECKING:
    from ..document import Snapshot

FEW = 10  # changes that are listed without being asked for
IN_HEADER = ("host", "machine", "boot_id", "kernel")  # of meta: said in the first line or in a warning


def render_text(review: Review, color: bool = False, everything: bool = False, width: int = 80) -> str:
    """The report. EVERYTHING lists every change instead of counting them."""
    paper = Paper(width, color)
    _header(paper, review)
    _verdict(paper, review)
    verdicts.findings(paper, review, everything)
    verdicts.unknown(paper, review)
    if review.diff:
        _changes(paper, review.diff, everything)
        _compared(paper, review.diff)
    _exit(paper, review)
    return paper.text()


def _header(paper: Paper, review: Review) -> None:
    host = review.after.meta.host
    after = f"{review.after_name} ({', '.join([*_stamp(review.after), *_boot(review.diff)])})"
    if not review.before:
        paper.prose(f"{host}  {after}", hang=" " * 6)
    else:
        before = f"{review.before.meta.host}  {review.before_name} ({', '.join(_stamp(review.before))})"
        after = after if review.before.meta.host == host else f"{host}  {after}"
        if len(before) + len(after) + 6 <= paper.width:
            paper.exact(f"{before}  ->  {after}")
        else:
            paper.prose(before, hang=" " * 6)
            paper.prose(after, "  ->  ", " " * 6)
    for warning in review.diff.warnings if review.diff else ():
        paper.prose(f"Warning: {warning}.", hang="  ", color="red")
    paper.blank()


def _stamp(snapshot: Snapshot) -> list[str]:
    meta = snapshot.meta
    when = meta.taken[:16].replace("T", " ") + "Z" if meta.taken else "taken at an unknown time"
    return [meta.kernel, when] if meta.kernel else [when]


def _boot(diff: Diff | None) -> list[str]:
    same = diff.same_boot if diff else None
    return [] if same is None else ["same boot" if same else "new boot"]


def _verdict(paper: Paper, review: Review) -> None:
    found = [group.first for group in grouped(review.judgement.findings)]
    new = [finding for finding in found if finding.class_ in review.counting]
    others = Counter(finding.class_ for finding in found if finding.class_ not in review.counting)
    also = [f"{count} {verdicts.CLASSES[str(class_)]}." for class_, count in others.items()]
    unsure = len({finding.rule for finding in review.judgement.unknown})
    if unsure:
        also.append(f"{plural(unsure, 'rule')} could not be judged.")
    by_severity = Counter(str(finding.severity) for finding in new)
    counts = ", ".join(f"{by_severity[s]} {s}" for s in SEVERITIES if by_severity[s])
    some, none = ("REGRESSED", "regressed") if review.before else ("WRONG", "wrong")
    known = f"is known to {'have' if review.before else 'be'} {none}" if unsure else none
    judged = len(review.judgement.items) - len(review.judgement.not_applicable) - unsure
    nothing = f"Nothing {known} ({plural(judged, 'rule')} judged)."
    paper.pieces([f"{some}: {counts}." if new else nothing, *also], "  ", color="bold")
    paper.blank()


def _changes(paper: Paper, diff: Diff, everything: bool) -> None:
    meta = [change for change in diff.meta if change.path[0] not in IN_HEADER]
    shown = [*diff.changes, *diff.files, *meta]
    if not shown:
        return
    moves = sum(change.state == "moved" for change in diff.changes)
    kinds = {"change": len(diff.changes) - moves, "move": moves, "file": len(diff.files), "meta fact": len(meta)}
    counts = [plural(count, noun) for noun, count in kinds.items() if count]
    kernel = next((f' under "kernel {c.before} -> {c.after}"' for c in diff.meta if c.path == ("kernel",)), "")
    paper.blank()
    paper.prose(f"{' and '.join(filter(None, (', '.join(counts[:-1]), counts[-1])))}{kernel}:")
    if everything or len(shown) <= FEW:
        for change in shown:
            paper.exact(change_lines.line(change), "  ")
    else:
        paper.pieces([*change_lines.summary(shown), "(--all shows them)"], "   ", "  ")


def _compared(paper: Paper, diff: Diff) -> None:
    counts, changes = diff.counts, sum(change.state != "moved" for change in diff.changes)
    paper.blank()
    for (side, why), sections in _not_comparable(diff.incomparable).items():
        paper.prose(f"Not comparable ({side}: {why}): {', '.join(sections)}", hang="  ")
    above = f" (the {plural(changes, 'change')} above)" if changes != counts.changed else ""
    paper.prose(
        f"Compared {plural(counts.facts, 'fact')} in {plural(counts.sections, 'section')}: {counts.same:,} same, "
        f"{counts.changed:,} changed{above}, {counts.not_comparable:,} not comparable.", hang="  ",
    )
    if counts.volatile:
        more = plural(counts.volatile, "fact that changes by itself differs", "facts that change by themselves differ")
        paper.prose(f"{more} too (--volatile shows them).", hang="  ")


def _not_comparable(entries: Iterable[Incomparable]) -> dict[tuple[str, str], list[str]]:
    """By side and reason: each section with its number of facts, or files."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for entry in entries:
        counts[entry.side, entry.why, entry.section] += 1 if entry.section == "files" else entry.facts
    found: dict[tuple[str, str], list[str]] = {}
    for (side, why, section), count in counts.items():
        what = plural(count, "file") if section == "files" else f"{section} ({plural(count, 'fact')})"
        found.setdefault((side, why), []).append(what if count else section)
    return found


def _exit(paper: Paper, review: Review) -> None:
    rules = len({finding.rule for finding in review.open_questions})
    what = {
        0: f"no {'new ' if review.before else ''}finding at or above {review.threshold}.",
        1: f"{'new ' if review.before else ''}findings at or above {review.threshold}.",
        3: f"no {'new ' if review.before else ''}finding, but {plural(rules, 'rule')} could not be judged"
           " (--allow-unknown RULE or SECTION lets it pass).",
    }
    paper.prose(f"Exit {review.exit_code}: {what[review.exit_code]}", hang="  ")
