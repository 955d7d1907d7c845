"""Which picture snapshots give: a ladder where a parameter rises, else tables between devices, else a history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Literal, TypeVar

from ...errors import SnapError
from ...records import record
from ...sections.bench import Bench
from . import heatmap, history, ladder
from .moments import Named, histories

Kind = Literal["ladder", "matrix", "history"]
KINDS: tuple[Kind, ...] = ("ladder", "matrix", "history")
T = TypeVar("T", bound=ladder.Curve | heatmap.Heat | history.History)
MOST = 12  # panels of one picture


@record(frozen=True)
class Picture:
    """An SVG; how many panels it has, and how many more there were."""

    kind: Kind
    svg: str
    panels: int
    left_out: int


def picture(snapshots: Sequence[Named], metric: str | None, title: str, kind: Kind | None = None) -> Picture:
    """The picture of SNAPSHOTS, oldest first: of KIND or of the first that they have. SnapError when there is none.

    METRIC, a pattern, is what the metric or TOOL/METRIC has to be; without one the primary metrics are shown,
    or all where none is primary.
    """
    benches = [(name, found) for name, snapshot in snapshots
               if isinstance(found := snapshot.section("bench"), Bench)]
    for one in (kind,) if kind else KINDS:
        if made := _picture(one, snapshots, benches, metric, title):
            return made
    what = f" of a metric {metric!r}" if metric else ""
    raise SnapError(f"there is nothing to draw{what}: {_missing(kind)}")


def _missing(kind: Kind | None) -> str:
    return {
        "ladder": "a ladder needs measurements that differ in one number of their workload only",
        "matrix": "no measurement is a table between devices",
    }.get(kind or "", "these snapshots have no such measurement; bench add and bench run add some")


def _picture(
    kind: Kind, snapshots: Sequence[Named], benches: Sequence[tuple[str, Bench]], metric: str | None, title: str
) -> Picture | None:
    if kind == "ladder":
        return _drawn(kind, ladder.curves([(name, one.measurements) for name, one in benches]), metric, title,
                      ladder.draw)
    if kind == "matrix":
        return _drawn(kind, heatmap.heats([(name, one.grids or {}) for name, one in benches]), metric, title,
                      heatmap.draw)
    return _drawn("history", histories(snapshots).values(), metric, title, history.draw)


def _drawn(
    kind: Kind, found: Iterable[T], metric: str | None, title: str, draw: Callable[[Sequence[T], str], str]
) -> Picture | None:
    every = [*found]
    if metric is not None:
        chosen = [one for one in every if _named(one, metric)]
    else:
        chosen = [one for one in every if one.primary] or every
    panels = chosen[:MOST]
    return Picture(kind, draw(panels, title), len(panels), len(chosen) - len(panels)) if panels else None


def _named(one: ladder.Curve | heatmap.Heat | history.History, pattern: str) -> bool:
    return any(fnmatchcase(name, pattern) for name in (one.metric, f"{one.tool}/{one.metric}"))
