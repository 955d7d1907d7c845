"""The values of one snapshot, or of one metric over snapshots: a line, marks, and the spread of the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .axes import Scale
from .canvas import Canvas
from .labels import shortened

Three = tuple[float, float, float]  # lowest, middle and highest run
Point = tuple[float, Three | None]  # place on the level axis; None where no run gave a value


def draw(canvas: Canvas, number: int, points: Sequence[Point], scale: Scale, aside: float = 0.0) -> None:
    """The POINTS as series NUMBER, in their order; whiskers stand ASIDE of the marks."""
    for run in _unbroken(points):
        canvas.path([(x, scale(middle)) for x, (_, middle, _) in run], number)
        for x, (low, middle, high) in run:
            if high > low:
                canvas.whisker(x + aside, scale(low), scale(high), number)
            canvas.mark(x, scale(middle), number)


def _unbroken(points: Sequence[Point]) -> Iterator[list[tuple[float, Three]]]:
    """Neighbours that have values: no line leads over one that has none."""
    run: list[tuple[float, Three]] = []
    for x, found in points:
        if found:
            run.append((x, found))
        else:
            yield run
            run = []
    yield run


def sheet(width: float, left: float, title: str, said: str) -> Canvas:
    """A picture of what SAID lists, with its title, on which panels come below each other."""
    canvas = Canvas(width, title, f"{said}. Points are medians, whiskers reach from the lowest to the highest run.")
    canvas.text(left, 26, shortened(title, 88), "head")
    canvas.height = 34.0
    return canvas
