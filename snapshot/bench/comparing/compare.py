"""Two ``bench`` sections -> everything that is to be said of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...records import replace
from ...sections.bench import Bench, Measurement
from .bands import band
from .comparison import Benchmarks, Comparison, Effect
from .effects import MINIMUM_PERCENT, Question, effects
from .grids import Apart, compared_grids
from .ladders import ladders
from .limits import Roofline, limit
from .matching import Match, matches
from .peers import peers
from .primary import declared, is_primary
from .remarks import remarks
from .status import finite, unjudged


def compare(
    before: Bench, after: Bench, *, noise: Mapping[str, float] | None = None, rooflines: Sequence[Roofline] = (),
    apart: Apart | None = None, moved: Mapping[str, str] | None = None,
) -> Benchmarks:
    """What differs, and what is shown to.

    NOISE is [noise] of snap.toml, ROOFLINES its [[roofline]]. APART tells how far apart two devices are (same switch,
    same NUMA node, ...; without it all are one group), by the names that tables of after have; MOVED are those of them
    that had another name before.
    """
    comparisons = [*_compared(matches(before.measurements, after.measurements), noise or {}, rooflines)]
    grids = compared_grids(before.grids or {}, after.grids or {}, noise or {}, apart or _unknown, moved or {})
    told = peers(before.grids or {}), peers(after.grids or {})
    return Benchmarks(comparisons=comparisons, grids=grids, ladders=ladders(comparisons),
                      remarks=remarks(comparisons, grids, *told))


def _unknown(*_: str) -> None:
    return None


def _compared(
    found: Sequence[Match[Measurement]], noise: Mapping[str, float], rooflines: Sequence[Roofline]
) -> Iterator[Comparison]:
    """In the order in which they were found."""
    judged = {match.id: effect for match in found if (effect := unjudged(match))}
    for family in _families([match for match in found if match.id not in judged]):
        asked = [_question(match, noise) for match in family]
        judged |= zip((match.id for match in family), map(_whole, family, effects(asked)), strict=True)
    for match in found:
        effect = judged[match.id]
        yield Comparison(id=match.id, measured=match.measured, before=match.before, after=match.after, effect=effect,
                         limit=limit(rooflines, match.id, match.measured, effect))


def _families(found: Sequence[Match[Measurement]]) -> list[list[Match[Measurement]]]:
    """What is corrected for together: the primary metrics of a workload; each of the rest alone."""
    workloads: dict[tuple[object, ...], list[Match[Measurement]]] = {}
    tools = declared(match.measured for match in found)
    for match in found:
        one = match.measured
        if is_primary(one, tools):
            workloads.setdefault((one.source.tool, *sorted(one.workload.items())), []).append(match)
    met = {match.id for together in workloads.values() for match in together}
    return [*workloads.values(), *([match] for match in found if match.id not in met)]


def _question(match: Match[Measurement], noise: Mapping[str, float]) -> Question:
    one = match.measured
    before, after = (finite(side.samples) for side in match.sides)
    minimum = MINIMUM_PERCENT if one.minimum_percent is None else one.minimum_percent
    return Question(before, after, one.better, minimum, band(noise, match.id, one))


def _whole(match: Match[Measurement], effect: Effect) -> Effect:
    """The effect, which says what it left out."""
    sides = {"before": match.before, "after": match.after}
    lost = [f"{name} {_lost(side)} without a value" for name, side in sides.items() if side and _lost(side)]
    return replace(effect, why=f"{effect.why}; {', '.join(lost)}") if lost else effect


def _lost(side: Measurement) -> int:
    return (side.failed or 0) + len(side.samples) - len(finite(side.samples))
