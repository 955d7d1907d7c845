"""A review as Markdown for a comment on a pull request: the verdict, findings with commands to copy, changes folded up.

No comment may have more than 65,536 characters (GitHub), so that what does not fit is counted. Findings go first, the
worst in full, and have the most room; commands are whole or not there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ..engine.finding import SEVERITIES
from . import change_lines, compared, forecast, headline, unknowns
from .markup import clipped, code, fenced, folded, inline
from .order import OLD, PARTS, Entry, entries
from .other_changes import Heap, Sorted, sorted_changes
from .paper import plural
from .review import Review

LIMIT = 60_000  # bytes
FULL, BRIEF, ASIDE, UNKNOWN, CHANGES = 36_000, 42_000, 46_000, 50_000, 56_000  # up to where each kind may fill it
LONG = 300  # characters of a change, a message or a reason
LABELS = (("Now", "now"), ("For good", "durable"), ("Check", "verify"))


def render_markdown(review: Review) -> str:
    """The report in less than 60,000 bytes, ending in a newline."""
    found = entries(review)
    changes, page = sorted_changes(review, found), _Page()
    page.add(LIMIT, *_head(review, found))
    _findings(page, found)
    _aside(page, review, found)
    if review.outlook:
        foreseen = [f"- {word} {inline(text, LONG)}" for word, text in forecast.brief(review.outlook)]
        _list(page, ASIDE, [], foreseen, "line")
    _benchmarks(page, review, found)
    _unknown(page, review)
    _changes(page, changes)
    page.add(LIMIT, *_end(review, changes))
    return page.text()


class _Page:
    """Blocks of Markdown, an empty line between them."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self.size = 0  # bytes

    def add(self, up_to: int, *blocks: str) -> bool:
        """Add the blocks if the page is then no longer than UP_TO bytes; whether that was so."""
        size = sum(len(block.encode()) + 2 for block in blocks)
        if self.size + size > up_to:
            return False
        self._blocks += blocks
        self.size += size
        return True

    def fitting(self, up_to: int, lines: Iterable[str]) -> list[str]:
        """The first of the lines, as many as there is room for."""
        room, kept = up_to - self.size, []
        for line in lines:
            room -= len(line.encode()) + 1
            if room < 0:
                break
            kept.append(line)
        return kept

    def text(self) -> str:
        """All of it."""
        return "\n\n".join(self._blocks) + "\n"


def _head(review: Review, found: Sequence[Entry]) -> Iterator[str]:
    first, *also = headline.verdict(review, found)
    yield f"## {first}"
    yield " -> ".join(inline(side, LONG) for side in headline.stamps(review) if side)
    if review.outlook:
        yield inline(forecast.header(review.outlook), LONG)
    for warning in review.diff.warnings[:5] if review.diff else ():
        yield f"**Warning:** {inline(warning, LONG)}."
    if also:
        yield " ".join(also)
    for cause, count in [*headline.causes(found)][:5]:
        yield f"Likely cause of {plural(count, 'finding')}: {inline(cause.group.headline, LONG)}"


def _findings(page: _Page, found: Sequence[Entry]) -> None:
    """What counts: in full, then in a line, then counted."""
    causes = {entry.number: entry.group.headline for entry in found}
    left = [entry for entry in found if entry.part == "counting"]
    brief = 0
    while left:
        entry = left[0]
        whole = entry.first.severity != "info" and page.add(FULL, *_whole(entry, causes.get(entry.cause or 0)))
        if not whole and not page.add(BRIEF, f"- {_title(entry)}"):
            break
        brief += not whole and entry.first.severity != "info"
        left = left[1:]
    if brief:
        page.add(LIMIT, f"{plural(brief, 'finding')} of these in a line, for want of room.")
    if left:
        severities = Counter(str(entry.first.severity) for entry in left)
        counts = ", ".join(f"{severities[s]:,} {s}" for s in SEVERITIES if severities[s])
        page.add(LIMIT, f"And {plural(len(left), 'more finding')}: {counts}.")


def _title(entry: Entry) -> str:
    word = entry.first.severity if entry.part in ("counting", "existing") else entry.part
    return f"{word.upper()} {inline(entry.group.headline, LONG)} {code(entry.first.rule)}"


def _whole(entry: Entry, cause: str | None) -> Iterator[str]:
    """Everything that there is to say of a finding."""
    group = entry.group
    yield f"### {_title(entry)}"
    yield from ([] if group.told else [inline(group.parts_said)])
    yield from ([OLD] if entry.old else [])
    yield from ([f"Likely cause: {inline(cause, LONG)}"] if cause else [])
    yield from map(inline, group.first.why)
    if group.lines:
        yield fenced([f"{e.file}:{e.line}   {e.text}" for e in group.lines])
    for label, kind in LABELS:
        if commands := group.check if kind == "verify" else group.commands(kind):
            block = fenced(commands, "sh")
            yield folded(label, block) if kind == "durable" else f"{label}:\n\n{block}"
    yield from (f"Beware: {inline(warning)}" for warning in group.commands("warnings"))


def _aside(page: _Page, review: Review, found: Sequence[Entry]) -> None:
    """What does not count, a line each."""
    for part in PARTS[1:]:
        lines = [f"- {_title(entry)}{_because(entry)}" for entry in found if entry.part == part]
        lines += _accepted(review) if part == "accepted" else []
        title = ["Already so before, and not counted:"] if part == "existing" and lines else []
        _list(page, ASIDE, title, lines, "finding")


def _accepted(review: Review) -> list[str]:
    """The changes that waivers accept."""
    return [f"- ACCEPTED {compared.counted(use.changes)} of {code(clipped(str(use.waiver.path), LONG))}:"
            f" {inline(use.waiver.note, LONG)}"
            for use in review.waivers if use.state == "used" and use.changes]


def _because(entry: Entry) -> str:
    why = entry.first.waived_by or (entry.first.explained_by if entry.part == "expected" else None)
    return f": {inline(why, LONG)}" if why else ""


def _list(page: _Page, up_to: int, title: list[str], lines: Sequence[str], noun: str) -> None:
    kept = page.fitting(up_to - 200, lines)
    more = [f"- and {plural(len(lines) - len(kept), f'more {noun}')}"] if len(kept) < len(lines) else []
    if lines:
        page.add(LIMIT, *title, "\n".join([*kept, *more]))


def _benchmarks(page: _Page, review: Review, found: Sequence[Entry]) -> None:
    """What was measured on both sides, a line each."""
    if review.benchmarks:
        from . import benchmarks
        from .likely_causes import likely

        every = benchmarks.lines(review.benchmarks, likely(review, found, numbered=False))
        said, rest = benchmarks.shortened(every)
        lines = ["\n  ".join([f"- {inline(line.text, LONG)}", *(inline(cause, LONG) for cause in causes)])
                 for line, causes in benchmarks.with_causes(said)]
        lines += [f"- {inline(text, LONG)}" for text in (*rest, *benchmarks.remarks(review.benchmarks))]
        _list(page, ASIDE, [f"Benchmarks: {benchmarks.headline(every)}"], lines, "line")


def _unknown(page: _Page, review: Review) -> None:
    """What could not be judged, by what is missing."""
    lines = [
        f"- UNKNOWN {' '.join(code(unknowns.named(review, group)) for group in lack.groups)}:"
        f" {inline('; '.join(lack.reasons), LONG)}"
        for lack in unknowns.lacks(review)
    ]
    _list(page, UNKNOWN, [], lines, "reason why rules could not be judged")
    for line in unknowns.without_root(review):
        page.add(UNKNOWN + 3000, inline(line, LONG))


def _changes(page: _Page, changes: Sorted) -> None:
    """The changes under their causes; each heap may fill the half of what is left, the last one all."""
    left = 0
    for at, heap in enumerate(changes.heaps, 1):
        room = CHANGES - page.size
        up_to = CHANGES - (room // 2 if at < len(changes.heaps) else 0)
        title = inline(compared.title(heap, changes), LONG)
        if not page.add(CHANGES, title, _folded(page, heap, up_to - len(title.encode()))):
            left += len(heap.changes)
    if left:
        page.add(LIMIT, f"And {plural(left, 'more change')}.")


def _folded(page: _Page, heap: Heap, up_to: int) -> str:
    lines = page.fitting(up_to - 200, (clipped(change_lines.line(change), LONG) for change in heap.changes))
    more = len(heap.changes) - len(lines)
    last = [f"... and {plural(more, 'more change')}"] if more else []
    return folded(plural(len(heap.changes), "change"), fenced([*lines, *last], "diff"))


def _end(review: Review, changes: Sorted) -> Iterator[str]:
    """The counts, which always fit."""
    if diff := review.diff:
        left_out = [*compared.left_out(diff)]
        yield from (inline(line, 100) for line in left_out[:4])
        if len(left_out) > 4:
            yield f"And {len(left_out) - 4} more patterns met nothing that differs."
        yield compared.compared(diff, changes)
    yield " ".join(inline(line, LONG) for line in headline.closing(review))
