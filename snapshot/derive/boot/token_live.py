"""What a check of a kernel parameter reads, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...records import field, record

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact


class UnreadError(LookupError):
    """A fact that a check needs could not be read."""

    def __init__(self, fact: UnreadFact) -> None:
        super().__init__(fact.why)
        self.fact = fact


@record(frozen=True)
class Answer:
    """What a parameter asks for, what is there instead, both in words, and whether these agree.

    HONOURED is None where nothing shows it. WHY says what is known to stand against it, OVERRULED_BY is the line of a
    file that asks for something else later.
    """

    wants: str
    effect: str = ""
    honoured: bool | None = None
    why: str = ""
    overruled_by: Mapping[str, Any] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """As a row shows it."""
        row = {"wants": self.wants, "effect": self.effect, "why": self.why, "overruled_by": dict(self.overruled_by)}
        found: dict[str, Any] = {key: value for key, value in row.items() if value}
        return found if self.honoured is None else {**found, "honoured": self.honoured}


@record(frozen=True)
class Live:
    """The facts of one snapshot."""

    snapshot: Snapshot

    def value(self, section: str, *path: str) -> Any:
        """The fact; None when the host has none. UnreadError when it is unknown."""
        found = self.maybe(section, *path)
        if found is None and (fact := self.snapshot.unread(section, path)):
            raise UnreadError(fact)
        return found

    def maybe(self, section: str, *path: str) -> Any:
        """The fact; None when the host has none, or it is unknown."""
        found: Any = self.snapshot.table(section)
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        return found


Check = Callable[[Live, str | None], Answer | None]  # of a parameter's value; None: it asks for nothing that shows
