"""A metric over the snapshots of a host, from the oldest to the newest, and what changed between them.

Snapshots stand evenly, however far apart in time they are: what matters is which change a step goes with. A change is
a dashed line before the first snapshot that has it, with a number that is explained below.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from ...records import record
from ...sections.bench import Better
from . import series
from .axes import Frame, Scale, letters, upright
from .canvas import Canvas
from .labels import shortened, workloads
from .numbers import spread

WIDTH, LEFT, RIGHT, TOP, PLOT = 760.0, 74.0, 24.0, 68.0, 220.0
LETTERS = 104  # of small text in the width of a picture


@record(frozen=True, kw_only=True)
class Moment:
    """One snapshot: what to call it, its samples, and what changed since the one before."""

    name: str
    samples: Sequence[float]
    changes: Sequence[str] = ()


@record(frozen=True, kw_only=True)
class History:
    """One measurement over time."""

    tool: str
    metric: str
    unit: str
    better: Better
    primary: bool
    workload: Mapping[str, str]
    moments: Sequence[Moment]


def draw(found: Sequence[History], title: str) -> str:
    """An SVG with the histories below each other."""
    said = "; ".join(f"{one.metric} in {len(one.moments)} snapshots" for one in found)
    canvas = series.sheet(WIDTH, LEFT, title, said)
    for history, rest in zip(found, workloads([history.workload for history in found], LETTERS), strict=True):
        _panel(canvas, history, rest)
    return canvas.svg()


def _panel(canvas: Canvas, history: History, workload: str) -> None:
    top = canvas.height
    canvas.text(LEFT, top + 18, shortened(f"{history.tool} {history.metric}", 88), "ink")
    canvas.text(LEFT, top + 34, workload, "small")
    frame = Frame(LEFT, WIDTH - RIGHT, top + TOP, top + TOP + PLOT)
    values = [one for moment in history.moments for one in (spread(moment.samples) or ())]
    level = Scale(0, max(len(history.moments) - 1, 1), frame.left + 30, frame.right - 30)
    if values:
        scale = upright(values, frame.bottom, frame.top)
        frame.draw(canvas, scale, f"{history.unit}, {history.better} is better")
        series.draw(canvas, 1, [(level(at), spread(one.samples)) for at, one in enumerate(history.moments)], scale)
    for at, moment in enumerate(history.moments):
        if not spread(moment.samples):
            canvas.text(level(at), frame.bottom - 6, "no value", "small", "middle")
    canvas.height = frame.bottom + _names(canvas, history.moments, level, frame)
    _changes(canvas, history.moments, level, frame)


def _names(canvas: Canvas, moments: Sequence[Moment], level: Scale, frame: Frame) -> float:
    """The names of the snapshots below the axis, aslant where they are many or long; how high they are."""
    names = [shortened(moment.name, 24) for moment in moments]
    room = level(1) - level(0)
    slant = any(letters(name) > room - 6 for name in names)
    free = -1.0
    for at, name in enumerate(names):
        x = level(at)
        canvas.line((x, frame.bottom), (x, frame.bottom + 4), "axis")
        if slant and x >= free:
            canvas.text(x + 4, frame.bottom + 16, name, "small", "end", -40)
            free = x + 14
        elif not slant:
            canvas.text(x, frame.bottom + 18, name, "small", "middle")
    return 22 + (max(map(letters, names)) * 0.65 if slant else 6.0)


def _changes(canvas: Canvas, moments: Sequence[Moment], level: Scale, frame: Frame) -> None:
    """A numbered line between two snapshots for what changed, and the words to each number."""
    number = 0
    for at, moment in enumerate(moments):
        if not moment.changes:
            continue
        number += 1
        x = (level(at - 1) + level(at)) / 2 if at else level(at) - 15
        canvas.line((x, frame.top), (x, frame.bottom), "change")
        canvas.text(x + 5, frame.bottom - 6, str(number))
        words = f"{number}  before {moment.name}: {'; '.join(moment.changes)}"
        for line in textwrap.wrap(words, LETTERS, subsequent_indent="    "):
            canvas.height += 16
            canvas.text(LEFT, canvas.height, line, "small")
    canvas.height += 20
