"""Which settings of GPUs a line of a unit, script or udev rule sets at boot, and whether they are so: from tunables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ...records import record
from ..tunables.tunable import Tunable
from ..tunables.tunable_setters import Setters, of_boot
from ..tunables.tunable_verdict import outcome

if TYPE_CHECKING:
    from ...document import Snapshot


@record(frozen=True)
class Line:
    """The line that surely sets a setting last, as FILE:LINE, and whether the GPU has what it gives."""

    place: str
    holds: bool


def boot_lines(snapshot: Snapshot, room: Callable[[Setters], Iterator[Tunable]]) -> dict[tuple[str, str], Line]:
    """Key of a GPU and name of a setting -> the line that sets it, of the tunables in ROOM. A mode that the GPU keeps
    itself is set by no line."""

    found = {}
    for tunable in room(of_boot(snapshot)):
        base = outcome(tunable.setters).base
        holds = tunable.live is not None and base and tunable.same(tunable.live, str(base.value))
        if base and base.how != "pending" and isinstance(holds, bool):
            place = ":".join(str(base.origin[key]) for key in ("file", "line") if key in base.origin)
            found[tunable.subject, tunable.name] = Line(place, holds)
    return found
