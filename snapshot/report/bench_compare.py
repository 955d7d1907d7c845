"""The benchmarks of two snapshots, and nothing else of them: what got better or worse, its causes, tables cell by cell.

The whole pair was judged, because causes are findings and changes of it; of the findings those count whose rules look
at benchmarks, shipped or not. Numbers in brackets are those of the findings in a report of diff.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from ..bench.comparing.comparison import GridComparison
from ..bench.comparing.naming import names
from ..bench.drawing.heatmap import heats
from ..bench.drawing.matrix import lines
from ..engine.finding import SEVERITIES
from ..records import replace
from . import as_json, benchmarks, headline
from .likely_causes import likely
from .markup import inline
from .order import entries
from .paper import Paper, plural
from .review import Review

MARKS = {"worse": "!", "better": "+"}
KEPT = ("report", "tool", "before", "after", "benchmarks", "findings", "unknown", "warnings", "same_boot", "waivers",
        "threshold", "allow_unknown", "fail_on_existing", "exit_code")  # of the JSON of diff
LONG, ROOM = 300, 50_000  # characters of a line of Markdown, and bytes of all lines: a comment may have 65,536


def of_benchmarks(review: Review) -> Review:
    """REVIEW with those findings only that benchmarks give; its exit code is then theirs."""
    found = review.judgement
    findings, unknown = ([one for one in some if found.measures(one.rule)] for some in (found.findings, found.unknown))
    return replace(review, judgement=replace(found, findings=findings, unknown=unknown))


def render_text(review: Review, color: bool = False, everything: bool = False, width: int = 80) -> str:
    """The report for a terminal; EVERYTHING names each metric and shows each table."""
    paper, mine = Paper(width, color), of_benchmarks(review)
    before, after = headline.stamps(review)
    paper.prose(before, hang=" " * 6)
    paper.prose(after, "  ->  ", " " * 6)
    for warning in review.diff.warnings if review.diff else ():
        paper.prose(f"Warning: {warning}.", hang="  ", color="red")
    paper.blank()
    if review.benchmarks:
        causes = likely(review, entries(review))
        benchmarks.write(paper, review.benchmarks, causes, everything)
        if any("[" in cause for line in benchmarks.lines(review.benchmarks, causes) for cause in line.causes):
            paper.prose("Numbers in brackets are those of the findings of diff.")
            paper.blank()
        called = names({grid.id: grid.measured for grid in review.benchmarks.grids})
        for grid in review.benchmarks.grids:
            if everything or any(effect.verdict in MARKS for effect in grid.cells.values()):
                _table(paper, grid, called[grid.id])
    for line in _verdict(mine):
        paper.prose(line, hang="  ")
    return paper.text()


def render_json(review: Review) -> str:
    """The keys of diff's JSON that tell of benchmarks, with the same meaning."""
    table = as_json.table(of_benchmarks(review))
    found = as_json.table(review)["benchmarks"] if review.benchmarks else {}
    kept = {key: table[key] for key in KEPT if key in table} | {"benchmarks": found}
    return json.dumps(as_json.plain(kept), indent=2, sort_keys=True, allow_nan=False) + "\n"


def render_markdown(review: Review) -> str:
    """The report as Markdown."""
    every = benchmarks.lines(review.benchmarks, likely(review, entries(review))) if review.benchmarks else []
    said, rest = benchmarks.shortened(every)
    rest += benchmarks.remarks(review.benchmarks) if review.benchmarks else []
    items = ["- " + " ".join(inline(text, LONG) for text in (f"{line.text}.", *line.causes)) for line in said]
    blocks = [f"## Benchmarks: {benchmarks.headline(every)}",
              " -> ".join(inline(side, LONG) for side in headline.stamps(review) if side)]
    blocks += [f"**Warning:** {inline(warning, LONG)}." for warning in (review.diff.warnings if review.diff else ())]
    blocks += [_list([*items, *(f"- {inline(text, LONG)}" for text in rest)]),
               *(inline(line, LONG) for line in _verdict(of_benchmarks(review)))]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _list(lines: Sequence[str]) -> str:
    """The lines as one list, in a comment's size; how many are left out."""
    sizes = accumulate(len(line.encode()) + 1 for line in lines)
    kept = [line for line, size in zip(lines, sizes, strict=True) if size <= ROOM]
    more = [f"- and {plural(len(lines) - len(kept), 'more line')}"] if len(kept) < len(lines) else []
    return "\n".join([*kept, *more])


def _table(paper: Paper, found: GridComparison, name: str) -> None:
    """The cells of after, those marked that got worse or better; only before's where there is no after."""
    side = found.after or found.before
    if side is None:
        return
    marks: Mapping[tuple[str, str], str] = {
        cell: MARKS[effect.verdict] for cell, effect in found.cells.items() if effect.verdict in MARKS}
    (heat,) = heats([("", {found.id: side})])
    when = "after" if found.after else "before"
    paper.prose(f"{name} {when}, {side.unit}; behind a number ! is worse, + is better:", hang="  ")
    for line in lines(heat, width=paper.width - 2, marks=marks):
        paper.exact(line, "  ")
    paper.blank()


def _verdict(review: Review) -> Iterator[str]:
    """The findings by severity, in words, and the exit code with its reason."""
    for severity in SEVERITIES:
        found = [finding for finding in review.judgement.findings
                 if finding.severity == severity and finding.class_ in ("new", "existing")]
        for rule in dict.fromkeys(finding.rule for finding in found):
            several = [finding for finding in found if finding.rule == rule]
            accepted = sum(bool(finding.waived_by) for finding in several)
            before = sum(finding.class_ == "existing" for finding in several)
            words = "".join(f", {count} of them {what}" for count, what in (
                (accepted, "accepted"), (before, "already so before")) if count)
            yield f"{severity.upper()} {rule}: {plural(len(several), 'finding')}{words}"
    for finding in review.judgement.unknown:
        yield f"UNKNOWN {finding.rule}: {finding.message}"
    yield headline.ending(review)
