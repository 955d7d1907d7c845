"""The command line of this boot against the one before, by name, and whether a file asked for what changed.

From sections cmdline and boot. Names are the same with - and _, words with one name are compared as they stand, each as
often as it is there. Words that loaders and installers add themselves (``cmdline_next.PLAIN``) are left out. A file
counts only where it is known that this host's loader takes its words.

Row keys, by name; a key without a value is missing:
    name
    now, was         the words, joined with blanks
    lost             words that were there and are not
    asked, asked_before   the words of the configuration file, now and then
    as_asked         what is there is what the file asks for now, and what was there is what it asked for then
    file, line, text the line that asks for them, now or then
    durable          commands that bring the lost words back
    unknown          {lost: {source, why}} when the command line before could not be read
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..facts import Derived
from ..tunables.tunable_words import pair
from .boot_loader import add, refresh
from .cmdline_next import PLAIN, by_name

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]


def cmdline_words(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each name on the command line of either side; with no BEFORE only what is there now."""
    if fact := after.unread("cmdline", ("tokens",)):
        what = "the words of the command line"
        return Derived({}, [{"subject": "", "what": what, "source": fact.source, "why": fact.why}])
    now = _running(after)
    then = _running(before) if before else {}
    asked, asked_before = _asked(after), _asked(before) if before else None
    rows = {}
    for name in (name for name in {**now, **then} if name not in PLAIN):
        row: Row = {"name": name, "now": _joined(now.get(name)), "was": _joined(then.get(name))}
        row |= {"asked": _joined((asked or {}).get(name)), "asked_before": _joined((asked_before or {}).get(name))}
        lost = _lost(then.get(name, ()), now.get(name, ()))
        if before and lost:
            row |= {"lost": lost, **_line(after, before, name)}
            row["durable"] = (refresh(after) if row["asked"] else add(after, lost)) or None
            row["as_asked"] = _same(asked, name, now) and _same(asked_before, name, then)
        rows[name] = {key: value for key, value in row.items() if value is not None} | _gap(before)
    return Derived(rows)


def _running(snapshot: Snapshot) -> dict[str, list[str]]:
    return by_name(snapshot.table("cmdline").get("tokens", ()))


def _gap(before: Snapshot | None) -> Row:
    fact = before.unread("cmdline", ("tokens",)) if before else None
    return {"unknown": {"lost": {"source": fact.source, "why": fact.why}}} if fact else {}


def _asked(snapshot: Snapshot) -> dict[str, list[str]] | None:
    """The words of the file that entries are made from; None when there is none, or that is not known."""
    used = _used(snapshot)
    return None if used is None else by_name(used["words"])


def _used(snapshot: Snapshot) -> Mapping[str, Any] | None:
    files = snapshot.table("boot").get("configured", {}).values()
    return next((file for file in files if file.get("used")), None)


def _same(asked: Mapping[str, list[str]] | None, name: str, words: Mapping[str, list[str]]) -> bool:
    return asked is not None and not _lost(asked.get(name, ()), words.get(name, ())) and len(
        asked.get(name, ())) == len(words.get(name, ()))


def _lost(then: Iterable[str], now: Iterable[str]) -> str:
    """The words of THEN that NOW has not, or less often, however they are quoted."""
    left = Counter(map(pair, now))
    missing = []
    for word in then:
        left[pair(word)] -= 1
        missing += [word] if left[pair(word)] < 0 else []
    return " ".join(missing)


def _line(after: Snapshot, before: Snapshot, name: str) -> Row:
    """The first line of the file that has a word of NAME: now, else then."""
    for side in (after, before):
        used = _used(side)
        words = by_name(used["words"]).get(name, ()) if used else ()
        for origin in used["origins"] if used else ():
            if any(word in origin["text"] for word in words):
                return {key: origin[key] for key in ("file", "line", "text")}
    return {}


def _joined(words: Iterable[str] | None) -> str | None:
    return " ".join(words) if words else None
