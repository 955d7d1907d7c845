"""What a comparison says: changes, what could not be compared and why, and counts that add up.

A **fact** is a leaf of the file: a scalar or a plain list. Two facts that are equal are *same*, whatever their marks;
so are two numbers within a tolerance. Of those that differ, evidence (where a fact was found), volatile ones and those
that a selection ignores are left out and counted apart; the others are *changed*. What is unknown on a side is *not
comparable*: a fact for each stored leaf below the unread path, at least one. So ``facts == same + changed +
not_comparable``, and the ``facts`` of all changes sum up to ``changed``. A per-CPU table has a fact for each distinct
(before, after) pair, a matrix that differs one for each cell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, Literal

from ..records import record, replace
from ..regexes import regex
from ..sections.debversion import order, release_order
from ..sections.shape import Path

State = Literal["changed", "added", "removed", "moved"]
Side = Literal["before", "after"]


class Missing(Enum):
    """The value of what a side does not have; TOML has no null, so no value can be mistaken for it."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING
_RELEASES = {("kernel", "release"), ("meta", "kernel")}
_PACKAGED = {("os", name) for name in ("proxmox_ve", "systemd", "lxc", "pve_container")}
_DOTTED = regex(r"[0-9]+(?:\.[0-9]+)+")
_MIRRORED: Final[dict[State, State]] = {"added": "removed", "removed": "added"}


@record(frozen=True)
class Change:
    """One difference. BEFORE or AFTER is MISSING where a side has no such thing; a move has its keys there."""

    section: str
    path: Path  # on the after side; of what was removed, on the before side
    state: State
    before: Any = MISSING
    after: Any = MISSING
    was: Path = ()  # the path on the before side, where it is another one
    cpus: str = ""  # which CPUs, of a per-CPU table
    facts: int = 1  # how many it stands for: an added PCI function is one change; a move stands for none
    why: str = ""  # the evidence, where one side shows that the whole section is absent
    volatile: bool = False  # it changes by itself, and was asked for
    computed: str = ""  # what the kernel works it out from, where no file sets it: nobody changed a setting

    def mirrored(self) -> Change:
        """The change as it reads when before and after are exchanged."""
        path, was = (self.was, self.path) if self.was else (self.path, self.was)
        state = _MIRRORED.get(self.state, self.state)
        return replace(self, path=path, was=was, state=state, before=self.after, after=self.before)

    @property
    def direction(self) -> Literal["up", "down", ""]:
        """Whether a number or version went up or down; empty where that is not known, or nothing to say."""
        if self.state != "changed":
            return ""
        old, new = self._rank(self.before), self._rank(self.after)
        if old is None or new is None or type(old) is not type(new):
            return ""
        return "up" if old < new else "down" if old > new else ""

    def _rank(self, value: Any) -> Any:
        """What orders a value: numbers, versions of packages, kernel releases, numbers with dots; None of others."""
        place = (self.section, *self.path)
        if type(value) in (int, float):
            return value
        if not isinstance(value, str):
            return None
        if place in _RELEASES:
            return release_order(value)
        packaged = place in _PACKAGED or (place[:2] == ("packages", "installed") and place[3:] == ("version",))
        return order(value) if packaged or _DOTTED.fullmatch(value) else None

    def elements(self) -> tuple[list[str], list[str]]:
        """Of two plain lists: the elements gone and the new ones; both empty when only the order differs."""
        before, after = (Counter(map(str, side)) for side in (self.before, self.after))
        return sorted((before - after).elements()), sorted((after - before).elements())


@record(frozen=True)
class Incomparable:
    """A section, fact or file that cannot be compared; it stands for everything below it."""

    section: str
    path: Path
    side: Side
    why: str
    source: str = ""  # the file or command that was to tell
    facts: int = 1


@record()
class Counts:
    """How many sections and facts were compared, and how that ended."""

    sections: int = 0
    same: int = 0
    changed: int = 0
    not_comparable: int = 0
    volatile: int = 0  # differ, left out
    evidence: int = 0  # differ, left out
    within: int = 0  # of the same: differ, but are within a tolerance
    ignored: int = 0  # differ or cannot be compared, left out on request
    ignored_others: int = 0  # files and facts of meta, which are not counted else, left out on request

    @property
    def facts(self) -> int:
        """Everything that was to be compared."""
        return self.same + self.changed + self.not_comparable

    def add(self, weight: Mapping[str, int], show_volatile: bool) -> int:
        """Count the facts of something that differs, by what becomes of them; returns how many are changed."""
        changed = weight["plain"] + (weight["volatile"] if show_volatile else 0)
        self.changed += changed
        self.volatile += weight["plain"] + weight["volatile"] - changed
        self.evidence += weight["evidence"]
        self.ignored += weight["ignored"]
        return changed
