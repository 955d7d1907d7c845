"""Two snapshots compared: sections, configuration files and meta; what was compared and what could not be.

Sections are walked by ``walk``, guided by their models; equal means equal in type too: 1, 1.0, true and "1"
are four values. A section whose text is equal on both sides, and of which both read all, is not parsed: its
facts are same. What is unknown on a side, as ``Snapshot.unread`` tells, is not comparable: never removed and
never same; a whole section that failed is such a thing, one that a side shows to be absent is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import sections
from ..pairing import Moves, Pairing, pair
from ..records import field, record
from ..sections.shape import LEAF, Path, of_section
from .change import MISSING, Change, Counts, Incomparable, Side, State
from .selection import EVERYTHING, Selection, Sieve
from .walk import Walk, same
from .weight import unknown, weigh

if TYPE_CHECKING:
    from ..document import Meta, Outcome, Snapshot

FUNCTIONS = ("pci", ("functions",))
META = (  # what of meta is worth a line; the rest differs between any two takes
    "host", "machine", "boot_id", "kernel", "system_state", "uid", "capabilities", "source", "redacted", "tool",
)


@record()
class Diff:
    """The differences of two snapshots, in the order of reports; ``change`` defines facts and counts."""

    before: Snapshot
    after: Snapshot
    changes: list[Change] = field(default_factory=list)
    incomparable: list[Incomparable] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    meta: list[Change] = field(default_factory=list)  # not counted
    files: list[Change] = field(default_factory=list)  # not counted; before and after are SHA-256
    warnings: list[str] = field(default_factory=list)  # why the two may not be a pair, and what was not applied
    selection: Selection = EVERYTHING
    unused: list[str] = field(default_factory=list)  # patterns of ONLY and IGNORE that met nothing that differs
    _pairings: dict[tuple[str, Path, Path], Pairing] = field(default_factory=dict)

    @property
    def same_boot(self) -> bool | None:
        """Whether both were taken in one boot; None when a side does not say, or they are of two machines."""
        one, other = self.before.meta, self.after.meta
        known = one.boot_id and other.boot_id and not (one.machine and other.machine and one.machine != other.machine)
        return one.boot_id == other.boot_id if known else None

    def pairing(self, section: str, path: Path, was: Path | None = None) -> Pairing:
        """How the items of the keyed table at PATH (before: at WAS, if another) pair: one answer for diff and rules."""
        key = (section, path if was is None else was, path)
        if key not in self._pairings:
            shape = of_section(section).at(path)
            before, after = _at(self.before.table(section), key[1]), _at(self.after.table(section), path)
            moves = None if (section, path) == FUNCTIONS else self.moves
            self._pairings[key] = pair(before, after, (shape and shape.item) or LEAF, moves)
        return self._pairings[key]

    @cached_property
    def moves(self) -> Moves:
        """The PCI functions that have another address: what is named by one is paired as they are."""
        same_text = self.before.text("pci") == self.after.text("pci")
        return Moves() if same_text else Moves.of(self.pairing(*FUNCTIONS))


def compare(before: Snapshot, after: Snapshot, selection: Selection | bool = EVERYTHING) -> Diff:
    """The differences of two snapshots that SELECTION lets through; true is all, with what changes by itself.

    FormatError when a section of either file does not fit its model.
    """
    selection = Selection(show_volatile=selection) if isinstance(selection, bool) else selection
    diff, met = Diff(before, after, selection=selection), set[str]()
    diff.warnings = _warnings(before.meta, after.meta)
    for name in sections.NAMES:
        if name in before.outcomes or name in after.outcomes:
            _section(diff, name, Sieve(selection, name, met, diff.warnings))
    diff.changes.sort(key=lambda change: (sections.NAMES.index(change.section), change.path, change.cpus))
    _meta(diff, Sieve(selection, "meta", met))
    _files(diff, Sieve(selection, "files", met))
    asked = (pattern.text for pattern in (*selection.only, *selection.ignore))
    diff.unused = [text for text in dict.fromkeys(asked) if text not in met]
    return diff


def _section(diff: Diff, name: str, sieve: Sieve) -> None:
    if silent(diff.before, name) or silent(diff.after, name):
        _not_comparable(diff, name, sieve)
        return
    one, other = diff.before.outcomes[name], diff.after.outcomes[name]
    diff.counts.sections += 1
    absent = [outcome.state for outcome in (one, other)].count("absent")
    if absent == 2:
        return
    if absent and not (one.unread or other.unread):
        _absent(diff, name, sieve)
    elif not (one.unread or other.unread or diff.moves.before_of) and diff.before.text(name) == diff.after.text(name):
        diff.counts.same += one.facts
        if one.facts == other.facts:
            diff.after.share(diff.before, name)
    else:
        walk = Walk(name, _unread(one), _unread(other), sieve, diff.moves)
        walk.run(of_section(name), diff.before.table(name), diff.after.table(name))
        _collect(diff, walk)


def silent(side: Snapshot, section: str) -> str:
    """Why a snapshot says nothing at all about a section; empty when it says something."""
    unread, outcome = side.unread(section, ()), side.outcomes.get(section)
    if unread is None or outcome is None or outcome.state in ("ok", "partial", unread.why):
        return unread.why if unread else ""
    return f"{outcome.state}: {unread.why}"


def _not_comparable(diff: Diff, name: str, sieve: Sieve) -> None:
    """The whole section; what nobody asked for on either side stands for no fact, else for at least one."""
    found = [side.outcomes[name] for side in (diff.before, diff.after) if name in side.outcomes]
    least = 0 if all(outcome.state == "skipped" for outcome in found) else 1
    facts, ignored = max([outcome.facts for outcome in found] + [least]), 0
    if not sieve.open:
        kept, ignored = unknown(of_section(name), sieve, (), (), diff.before.table(name), diff.after.table(name))
        facts, ignored = min(facts, kept), min(facts, ignored)
        if not kept:
            diff.counts.ignored += ignored
            return
    why = silent(diff.before, name)
    side: Side = "before" if why else "after"
    diff.incomparable.append(Incomparable(name, (), side, why or silent(diff.after, name), facts=facts))
    diff.counts.not_comparable += facts
    diff.counts.ignored += ignored


def _absent(diff: Diff, name: str, sieve: Sieve) -> None:
    """What one side shows not to exist is gone, or new, as a whole, if the other side could read all of it."""
    one, other = diff.before.outcomes[name], diff.after.outcomes[name]
    state: State = "removed" if other.state == "absent" else "added"
    side, why = (diff.before, other.why) if state == "removed" else (diff.after, one.why)
    table = side.table(name)
    weight = weigh(of_section(name), table, sieve, (), (), state)
    facts = diff.counts.add(weight, sieve.show_volatile)
    if facts or not (weight["ignored"] or sieve.fate((), (), state) == "ignored"):
        old, new = (table, MISSING) if state == "removed" else (MISSING, table)
        diff.changes.append(Change(name, (), state, old, new, facts=facts, why=why or ""))


def _unread(outcome: Outcome) -> dict[Path, tuple[str, str]]:
    return {tuple(fact.path): (fact.source, fact.why) for fact in outcome.unread or ()}


def _collect(diff: Diff, walk: Walk) -> None:
    diff.changes += walk.changes
    diff.incomparable += walk.incomparable
    for name in ("same", "changed", "not_comparable", "volatile", "evidence", "within", "ignored"):
        setattr(diff.counts, name, getattr(diff.counts, name) + getattr(walk.counts, name))


def _at(table: Mapping[str, Any], path: Path) -> dict[str, Any]:
    for key in path:
        table = table.get(key, {})
    return dict(table)


def _meta(diff: Diff, sieve: Sieve) -> None:
    """What of meta differs. It says which two were compared, so that ONLY leaves it in."""
    one, other = diff.before.meta.table(), diff.after.meta.table()
    for name in META:
        old, new = one.get(name, MISSING), other.get(name, MISSING)
        if not same(old, new):
            _add(diff, diff.meta, _change("meta", name, old, new), sieve)


def _add(diff: Diff, changes: list[Change], change: Change, sieve: Sieve) -> None:
    if sieve.shows(change.path, change.path, change.state):
        changes.append(change)
    else:
        diff.counts.ignored_others += 1


def _change(section: str, key: str, old: object, new: object) -> Change:
    state: State = "added" if old is MISSING else "removed" if new is MISSING else "changed"
    return Change(section, (key,), state, old, new)


def _warnings(before: Meta, after: Meta) -> list[str]:
    said = []
    if before.machine and after.machine and before.machine != after.machine:
        said.append(f"two machines, {before.host} before and {after.host} after (their machine ids differ): "
                    "what differs is no change, and what is worse no regression")
    elif before.host != after.host:
        said.append(f"two host names: {before.host} before, {after.host} after")
    if before.taken and after.taken and before.taken > after.taken:
        said.append(f"the wrong way round: before was taken at {before.taken}, after at {after.taken}. Exchange them")
    if bool(before.redacted) != bool(after.redacted):
        said.append("one side is redacted and the other is not: names, serials and addresses do not match")
    return said


def _files(diff: Diff, sieve: Sieve) -> None:
    """One change a file whose content differs. What a side lacks is gone only if that side read all."""
    one, other = ({path: file.sha256 for path, file in s.files.items()} for s in (diff.before, diff.after))
    for path in sorted({**one, **other}):
        old, new = one.get(path, MISSING), other.get(path, MISSING)
        lacking: Side = "before" if old is MISSING else "after"
        side = diff.before if lacking == "before" else diff.after
        if MISSING in (old, new) and (why := _unsure(side, path)):
            if sieve.drops((path,), (path,)):
                diff.counts.ignored_others += 1
            else:
                diff.incomparable.append(Incomparable("files", (path,), lacking, why, path, facts=0))
        elif old != new:
            _add(diff, diff.files, _change("files", path, old, new), sieve)


def _unsure(side: Snapshot, path: str) -> str:
    """Why the side may not list a file that it has; empty when it lists all."""
    dumb = [name for name in sections.NAMES if silent(side, name)]
    unread = (fact for outcome in side.outcomes.values() for fact in outcome.unread or ())
    why = (fact.why for fact in unread if fact.source == path or path.startswith(f"{fact.source.rstrip('/')}/"))
    return next(why, f"sections not read: {' '.join(dumb)}" if dumb else "")
