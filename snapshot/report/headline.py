"""What a report begins and ends with, in words: what was compared with what, the verdict, why it exits as it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..engine.finding import SEVERITIES
from .groups import few
from .order import PARTS, Entry
from .paper import plural
from .review import Review

if TYPE_CHECKING:
    from ..document import Snapshot

ASIDE = {"existing": "already so before"}  # parts in other words than their own


def stamps(review: Review) -> tuple[str, str]:
    """Both sides: host, name, kernel, time, and of after whether there was a boot between; before may be empty."""
    host = review.after.meta.host
    after = f"{review.after_name} ({', '.join([*_stamp(review.after), *_boot(review)])})"
    if not review.before:
        return "", f"{host}  {after}"
    before = f"{review.before.meta.host}  {review.before_name} ({', '.join(_stamp(review.before))})"
    return before, after if review.before.meta.host == host else f"{host}  {after}"


def _stamp(snapshot: Snapshot) -> list[str]:
    meta = snapshot.meta
    when = meta.taken[:16].replace("T", " ") + "Z" if meta.taken else "taken at an unknown time"
    return [meta.kernel, when] if meta.kernel else [when]


def _boot(review: Review) -> list[str]:
    same = review.diff.same_boot if review.diff else None
    return [] if same is None else ["same boot" if same else "new boot"]


def verdict(review: Review, entries: Sequence[Entry]) -> list[str]:
    """The verdict in clauses, the first of which is whether anything got worse."""
    by_severity = Counter(str(entry.first.severity) for entry in entries if entry.part == "counting")
    unsure = len({finding.rule for finding in review.judgement.unknown})
    some, none, known = _words(review)
    known = known if unsure else none
    notes = by_severity.pop("info", 0)
    counts = ", ".join(f"{by_severity[s]} {s}" for s in SEVERITIES if by_severity[s])
    nothing = f"Nothing {known} ({plural(judged(review), 'rule')} judged)."
    if not judged(review) and not unsure:
        nothing = "Nothing was judged: no rule applies here."
    first = f"{some}: {counts}." if counts else nothing
    parts = Counter(entry.part for entry in entries)
    also = [f"{plural(notes, 'note')}."] if notes else []
    also += [f"{parts[part]} {ASIDE.get(part, part)}." for part in PARTS[1:] if parts[part]]
    if review.score and review.score.total:
        from .forecast import came_true

        also.append(f"Forecast: {came_true(review.score)}.")
    worst = len({finding.rule for finding in review.judgement.unknown if finding.severity == "critical"})
    what = f"{plural(unsure, 'rule')} could not be judged{f', {worst} of them critical' if worst else ''}."
    return [first, *also, *([what] if unsure else [])]


def _words(review: Review) -> tuple[str, str, str]:
    """What findings come to, that there are none, and that none are known."""
    if review.outlook:
        return "BREAKS", "breaks", "is known to break"
    return ("REGRESSED", "regressed", "is known to have regressed") if review.before else (
        "WRONG", "wrong", "is known to be wrong")


def judged(review: Review) -> int:
    """How many rules could be judged."""
    left = {*review.judgement.not_applicable, *(finding.rule for finding in review.judgement.unknown)}
    return len(review.judgement.items.keys() - left)


def causes(entries: Sequence[Entry]) -> Iterator[tuple[Entry, int]]:
    """What explains findings that count, and how many of them."""
    explained = Counter(entry.cause for entry in entries if entry.part == "counting")
    yield from ((entry, explained[entry.number]) for entry in entries if explained[entry.number])


def rules(review: Review) -> str:
    """How many rules were applied, and to what end."""
    judgement = review.judgement
    unsure = len({finding.rule for finding in judgement.unknown})
    counts = {"judged": judged(review), "with nothing to judge here": len(judgement.not_applicable),
              "that could not be judged": unsure}
    parts = [f"{count:,} {what}" for what, count in counts.items() if count]
    return f"Applied {plural(len(judgement.items), 'rule')}: {', '.join(parts) or '0 judged'}."


def closing(review: Review) -> Iterator[str]:
    """The last lines: the rules that were applied, waivers that may be needed or not, the exit code."""
    yield rules(review)
    if review.disabled:
        yield f"The settings leave out {plural(len(review.disabled), 'rule')}: {few(review.disabled, ', ')}."
    undecided = [use.waiver.target for use in review.waivers if use.state == "undecided"]
    if undecided:
        yield f"Whether it is needed is not known of {plural(len(undecided), 'waiver')}: {few(undecided, ', ')}."
    yield ending(review)


def ending(review: Review) -> str:
    """The exit code and why."""
    rules = len({finding.rule for finding in review.open_questions})
    new = "new " if review.counting == ("new",) else ""
    what = {
        0: f"no {new}finding at or above {review.threshold}.",
        1: f"{new}findings at or above {review.threshold}.",
        3: f"no {new}finding at or above {review.threshold}, but {plural(rules, 'such rule')} could not be judged"
           " (--allow-unknown RULE or SECTION lets it pass).",
    }
    ran = f"that of {review.ran.command}, which {review.ran.how}. Of what changed: " if review.ran else ""
    return f"Exit {review.exit_code}: {ran}{what[review.found]}"
