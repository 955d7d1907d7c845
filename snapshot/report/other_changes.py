"""Changes sorted for a report: those that findings show, those that are accepted, the others under their causes.

A finding shows a change when the fact is among its evidence. One that was judged by a derived table may rest on any
fact of the sections that its rule needs, so of changes in these nobody says that they are harmless; nor where a rule
could not be judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..diff.change import Change
from ..engine.causes import CAUSES
from ..records import field, record
from ..sections.shape import Path
from .order import Entry
from .review import Review

IN_HEADER = ("host", "machine", "boot_id", "kernel")  # of meta: said in the first line or in a warning


@record()
class Heap:
    """Changes under a cause, or without one. HARMLESS: no finding can rest on one of them."""

    cause: Entry | None
    changes: list[Change] = field(default_factory=list)
    harmless: bool = True


@record()
class Sorted:
    """Every change of a diff once, files and meta too."""

    heaps: list[Heap]
    shown: list[Change]  # by findings
    accepted: list[Change]


def sorted_changes(review: Review, entries: Sequence[Entry]) -> Sorted:
    """The changes of the review, whose findings are ENTRIES; heaps come in their order, that without cause last."""
    if not review.diff:
        return Sorted([], [], [])
    meta = [change for change in review.diff.meta if change.path[0] not in IN_HEADER]
    accepted = {id(change): change for use in review.waivers if use.state == "used" for change in use.changes}
    evidence, causes, doubtful = _Evidence(entries), _causes(review, entries), _doubtful(review, entries)
    heaps: dict[int, Heap] = {entry.number: Heap(entry) for entry in causes.values()} | {0: Heap(None)}
    shown = []
    for change in (*review.diff.changes, *review.diff.files, *meta):
        if id(change) in accepted or (review.benchmarks and change.section == "bench"):  # that is said as numbers
            continue
        if evidence.has(change):
            shown.append(change)
            continue
        cause = causes.get(change.section)
        heap = heaps[cause.number if cause else 0]
        heap.changes.append(change)
        heap.harmless &= change.section not in doubtful
    return Sorted([heap for heap in heaps.values() if heap.changes], shown, list(accepted.values()))


def _causes(review: Review, entries: Iterable[Entry]) -> dict[str, Entry]:
    """By section: the first finding that explains its changes."""
    explains = {rule.id: rule.explains.changes for rule in review.rules if rule.explains}
    found: dict[str, Entry] = {}
    for entry in entries:
        if entry.first.class_ in CAUSES:
            for section in explains.get(entry.first.rule, ()):
                found.setdefault(section, entry)
    return found


def _doubtful(review: Review, entries: Iterable[Entry]) -> set[str]:
    """Sections that a finding rests on in a way that its evidence does not tell, or that could not be judged.

    Where there are such, the same goes for files.
    """
    rules = [finding.rule for finding in review.judgement.unknown]
    for entry in entries:
        evidence = [e for finding in entry.group.findings for e in finding.evidence]
        if not evidence or any(e.side is None for e in evidence):
            rules.append(entry.first.rule)
    found = {section for rule in rules for section in review.judgement.needs.get(rule, ())}
    return found | {"files"} if found else found


class _Evidence:
    """The facts that findings show, by path."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._paths = {tuple(map(str, evidence.path)) for entry in entries for finding in entry.group.findings
                       for evidence in finding.evidence if evidence.side}
        self._above = {path[:end] for path in self._paths for end in range(1, len(path))}

    def has(self, change: Change) -> bool:
        """Whether they show what changed, something below it, or what holds it."""
        paths = {(change.section, *change.path), (change.section, *(change.was or change.path))}
        return any(path in self._above or not self._paths.isdisjoint(_beginnings(path)) for path in paths)


def _beginnings(path: Path) -> Iterable[Path]:
    return (path[:end] for end in range(1, len(path) + 1))
