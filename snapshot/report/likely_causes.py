"""What may have moved a benchmark: findings and changes of the same pair, by ``rules/causes.toml``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..diff.change import Change
from ..engine.benchmark_causes import Match, shipped
from ..engine.benchmark_causes import likely as known
from .change_lines import line
from .groups import few
from .order import Entry
from .review import Review

if TYPE_CHECKING:
    from ..bench.comparing.comparison import Verdict
    from .benchmarks import Causes

GONE = ("resolved", "better")  # classes of findings that tell of a cure
THERE = ("new", "expected")
FEW = 4  # causes that are named
LONG = 200  # characters of a change


def likely(review: Review, entries: Sequence[Entry], numbered: bool = True) -> Causes:
    """The function that says, of a kind of measurement and its verdict, what may be behind it, the strongest first.

    NUMBERED: findings are named with their numbers.
    """
    return lambda kind, verdict: _said(review, entries, kind, verdict, numbered)


def _said(review: Review, entries: Sequence[Entry], kind: str, verdict: Verdict, numbered: bool) -> list[str]:
    states = [entry for entry in entries if not review.judgement.measures(entry.first.rule)]
    there = [entry for entry in states if entry.first.class_ in THERE]
    gone = [entry for entry in states if entry.first.class_ in GONE]
    changes = [change for change in review.diff.changes if change.section != "bench"] if review.diff else []
    causes = shipped() if verdict == "worse" else [one for one in shipped() if one.direction == "either"]
    paths = {(change.section, *change.path): change for change in changes}
    found = known(kind, [entry.first.rule for entry in there], paths, causes)
    if verdict == "better":
        found = known(kind, [entry.first.rule for entry in gone], (), shipped()) + found
    named = there if verdict == "worse" else [*gone, *there]
    said = [_cause(match, named, paths, numbered) for match in found]
    more = [f"And {len(said) - FEW} weaker ones."] if len(said) > FEW else []
    return [*said[:FEW], *more]


def _cause(
    match: Match, entries: Sequence[Entry], paths: dict[tuple[str, ...], Change], numbered: bool
) -> str:
    """What is there, by the findings, else by the changes; and how it acts."""
    named = [f"{entry.group.headline}{f' [{entry.number}]' if numbered else ''}"
             for entry in entries if entry.first.rule in match.rules]
    named = named or [line(paths[path], LONG) for path in match.facts]
    word = "Likely" if match.cause.weight == "strong" else "Possible"
    return f"{word} cause: {few(named, '; ')}. {match.cause.why}"
