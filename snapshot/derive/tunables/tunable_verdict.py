"""What the next boot makes of a tunable, from those that set it and from its default.

    kept      what surely sets it last gives the value that it has now
    changes   what surely sets it last gives another value
    default   nothing sets it, and it is what kernel, driver or standard make of it: where the next kernel has another
              default than the running one, its default differs from it all the same
    reverts   nothing sets it, and it is not that
    may       only something uncertain sets it, or nothing does and the default is not known
    unknown   what it is now, or something that may set it, was not read
"""

from __future__ import annotations

from ...records import field, record
from .tunable import EARLY, Default, Setter, Tunable
from .tunable_values import text


@record()
class Outcome:
    """The setters of a tunable by what becomes of them: BASE is the last certain one, MAYBE may change its value."""

    base: Setter | None = None
    maybe: list[Setter] = field(default_factory=list)
    lost: list[Setter] = field(default_factory=list)
    idle: list[Setter] = field(default_factory=list)  # they will not run

    @property
    def order(self) -> list[Setter]:
        """Those that run, in order of application."""
        return sorted([*self.lost, *self.maybe, *filter(None, [self.base])], key=lambda setter: setter.rank)


def outcome(setters: list[Setter]) -> Outcome:
    """SETTERS sorted out. Certain ones that nothing orders and that disagree are all but possible."""
    found = Outcome(idle=[setter for setter in setters if setter.why_not])
    order = sorted((setter for setter in setters if not setter.why_not), key=lambda setter: setter.rank)
    sure = [setter for setter in order if setter.sure]
    base = sure[-1] if sure else None
    rivals = [setter for setter in sure[:-1] if base and _unordered(setter, base) and setter.value != base.value]
    found.base = None if rivals else base
    found.maybe = [s for s in order if (s is base and rivals) or s in rivals or (not s.sure and _after(s, base))]
    found.lost = [s for s in order if s is not found.base and s not in found.maybe]
    return found


def _unordered(one: Setter, other: Setter) -> bool:
    """Whether either may come last: early mechanisms run side by side, and so do units of one step of the boot.

    Lines of one file or unit stand in their order.
    """
    if one.rank[0] == other.rank[0] == EARLY and one.how != other.how:
        return True
    apart = one.origin.get("file") != other.origin.get("file") and (not one.unit or one.unit != other.unit)
    return apart and one.rank[:2] == other.rank[:2] and one.rank[0] >= EARLY and one.how != "sysctl.d"


def _after(setter: Setter, base: Setter | None) -> bool:
    return base is None or setter.rank > base.rank or _unordered(setter, base)


def verdict(tunable: Tunable, found: Outcome, unread: bool) -> str | None:
    """One of the words above; None for what this host does not have."""
    live = tunable.live
    if live is None:
        return None if tunable.absent else "unknown"
    if unread:
        return "unknown"
    possible = [None if s.value is None else tunable.same(live, s.value) for s in found.maybe]
    if found.base is None:
        return _unset(tunable, possible)
    fits = tunable.same(live, str(found.base.value))
    if fits is None or (possible and not (fits and all(possible))):
        return "may"
    if fits:
        return "kept"
    return "may" if _falls_short(tunable, found.base) else "changes"


def _unset(tunable: Tunable, possible: list[bool | None]) -> str:
    """The verdict where nothing surely sets it."""
    fits = _is(tunable, tunable.default)
    if fits is None or (possible and not (fits and all(possible))):
        return "may"
    return "default" if fits or _is(tunable, tunable.default_now) else "reverts"


def _is(tunable: Tunable, default: Default | None) -> bool | None:
    """Whether it has this default; None where that is not known."""
    return None if default is None or tunable.live is None else tunable.same(tunable.live, text(default.value))


def _falls_short(tunable: Tunable, base: Setter) -> bool:
    """Whether it has less than it asks for, which the next boot may give or not."""
    wanted = str(base.value)
    return tunable.falls_short and isinstance(tunable.live, int) and wanted.isdecimal() and tunable.live < int(wanted)
