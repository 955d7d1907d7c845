"""A table between devices for a terminal: compact, with those cells marked that changed.

Each line is plain text, whatever devices are called: who prints it has to show control characters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from .heatmap import Heat
from .numbers import short

Cell = tuple[str, str]
LOWER, HIGHER, SAME = "-", "+", " "  # behind a number, where no sign can stand
LONG = 16


def lines(heat: Heat, at: int = -1, width: int = 80, marks: Mapping[Cell, str] | None = None) -> Iterator[str]:
    """The panel AT, numbers behind which - is lower and + is higher than the panel before, in at most WIDTH columns.

    MARKS are characters to set instead. Columns are numbered, and names stand at the rows, where they have room;
    a table that is too wide goes on below.
    """
    at %= len(heat.panels)
    number = {name: str(place) for place, name in enumerate(dict.fromkeys((*heat.rows, *heat.columns)), 1)}
    names = {row: f"{number[row]:>2} {row[:LONG]}" for row in heat.rows}
    side = max(map(len, names.values()), default=0)
    found = {(row, column): _cell(heat, at, (row, column), marks) for row in heat.rows for column in heat.columns}
    room = max(map(len, found.values()), default=0) + 1
    block = max((width - side) // room, 1)
    for first in range(0, len(heat.columns), block):
        columns = heat.columns[first:first + block]
        yield (" " * side + "".join(f"{number[column]:>{room - 1}} " for column in columns)).rstrip()
        for row in heat.rows:
            yield (f"{names[row]:<{side}}" + "".join(f"{found[row, column]:>{room}}" for column in columns)).rstrip()
    only = [f"{number[column]} is {column}" for column in heat.columns if column not in heat.rows]
    if only:
        yield "columns: " + ", ".join(only)


def _cell(heat: Heat, at: int, cell: Cell, marks: Mapping[Cell, str] | None) -> str:
    value = heat.panels[at][1].get(cell, math.nan)
    if not math.isfinite(value):
        return "." + SAME
    changed = {1: HIGHER, -1: LOWER, 0: SAME}[heat.changed(at, cell)]
    return short(value, 3, even=True) + (changed if marks is None else marks.get(cell, SAME))
