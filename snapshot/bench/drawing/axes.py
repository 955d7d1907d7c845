"""From values to places on a picture: scales, and a frame with ticks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from ...records import record
from .canvas import Canvas
from .numbers import log_ticks, short, ticks

WIDE = 20  # times: values that differ by more are drawn on a logarithmic axis


@record(frozen=True)
class Scale:
    """Places of values from LOW to HIGH between START and END, in pixels."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The place of VALUE."""
        low, high, at = (math.log(one) if self.logarithmic else one for one in (self.low, self.high, value))
        share = (at - low) / (high - low) if high > low else 0.5
        return self.start + (self.end - self.start) * share

    def ticks(self) -> list[float]:
        """Round values to mark."""
        return log_ticks(self.low, self.high) if self.logarithmic else ticks(self.low, self.high)


def upright(values: Iterable[float], bottom: float, top: float) -> Scale:
    """A scale for finite VALUES: from 0 where that shows their differences, logarithmic where they span a lot.

    It shows a fifth of the highest at least, so that noise does not look like mountains.
    """
    found = [*values]
    low, high = min(found), max(found)
    if low > 0 and high / low > WIDE:
        return Scale(low / 1.2, high * 1.2, bottom, top, logarithmic=True)
    if low >= 0 and low < 0.7 * high:
        return Scale(0.0, high * 1.05, bottom, top)
    room = max((high - low) * 0.15, (0.2 * abs(high) - (high - low)) / 2) or 1.0
    return Scale(low - room, high + room, bottom, top)


@record(frozen=True)
class Frame:
    """The part of a picture where values are drawn."""

    left: float
    right: float
    top: float
    bottom: float

    def draw(self, canvas: Canvas, scale: Scale, title: str) -> None:
        """Rules and numbers of the upright axis, its TITLE above it."""
        canvas.text(self.left, self.top - 10, title + (", logarithmic" if scale.logarithmic else ""), "small")
        for value in scale.ticks():
            canvas.line((self.left, scale(value)), (self.right, scale(value)), "rule")
            canvas.text(self.left - 8, scale(value) + 4, short(value), "small", "end")
        canvas.line((self.left, self.bottom), (self.right, self.bottom), "axis")

    def feet(self, canvas: Canvas, places: Sequence[tuple[float, str]], width: Callable[[str], float]) -> None:
        """The texts of the level axis, those left out that would run into the one before."""
        free = -math.inf
        for x, text in places:
            canvas.line((x, self.bottom), (x, self.bottom + 4), "axis")
            if x - width(text) / 2 > free:
                canvas.text(x, self.bottom + 18, text, "small", "middle")
                free = x + width(text) / 2 + 4


def letters(text: str, each: float = 6.2) -> float:
    """About how wide small text is, or one with letters of EACH width."""
    return each * len(text)
