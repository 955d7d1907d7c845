"""Verdicts that need no numbers: what only one side has, cannot be compared, or gave no value."""

from __future__ import annotations

from collections.abc import Iterable

from ...sections.bench import Grid, Measured, Measurement
from .comparison import Effect, Verdict
from .effects import spread
from .matching import M, Match

NEAREST, FARTHEST = 1e-75, 1e75  # from 0: ratios of such values, and the squares of these, are numbers too


def samples(measured: Measured | None) -> list[float]:
    """The values of a measurement, one a run; of a table every cell of every run. What is no number is left out."""
    if isinstance(measured, Measurement):
        return finite(measured.samples)
    return finite(v for t in measured.samples for row in t for v in row) if isinstance(measured, Grid) else []


def finite(values: Iterable[float]) -> list[float]:
    """The values without nan and infinity, which are what a run that measured nothing leaves, and what is as absurd."""
    return [value for value in values if value == 0 or NEAREST < abs(value) < FARTHEST]


def unjudged(match: Match[M]) -> Effect | None:
    """The verdict, if no numbers are needed for it."""
    before, after = samples(match.before), samples(match.after)
    if match.why:
        return _effect("not-comparable", match.why, before, after)
    if match.after is None:
        return _effect("vanished", "measured before, and not after", before, after)
    if match.before is None:
        return _effect("added", "not measured before", before, after)
    if not after and before:
        return _effect("failed", f"no value after: {_reason(match.after)}", before, after)
    if not after:
        return _effect("not-comparable", f"no value before or after: {_reason(match.after)}", before, after)
    return None if before else _effect("added", f"no value before: {_reason(match.before)}", before, after)


def _reason(measured: Measured) -> str:
    said = measured.status if measured.status != "ok" else "no number among the samples"
    return f"{said}, {measured.why}" if measured.why else said


def _effect(verdict: Verdict, why: str, before: list[float], after: list[float]) -> Effect:
    return Effect(verdict=verdict, why=why, before=spread(before), after=spread(after))
