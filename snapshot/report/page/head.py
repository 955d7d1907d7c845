"""The top of the page, which host and when; and what the snapshot does not hold, section by section."""

from __future__ import annotations

from collections.abc import Iterator

from ...document import Outcome, Snapshot
from ...sections import NAMES
from ..paper import plural
from .figures import age, few
from .sheet import Sheet

NO_TROUBLE = ("ok", "absent", "skipped")


def head(sheet: Sheet, snapshot: Snapshot) -> None:
    """Host, label, time; then what else is said of the boot and of the take."""
    meta = snapshot.meta
    when = f"taken {meta.taken[:10]} {meta.taken[11:19]} UTC" if meta.taken else "taken at an unknown time"
    sheet.exact("  ".join(filter(None, (meta.host, meta.label, when))))
    who = {None: None, 0: "as root"}.get(meta.uid, f"as uid {meta.uid}")
    state = f"systemd {meta.system_state}" if meta.system_state not in (None, "none") else None
    inside = f"virtualization {meta.virtualization}" if meta.virtualization not in (None, "none") else None
    source = None if meta.source == "live" else f"from a recorded root ({meta.source})"
    up = f"up {age(meta.uptime_s)}" if meta.uptime_s is not None else None
    facts = (up, state, inside, who, "baseline" if meta.baseline else None,
             "redacted" if meta.redacted else None, source, f"hostsnap {meta.tool}")
    sheet.exact(", ".join(filter(None, facts)))
    recorded = [o for o in snapshot.outcomes.values() if o.state != "skipped"]
    sheet.exact(f"{plural(len(recorded), 'section')}, {plural(sum(o.facts for o in recorded), 'fact')}, "
                f"{plural(len(snapshot.files), 'configuration file')} read")


def trouble(sheet: Sheet, snapshot: Snapshot) -> None:
    """One line for each section of which something is unknown, and for what of meta could not be read."""
    sheet.chapter("UNKNOWN: what could not be read (show outcomes says all)")
    rows = [(o.state, name, _reasons(o)) for name, o in _each(snapshot) if o.state not in NO_TROUBLE]
    sheet.table([*rows, *(("partial", "meta", text) for text in snapshot.meta.unread or ())])
    if snapshot.meta.uid != 0 and any(outcome.refused() for outcome in snapshot.outcomes.values()):
        sheet.line("Not taken as root, who would have read more.")


def _reasons(outcome: Outcome) -> str:
    """What is unknown and why: the first reason with the facts that share it, and how many other facts are unknown."""
    unread = outcome.unread or []
    if not unread:
        return outcome.why or ""
    first = unread[0]
    alike = [fact for fact in unread if (fact.source, fact.why) == (first.source, first.why)]
    names = [*dict.fromkeys(fact.path[-1] for fact in alike if fact.path)]
    more = f"; {len(unread) - len(alike):,} more" if len(unread) > len(alike) else ""
    times = f" ({len(alike)} x)" if len(alike) > len(names) > 0 else ""
    return f"{', '.join(few(names, 4)) or 'all'}{times}: {first.source}: {first.why}{more}"


def sections(sheet: Sheet, snapshot: Snapshot) -> None:
    """Every section: how many facts, or why it has none."""
    sheet.chapter("SECTIONS: facts of each, and what this host does not have")
    found = [*_each(snapshot)]
    sheet.facts("recorded", (f"{name} {o.facts:,}" for name, o in found if o.facts))
    sheet.facts("empty", (name for name, o in found if not o.facts and o.state == "ok"))
    sheet.facts("nothing read", (name for name, o in found if not o.facts and o.state not in NO_TROUBLE))
    for why in dict.fromkeys(o.why for _, o in found if o.state == "skipped"):
        names = (name for name, o in found if (o.state, o.why) == ("skipped", why))
        sheet.facts((why or "left out").replace("-", " "), names)
    for name, outcome in found:
        if outcome.state == "absent":
            sheet.facts(f"no {name}", [outcome.why or "absent"])


def _each(snapshot: Snapshot) -> Iterator[tuple[str, Outcome]]:
    """Every section by name; one that the file does not have is as good as skipped."""
    for name in NAMES:
        yield name, snapshot.outcomes.get(name, Outcome(state="skipped", facts=0, why="not in the file"))
