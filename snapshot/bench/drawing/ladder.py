"""A metric over a parameter of the workload, such as concurrency or size; a line a snapshot, with its spread."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ...records import record
from ...sections.bench import Better, Measurement
from ..comparing.comparison import Comparison, Effect, Ladder
from ..comparing.ladders import ladders
from . import series
from .axes import Frame, Scale, letters, upright
from .canvas import Canvas
from .labels import shortened, workloads
from .numbers import change, parameter, spread

Sides = Sequence[tuple[str, Mapping[str, Measurement]]]  # what to call a snapshot, and its measurements
WIDTH, HEIGHT, LEFT, RIGHT, TOP, FOOT = 760.0, 340.0, 74.0, 24.0, 68.0, 66.0

INK, KEY = 7.2, 52.0  # width of a letter, and of line and mark before a name
ROW = 6  # names of a legend that has rows of its own


@record(frozen=True, kw_only=True)
class Curve:
    """One metric over PARAMETER: of each side, the parameter's value -> samples."""

    tool: str
    metric: str
    unit: str
    better: Better
    primary: bool
    parameter: str
    workload: Mapping[str, str]  # the rest of it
    sides: Sequence[tuple[str, Mapping[float, Sequence[float]]]]

    @property
    def steps(self) -> list[float]:
        """The values of the parameter, rising."""
        return sorted({step for _, points in self.sides for step in points})


def curves(sides: Sides) -> list[Curve]:
    """Every ladder that the sides have together, as ``comparing`` tells them; the primary metrics first."""
    every = {name: one for _, measurements in sides for name, one in measurements.items()}
    drawn = Effect(verdict="same", why="drawn, not judged")
    asked = (Comparison(id=name, measured=one, before=None, after=one, effect=drawn) for name, one in every.items())
    return sorted((_curve(found, sides) for found in ladders(asked)), key=lambda curve: not curve.primary)


def _curve(found: Ladder, sides: Sides) -> Curve:
    one = found.steps[0][1].measured
    points = [(label, {step: there[judged.id].samples for step, judged in found.steps
                       if judged.id in there and there[judged.id].unit == found.unit}) for label, there in sides]
    return Curve(tool=one.source.tool, metric=one.metric, unit=one.unit, better=one.better, primary=bool(one.primary),
                 parameter=found.parameter, workload=found.workload, sides=points)


def draw(found: Sequence[Curve], title: str) -> str:
    """An SVG with the curves below each other."""
    words = "; ".join(f"{curve.metric} over {curve.parameter}" for curve in found)
    canvas = series.sheet(WIDTH, LEFT, title, words)
    for curve, rest in zip(found, workloads([curve.workload for curve in found], 104), strict=True):
        _panel(canvas, curve, rest)
    return canvas.svg()


def _panel(canvas: Canvas, curve: Curve, workload: str) -> None:
    _head(canvas, curve)
    top = canvas.height
    frame = Frame(LEFT, WIDTH - RIGHT, top + TOP, top + HEIGHT - FOOT)
    canvas.height += HEIGHT
    canvas.text(LEFT, top + 34, workload, "small")
    values = [one for _, points in curve.sides for samples in points.values() for one in (spread(samples) or ())]
    if not values:
        canvas.text(LEFT, frame.top + 20, "no run gave a value", "faint")
        return
    level, scale = _level(curve.steps, frame), upright(values, frame.bottom, frame.top)
    frame.draw(canvas, scale, f"{curve.unit}, {curve.better} is better")
    places = [(level(step), parameter(curve.parameter, step)) for step in curve.steps]
    frame.feet(canvas, places, letters)
    name = curve.parameter.replace("_", " ").removesuffix(" bytes")
    note = ", logarithmic" if level.logarithmic else ""
    canvas.text((frame.left + frame.right) / 2, frame.bottom + 54, f"{name}{note}", "small", "middle")
    for at, (_, points) in enumerate(curve.sides):
        step = min(5.0, 24 / len(curve.sides))  # whiskers of two sides stand beside each other
        aside = step * (at - (len(curve.sides) - 1) / 2)
        series.draw(canvas, at, [(level(step), spread(points[step])) for step in sorted(points)], scale, aside)
    _changes(canvas, curve, level, frame)


def _head(canvas: Canvas, curve: Curve) -> None:
    """What is drawn, and the legend beside it, or in rows below where it is long."""
    head, names = shortened(f"{curve.tool} {curve.metric}", 48), [name for name, _ in curve.sides]
    canvas.text(LEFT, canvas.height + 18, head, "ink")
    start = LEFT + letters(head, INK) + 20
    if len(names) * (KEY + 5 * INK) <= WIDTH - RIGHT - start:
        _legend(canvas, start, names, 0)
        return
    for first in range(0, len(names), ROW):
        canvas.height += 18
        _legend(canvas, LEFT, names[first:first + ROW], first)


def _level(steps: Sequence[float], frame: Frame) -> Scale:
    """The scale of the parameter: logarithmic where its values double rather than step."""
    logarithmic = steps[0] > 0 and steps[-1] / steps[0] >= 8
    return Scale(steps[0], steps[-1], frame.left + 24, frame.right - 24, logarithmic)


def _changes(canvas: Canvas, curve: Curve, level: Scale, frame: Frame) -> None:
    """Below each step the last side against the first: on a logarithmic axis a tenth is hard to see."""
    if len(curve.sides) < 2:
        return
    canvas.text(frame.left - 8, frame.bottom + 34, "change", "small", "end")
    free = -math.inf
    for step in curve.steps:
        old, new = (spread(points.get(step, ())) for points in (curve.sides[0][1], curve.sides[-1][1]))
        words, x = change(old[1], new[1]) if old and new else "", level(step)
        if words and x - letters(words) / 2 > free:
            canvas.text(x, frame.bottom + 34, words, "small", "middle")
            free = x + letters(words) / 2 + 4


def _legend(canvas: Canvas, start: float, names: Sequence[str], first: int) -> None:
    """Mark, line and name of each side from FIRST on, right of START, names no longer than there is room for."""
    words = [shortened(name, int(((WIDTH - RIGHT - start) / len(names) - KEY) / INK)) for name in names]
    x, y = WIDTH - RIGHT + 14 - sum(letters(word, INK) + KEY for word in words), canvas.height + 18
    for at, word in enumerate(words, first):
        canvas.path([(x, y - 4), (x + 30, y - 4)], at)
        canvas.mark(x + 15, y - 4, at)
        canvas.text(x + 38, y, word, "ink")
        x += letters(word, INK) + KEY
