"""What changed besides, on paper: counts under each cause, or every change; then what was compared and left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ..diff import Diff
from ..diff.change import Change, Incomparable
from . import change_lines
from .other_changes import Heap, Sorted
from .paper import Paper, plural
from .review import Review

FEW = 10  # changes that are listed without being asked for
LONG = 500  # characters of such a line


def accepted(paper: Paper, review: Review, everything: bool) -> None:
    """The changes that a waiver accepts, by waiver."""
    for use in review.waivers:
        if use.state == "used" and use.changes:
            paper.head("ACCEPTED", f"{counted(use.changes)}: {use.waiver.note}", str(use.waiver.path), "dim")
            _list(paper, use.changes, everything)
            paper.blank()


def other_changes(paper: Paper, found: Sorted, everything: bool) -> None:
    """What no finding shows, under its causes; what findings show is counted, or listed with EVERYTHING."""
    for heap in found.heaps:
        paper.prose(title(heap, found, f" [{heap.cause.number}]" if heap.cause else ""))
        _list(paper, heap.changes, everything)
        paper.blank()
    if found.shown and everything:
        paper.prose(f"{counted(found.shown)} in the findings above:")
        _list(paper, found.shown, everything)
        paper.blank()


def title(heap: Heap, found: Sorted, mark: str = "") -> str:
    """What a heap of FOUND is headed with: its cause, MARKed, and how many changes it has."""
    count = counted(heap.changes, "other " if len(found.heaps) > 1 or found.shown or found.accepted else "")
    harmless = ", none judged worse" if heap.harmless and any(map(_is_fact, heap.changes)) else ""
    if heap.cause:
        return f'Under "{heap.cause.group.headline}"{mark}: {count}{harmless}'
    return f"{count[0].upper()}{count[1:]}{harmless}:"


def counted(changes: Iterable[Change], which: str = "") -> str:
    """How many changes, moves, files and facts of meta: "41 other changes and 1 file"."""
    kinds = Counter(_kind(change) for change in changes)
    there = [kind for kind in ("change", "move", "file", "meta fact") if kinds[kind]]
    parts = [plural(kinds[kind], kind if at else which + kind) for at, kind in enumerate(there)]
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _kind(change: Change) -> str:
    names = {"files": "file", "meta": "meta fact"}
    return names.get(change.section, "move" if change.state == "moved" else "change")


def _is_fact(change: Change) -> bool:
    return _kind(change) == "change"


def _list(paper: Paper, changes: Sequence[Change], everything: bool) -> None:
    if everything or len(changes) <= FEW:
        for change in changes:
            paper.exact(change_lines.line(change, None if everything else LONG), "  ")
    else:
        paper.pieces([*change_lines.summary(changes), "(--all lists them)"], "   ", "  ")


def counts(paper: Paper, diff: Diff, found: Sorted) -> None:
    """What could not be compared, what was left out, and the counts, which add up."""
    for (side, why), sections in not_comparable(diff.incomparable).items():
        paper.prose(f"Not comparable ({side}: {why}): {', '.join(sections)}", hang="  ")
    for line in (*left_out(diff), compared(diff, found)):
        paper.prose(line, hang="  ")


def compared(diff: Diff, found: Sorted) -> str:
    """How many facts were compared, and how that ended."""
    counts = diff.counts
    changes, shown = (sum(map(_is_fact, some)) for some in (diff.changes, found.shown))
    parts = [plural(changes, "change")] if changes != counts.changed else []
    parts += [f"{shown:,} of them in the findings above"] if shown else []
    said = f" ({', '.join(parts)})" if parts else ""
    return (f"Compared {plural(counts.facts, 'fact')} in {plural(counts.sections, 'section')}: {counts.same:,} same, "
            f"{counts.changed:,} changed{said}, {counts.not_comparable:,} not comparable.")


def left_out(diff: Diff) -> Iterator[str]:
    """What differs and is not counted, and patterns that met nothing."""
    counts = diff.counts
    words = {"volatile (--volatile shows them)": counts.volatile, "within a tolerance": counts.within,
             "ignored on request": counts.ignored + counts.ignored_others}
    parts = [f"{count:,} {word}" for word, count in words.items() if count]
    if parts:
        yield f"Facts that differ and are not counted as changes: {', '.join(parts)}."
    for pattern in diff.unused:
        yield f"The pattern {pattern} met nothing that differs."


def not_comparable(entries: Iterable[Incomparable]) -> dict[tuple[str, str], list[str]]:
    """By side and reason: each section with its number of facts, or files."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for entry in entries:
        counts[entry.side, entry.why, entry.section] += 1 if entry.section == "files" else entry.facts
    found: dict[tuple[str, str], list[str]] = {}
    for (side, why, section), count in counts.items():
        what = plural(count, "file") if section == "files" else f"{section} ({plural(count, 'fact')})"
        found.setdefault((side, why), []).append(what if count else section)
    return found
