"""Each benchmark of either side, and what became of it; whether peer-to-peer is in effect: section bench.

How two sides are compared stands in ``bench.comparing``. Without measurements on either side there are no rows, and
nothing of it is imported.

Row keys of benchmarks, by measurement id, of a table between devices by "ID GROUP" where it can be compared; a key
without a value is missing:
    what             tool, metric and what of the workload tells it from its like, in words
    short            likewise without the tool, and with the group
    group            of a table: how far apart the devices are: same switch, same NUMA node, ...; where it is known
    tool, metric, unit, kind
    primary          one of the metrics that the workload is run for
    valued_before    a run before gave a value; with a before only
    troubled         a run gave no value or only a part of it, or none though there was one before; not of what was
                     not measured after
    valueless        troubled, and no run gave a value
    trouble          why
    verdict          better, worse, same, too-few, not-comparable, failed, vanished, added; with a before only
    why              on what that rests
    was, now         the middle of each side, in words, with as many digits as tell them apart; missing where only
                     single pairs of a group got worse
    by               how far apart they are, in words: 12 %
    measured_after   anything was
    cells, worse     of a group: how many pairs of devices it has, and how many of them got worse alone
    pair             the worst of these, in words
    pair_was, pair_now, pair_by   likewise

Row keys of p2p_effect, by tool:
    tool, kind
    pairs            how many pairs of devices were measured with P2P enabled and disabled
    without          how many of them gain nothing by it
    where            which, in words: any two devices, A and B, ...
    driver           what the driver says of these pairs: OK, or why it allows none; missing where it does not say
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...sections.bench import Bench
from ..facts import Derived

if TYPE_CHECKING:
    from ...bench.comparing.comparison import Benchmarks, Effect, GridComparison, Group
    from ...bench.comparing.limits import Roofline
    from ...bench.comparing.peers import Peers
    from ...document import Snapshot
    from ...sections.bench import Measured

Row = dict[str, Any]
MOVED = ("better", "worse", "same", "too-few")
ALL = "all"  # the group where distances are not known


def compared(
    after: Snapshot, before: Snapshot, noise: Mapping[str, float] | None = None, rooflines: Sequence[Roofline] = (),
) -> Benchmarks | None:
    """Both sides compared; None where neither has a measurement, or one does not say whether it has any.

    NOISE and ROOFLINES are those of snap.toml.
    """
    olds, news = section(before), section(after)
    if not (some(olds) or some(news)) or _gaps(after, before):
        return None
    from ...bench.comparing.compare import compare
    from .device_distances import distances, renamed

    grids = olds.grids and news.grids
    return compare(olds, news, noise=noise, rooflines=rooflines, apart=distances(after) if grids else None,
                   moved=renamed(after, before) if grids else None)


def section(snapshot: Snapshot) -> Bench:
    """The section; empty where the snapshot has none."""
    found = snapshot.section("bench")
    return found if isinstance(found, Bench) else Bench(measurements={})


def some(bench: Bench) -> bool:
    """Whether there is a measurement."""
    return bool(bench.measurements or bench.grids)


def _gaps(after: Snapshot, before: Snapshot) -> list[Row]:
    """Why the measurements of one side have nothing to be compared with: the other was taken without the section."""
    sides = ((after, before), (before, after))
    facts = [fact for side, other in sides if some(section(other)) and (fact := side.unread("bench", ()))]
    return [{"subject": "", "what": "what benchmarks came to", "source": fact.source, "why": fact.why}
            for fact in facts[:1]]


def benchmarks(
    after: Snapshot, before: Snapshot | None, noise: Mapping[str, float] | None = None,
    rooflines: Sequence[Roofline] = (),
) -> Derived:
    """A row for each measurement of either side."""
    if before is None:
        return Derived(dict(_alone(section(after))))
    found = compared(after, before, noise, rooflines)
    return Derived({}, _gaps(after, before)) if found is None else table(found, some(section(after)))


def table(found: Benchmarks, measured_after: bool) -> Derived:
    """The rows of a comparison; MEASURED_AFTER tells whether anything was."""
    from ...bench.comparing.naming import names
    from ...bench.comparing.primary import declared, is_primary

    every: dict[str, Measured] = {one.id: one.measured for one in found.comparisons}
    every |= {one.id: one.measured for one in found.grids}
    called, tools, rows = names(every), declared(every.values()), dict[str, Row]()

    def begin(id_: str, there: bool) -> Row:
        start = _begin(every[id_], called[id_], is_primary(every[id_], tools), there)
        return {**start, "measured_after": measured_after}

    for one in found.comparisons:
        start = begin(one.id, one.after is not None)
        rows[one.id] = start | _judged(one.effect) | _lost(start, one.effect)
    for grid in found.grids:
        start = begin(grid.id, grid.after is not None)
        if grid.groups and grid.lost:
            rows[grid.id] = start | _judged(grid.effect) | _lost_cells(start, len(grid.lost))
        elif not grid.groups:
            rows[grid.id] = start | _judged(grid.effect) | _lost(start, grid.effect)
        rows |= {f"{grid.id} {group.name}": {**start, **_group(grid, group, start["short"])} for group in grid.groups}
    return Derived({key: _without_gaps(row) for key, row in rows.items()})


def _alone(bench: Bench) -> Iterator[tuple[str, Row]]:
    """The rows of one snapshot."""
    if some(bench):
        from ...bench.comparing.naming import names
        from ...bench.comparing.primary import declared, is_primary

        every: dict[str, Measured] = {**bench.measurements, **(bench.grids or {})}
        called, tools = names(every), declared(every.values())
        for id_, one in every.items():
            yield id_, _without_gaps(_begin(one, called[id_], is_primary(one, tools), True))


def _begin(one: Measured, what: str, primary: bool, there: bool) -> Row:
    troubled = one.status in ("failed", "partial")
    row: Row = {"what": what, "short": what.partition(" ")[2].replace(",", ""), "tool": one.source.tool,
                "metric": one.metric, "unit": one.unit, "kind": one.kind, "primary": primary}
    if not there:
        return row
    return row | {"troubled": troubled, "trouble": one.why or (one.status if troubled else None),
                  "valueless": one.status == "failed" or None}


def _judged(effect: Effect) -> Row:
    return {"verdict": effect.verdict, "why": effect.why, "valued_before": effect.before is not None,
            **_values(effect, "")}


def _lost(row: Row, effect: Effect) -> Row:
    """What has no value after is trouble there, also if it was waived."""
    if effect.verdict != "failed":
        return {}
    return {"troubled": True, "valueless": True,
            "trouble": row["trouble"] or effect.why.removeprefix("no value after: ")}


def _lost_cells(row: Row, count: int) -> Row:
    """So is a table without some cells, whatever became of the others, which have rows of their own."""
    why = f"{count} cells without a value now"
    return {"verdict": "failed", "why": why, "troubled": True, "trouble": row["trouble"] or why,
            **dict.fromkeys(("was", "now", "by"))}


def _values(effect: Effect, prefix: str) -> Row:
    from ...bench.comparing.naming import figures, percent

    if effect.verdict not in MOVED or not effect.before or not effect.after:
        return {}
    was, now = figures(effect.before.median, effect.after.median)
    by = None if effect.percent is None else percent(effect.percent)
    return {f"{prefix}was": was, f"{prefix}now": now, f"{prefix}by": by}


def _group(grid: GridComparison, group: Group, short: str) -> Row:
    row: Row = {"cells": len(group.cells), "worse": len(group.worse)} | _judged(group.effect)
    row |= {"group": group.name, "short": f"{short} {group.name}"} if group.name != ALL else {}
    if not group.worse:
        return row
    cell = max(group.worse, key=lambda at: abs(grid.cells[at].percent or 0))
    row |= {"pair": " to ".join(cell), **_values(grid.cells[cell], "pair_")}
    return row if group.effect.verdict == "worse" else row | {"verdict": "worse", "was": None, "now": None, "by": None}


def _without_gaps(row: Row) -> Row:
    return {key: value for key, value in row.items() if value is not None}


def p2p_effect(after: Snapshot, _: Snapshot | None) -> Derived:
    """A row for each tool that measured with peer-to-peer enabled and disabled."""
    grids = section(after).grids
    if not grids:
        return Derived()
    from ...bench.comparing.peers import peers

    return Derived({one.tool: _peers(one, after) for one in peers(grids)})


def _peers(one: Peers, after: Snapshot) -> Row:
    """What a tool shows, and what the driver says of the pairs that gain nothing."""
    from ..gpus.gpu_pairs import gpu_pairs
    from .device_distances import uuids

    addresses = {uuid: address for address, uuid in uuids(after).items()}
    said = {(row["first"], row["second"]): row.get("p2p") for row in gpu_pairs(after, None).rows.values()}
    pairs = [sorted(addresses.get(name, name) for name in pair) for pair in one.without]
    words = {said.get((first, second)) for first, second in pairs}
    row: Row = {"tool": one.tool, "kind": "p2p-bandwidth", "pairs": len(one.pairs), "without": len(one.without),
                "where": one.where}
    if words and None not in words:
        row["driver"] = ", ".join(sorted(map(str, words)))
    return row
