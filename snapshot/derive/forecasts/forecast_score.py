"""A forecast held against the boot that came: what of it came true, what it missed, and where it was wrong.

Scored are predictions that a thing is kept, reverts or changes, by its own fact, and only if the kernel that was
forecast is the one that was booted. What nothing sets and nobody touched counts only where it moved all the same. A
difference does not count where its configuration was edited since, or when the second snapshot is of so long after the
boot that somebody may have set it again. An idle state that is not offered any more is as good as switched off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...records import field, record
from ..boot.cmdline_next import by_name
from ..tunables.tunable_values import agrees, parameter_agrees, text
from ..tunables.tunable_words import next_kernel
from ..tunables.tunables import tunables
from .forecast import predicted
from .forecast_evidence import early
from .forecast_prediction import JUDGED, Prediction, place

if TYPE_CHECKING:
    from ...document import Snapshot

UNSEEN = object()  # that the snapshot after does not show


@record()
class Score:
    """What became of a forecast. MISSED: to be kept, and changed; WRONG: to change, and did not, or not so."""

    true: int = 0
    missed: list[Prediction] = field(default_factory=list)
    wrong: list[Prediction] = field(default_factory=list)
    not_scored: list[Prediction] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many were scored."""
        return self.true + len(self.missed) + len(self.wrong)


def score(before: Snapshot, after: Snapshot) -> Score | None:
    """What of BEFORE's forecast came true in AFTER; None where that is no boot of its host with the kernel forecast."""
    kernel = next_kernel(before)
    boots = before.meta.boot_id, after.meta.boot_id
    if not all(boots) or boots[0] == boots[1] or before.meta.machine != after.meta.machine:
        return None
    if not kernel or after.meta.kernel != kernel:
        return None
    rows = tunables(before, after).rows  # a row's value "before" is that of the boot that came
    found = _Scorer(after)
    for one in predicted(before, {key: _without(row) for key, row in rows.items()}):
        if one.status in JUDGED:
            found.hold(one, rows.get(one.key, {}).get("before", UNSEEN))
    return found.score


def _without(row: dict[str, Any]) -> dict[str, Any]:
    """ROW without what came: the forecast must not see it."""
    return {key: value for key, value in row.items() if key not in ("before", "reverted")}


class _Scorer:
    """Holds predictions against AFTER."""

    def __init__(self, after: Snapshot) -> None:
        self.score = Score()
        self._after = after
        self._words = by_name(after.table("cmdline").get("tokens", ()))
        self._setters: dict[str, Any] | None = None

    def hold(self, one: Prediction, came: Any) -> None:
        """Count ONE by what CAME."""
        came = self._came(one, came)
        if came is UNSEEN:
            if not one.plain:
                self.score.not_scored.append(one)
        elif self._true(one, came):
            self.score.true += not one.plain
        elif self._edited(one) or not early(self._after):
            self.score.not_scored.append(one)
        else:
            (self.score.missed if one.status == "kept" else self.score.wrong).append(one)

    def _came(self, one: Prediction, came: Any) -> Any:
        if one.kind == "cmdline":
            known = self._after.unread("cmdline", ("tokens",)) is None
            return " ".join(self._words.get(one.name, ())) if known else UNSEEN
        if one.path == ("cpufreq", "driver"):
            return self._after.table("cpufreq").get("driver", UNSEEN)
        if came is UNSEEN and one.kind == "cpuidle" and self._after.unread("cpuidle", ("states",)) is None:
            return one.path[2] not in self._after.table("cpuidle").get("states", {}) or UNSEEN
        if one.kind == "config":
            config = self._after.table("kernel").get("installed", {}).get(one.path[2], {}).get("config", {})
            return config.get(one.path[4], UNSEEN)
        return came

    def _true(self, one: Prediction, came: Any) -> bool:
        same = parameter_agrees if one.kind == "module" else agrees
        return came == one.next or bool(one.kind != "cmdline" and same(came, text(one.next)))

    def _edited(self, one: Prediction) -> bool:
        """Whether what sets it is another line than when it was forecast."""
        if self._setters is None:
            rows = tunables(self._after, None).rows
            self._setters = {key: place(row.get("configured_by", {})) for key, row in rows.items()}
        return one.key in self._setters and self._setters[one.key] != place(one.row.get("configured_by", {}))
