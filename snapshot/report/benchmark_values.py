"""Two benchmark sections compared, as plain values for programs; numbers as they are, what is missing left out."""

from __future__ import annotations

from typing import Any

from ..bench.comparing.comparison import Benchmarks, Comparison, Effect, GridComparison, Ladder
from ..records import asdict
from ..sections.bench import Measured
from .benchmarks import Causes

MOVED = ("worse", "better")


def values(found: Benchmarks, causes: Causes | None = None) -> dict[str, Any]:
    """{measurements, grids, ladders, remarks}."""
    return {
        "measurements": [_comparison(one, causes) for one in found.comparisons],
        "grids": [_grid(one, causes) for one in found.grids],
        "ladders": [_ladder(one) for one in found.ladders],
        "remarks": [*found.remarks],
    }


def _comparison(one: Comparison, causes: Causes | None) -> dict[str, Any]:
    out = {"id": one.id, **_measured(one.measured), **_effect(one.effect)}
    if one.limit:
        out["limit"] = _there(asdict(one.limit))
    return out | _causes(one.measured, one.effect, causes)


def _grid(one: GridComparison, causes: Causes | None) -> dict[str, Any]:
    groups = [{"name": group.name, **_effect(group.effect), "cells": [*map(list, group.cells)],
               "worse": [*map(list, group.worse)], "better": [*map(list, group.better)]} for group in one.groups]
    cells = [{"row": row, "column": column, **_effect(effect)} for (row, column), effect in one.cells.items()]
    return {"id": one.id, **_measured(one.measured), **_effect(one.effect), "groups": groups, "cells": cells,
            **_causes(one.measured, one.effect, causes)}


def _ladder(one: Ladder) -> dict[str, Any]:
    steps = [{"value": value, "id": step.id} for value, step in one.steps]
    return {"metric": one.metric, "unit": one.unit, "better": one.better, "parameter": one.parameter,
            "workload": one.workload, "steps": steps, "words": one.words}


def _measured(one: Measured) -> dict[str, Any]:
    kept = ("metric", "unit", "better", "kind", "primary", "workload", "devices")
    return {"tool": one.source.tool, **_there({name: getattr(one, name) for name in kept})}


def _effect(one: Effect) -> dict[str, Any]:
    sides = {name: asdict(side) for name in ("before", "after") if (side := getattr(one, name))}
    return _there(asdict(one) | {"before": sides.get("before"), "after": sides.get("after")})


def _causes(measured: Measured, effect: Effect, causes: Causes | None) -> dict[str, Any]:
    if causes is None or effect.verdict not in MOVED:
        return {}
    return {"causes": [*causes(measured.kind, effect.verdict)] if measured.kind else []}


def _there(table: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if value is not None}
