"""What of a comparison counts: what the user wants to see, what to leave out, what changes by itself, how far.

Of facts that differ, each is asked once, in this order: is it within a tolerance (then it is the same), is it outside
ONLY or in IGNORE (then it is left out and counted), does it change by itself. Facts that are equal, and sections whose
texts are, are never asked. Of what was added or removed as a whole, those facts count that are let through; what
cannot be compared stays as long as something wanted may be in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from ..records import record
from ..sections.shape import Path
from .change import State

if TYPE_CHECKING:
    from .pattern import Pattern
    from .tolerance import Tolerance  # fractions are read by no diff without one

Fate = Literal["plain", "volatile", "ignored"]


@record(frozen=True)
class Selection:
    """What counts. A sign on a pattern limits it to what was added or removed."""

    only: tuple[Pattern, ...] = ()  # nothing else; without any, everything
    ignore: tuple[Pattern, ...] = ()  # not these, though ONLY has them
    volatile: tuple[Pattern, ...] = ()  # these change by themselves, besides those that the models mark
    stable: tuple[Pattern, ...] = ()  # these do not, whatever else says so
    tolerances: tuple[Tolerance, ...] = ()  # any of them is enough
    show_volatile: bool = False  # what changes by itself is a change like others


EVERYTHING = Selection()


class Sieve:
    """What becomes of the facts of one section that differ. Patterns that meet one are added to MET."""

    def __init__(
        self, selection: Selection, section: str, met: set[str] | None = None, warnings: list[str] | None = None
    ) -> None:
        self.show_volatile = selection.show_volatile
        self._section = section
        self._met: set[str] = set() if met is None else met
        self._warnings: list[str] = [] if warnings is None else warnings
        self._narrow = bool(selection.only) and section != "meta"  # which says what was compared with what
        self._only, self._ignore, self._volatile, self._stable = (
            self._of_section(kind) for kind in (selection.only, selection.ignore, selection.volatile, selection.stable)
        )
        patterns = (self._only, self._ignore, self._volatile, self._stable)
        self.open = not (self._narrow or any(patterns))  # no pattern says anything about this section
        self._tolerances = [t for t in selection.tolerances if self._of_section([t.pattern])]

    def fate(self, was: Path, path: Path, state: State | None, volatile: bool = False) -> Fate:
        """What becomes of the fact at PATH (before: at WAS), whose mark is VOLATILE. STATE is None if not known."""
        if self.open:
            return "volatile" if volatile else "plain"
        places = self._places(was, path)
        wanted = self._hit(self._only, places, state or "any") or not self._narrow
        if self._hit(self._ignore, places, state) or not wanted:
            return "ignored"
        if volatile or self._hit(self._volatile, places, state):
            return "plain" if self._hit(self._stable, places, state) else "volatile"
        return "plain"

    def shows(self, was: Path, path: Path, state: State) -> bool:
        """Whether what is at PATH is a change."""
        fate = self.fate(was, path, state)
        return fate == "plain" or (fate == "volatile" and self.show_volatile)

    def drops(self, was: Path, path: Path) -> bool:
        """Whether nothing that counts can be at PATH or below; of what cannot be compared."""
        places = self._places(was, path)
        if self._hit(self._ignore, places, None):
            return True
        wanted = [p.text for p in self._only if any(p.covers(here) or p.reaches(here) for here in places.values())]
        self._met.update(wanted)
        return self._narrow and not wanted

    def within(self, was: Path, path: Path, before: Any, after: Any) -> bool:
        """Whether a tolerance makes two values the same; warns of one whose unit is not that of the fact."""
        if not self._tolerances:
            return False
        from .tolerance import paired

        if not paired(before, after):
            return False
        places = self._places(was, path)
        covering = [tolerance for tolerance in self._tolerances if self._hit([tolerance.pattern], places, "changed")]
        for tolerance in covering:
            if tolerance.scaled(path) is None:
                self._warn(tolerance, path)
        return any(tolerance.within(path, before, after) for tolerance in covering)

    def _of_section(self, patterns: Iterable[Pattern]) -> list[Pattern]:
        head = (self._section,)
        return [pattern for pattern in patterns if pattern.covers(head) or pattern.reaches(head)]

    def _places(self, was: Path, path: Path) -> dict[str, Path]:
        """Where a fact is or was, by all its keys in one text."""
        return {"\0".join(place): place for place in ((self._section, *was), (self._section, *path))}

    def _hit(self, patterns: list[Pattern], places: dict[str, Path], state: State | Literal["any"] | None) -> bool:
        """Whether a pattern covers one of the places; each that does is met."""
        if not patterns:
            return False
        found = [
            pattern.text for pattern in patterns
            if (state == "any" or pattern.direction in (None, state))
            and any(pattern.word in text and pattern.covers(path) for text, path in places.items())
        ]
        self._met.update(found)
        return bool(found)

    def _warn(self, tolerance: Tolerance, path: Path) -> None:
        from .tolerance import own_unit

        where, own = ".".join((self._section, *path)), own_unit(path)
        begin = f"the tolerance {tolerance.amount} of {tolerance.pattern.text} "
        if not any(warning.startswith(begin) for warning in self._warnings):
            self._warnings.append(f"{begin}was not applied to {where}, which "
                                  f"{f'is in {own}' if own else 'has no unit in its name'}")
