"""A table between devices as coloured cells, a panel a snapshot: all on one scale, those cells marked that changed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ...records import record
from ...sections.bench import Better, Grid
from .axes import letters
from .canvas import Canvas, on, shade
from .labels import shortened, workloads
from .numbers import short, spread

Cells = Mapping[tuple[str, str], float]
CELL, GAP, HEAD, BAR = (54.0, 30.0), 40.0, 96.0, 46.0
NARROW = 8  # characters over a column
BESIDE = 10  # columns of two panels that stand beside each other; wider ones stand below each other


@record(frozen=True, kw_only=True)
class Heat:
    """Tables of one metric, a snapshot each."""

    tool: str
    metric: str
    unit: str
    better: Better
    primary: bool
    workload: Mapping[str, str]
    rows: Sequence[str]
    columns: Sequence[str]
    panels: Sequence[tuple[str, Cells]]  # what to call a snapshot, and the median of each cell's runs

    def changed(self, at: int, cell: tuple[str, str], minimum: float = 2.0) -> int:
        """1 or -1 where a cell of panel AT is MINIMUM percent or more higher or lower than before it, else 0."""
        old = self.panels[at - 1][1].get(cell, math.nan) if at else math.nan
        new = self.panels[at][1].get(cell, math.nan)
        if not (math.isfinite(old) and math.isfinite(new)) or abs(new - old) * 100 < minimum * abs(old) or new == old:
            return 0
        return 1 if new > old else -1


def heats(sides: Sequence[tuple[str, Mapping[str, Grid]]]) -> list[Heat]:
    """One a measurement that a snapshot has, by its id."""
    names = sorted({name for _, grids in sides for name in grids})
    return [_heat([(label, grids[name]) for label, grids in sides if name in grids]) for name in names]


def _heat(found: Sequence[tuple[str, Grid]]) -> Heat:
    one = found[-1][1]
    rows, columns = ([*dict.fromkeys(key for _, grid in found for key in getattr(grid, axis))]
                     for axis in ("rows", "columns"))
    panels = [(label, medians(grid)) for label, grid in found]
    return Heat(tool=one.source.tool, metric=one.metric, unit=one.unit, better=one.better,
                primary=bool(one.primary), workload=one.workload, rows=rows, columns=columns, panels=panels)


def medians(grid: Grid) -> dict[tuple[str, str], float]:
    """(row, column) -> the middle of its runs; a cell without a value is left out."""
    found = {cell: spread(values) for cell, values in grid.cells().items()}
    return {cell: three[1] for cell, three in found.items() if three}


def draw(found: Sequence[Heat], title: str) -> str:
    """An SVG with the tables below each other."""
    words = "; ".join(f"{heat.metric} ({heat.unit})" for heat in found)
    canvas = Canvas(max(map(_width, found)), title, f"{words}, from the device of a row to that of a column.")
    canvas.text(20, 26, shortened(title, int(canvas.width / 9)), "head")
    canvas.height = 36.0
    room = int(canvas.width / 7)
    for heat, rest in zip(found, workloads([heat.workload for heat in found], room), strict=True):
        _figure(canvas, heat, rest)
    canvas.height += 8
    return canvas.svg()


def _side(heat: Heat) -> float:
    """How wide the names of rows are."""
    return max((letters(_name(row)) for row in heat.rows), default=0.0) + 10


def _name(device: str) -> str:
    """A device in few characters: an address without domain 0000 and function 0."""
    return shortened(device.removeprefix("0000:").removesuffix(".0") if ":" in device else device, 16)


def _short_name(device: str) -> str:
    """A device in the width of a column: an address of another domain without device 00 too."""
    name = _name(device)
    return shortened(name if len(name) <= NARROW else name.removesuffix(":00"), NARROW)


def _panel_width(heat: Heat) -> float:
    return _side(heat) + CELL[0] * len(heat.columns)


def _width(heat: Heat) -> float:
    beside = len(heat.panels) if len(heat.columns) <= BESIDE else 1
    return max(40 + beside * _panel_width(heat) + (beside - 1) * GAP, 520.0)


def _figure(canvas: Canvas, heat: Heat, workload: str) -> None:
    top = canvas.height
    canvas.text(20, top + 18, shortened(f"{heat.tool} {heat.metric}, {heat.unit}, {heat.better} is better",
                                        int(canvas.width / 7)), "ink")
    canvas.text(20, top + 34, workload, "small")
    ends = _ends([value for _, cells in heat.panels for value in cells.values() if math.isfinite(value)])
    tall = HEAD - 36 + CELL[1] * len(heat.rows)
    x, y = 20.0, top + 44
    for at, (label, _) in enumerate(heat.panels):
        _panel(canvas, heat, at, label, ends, (x, y))
        if len(heat.columns) <= BESIDE:
            x += _panel_width(heat) + GAP
        elif at + 1 < len(heat.panels):
            y += tall + 12
    canvas.height = y + tall
    _scale(canvas, heat, ends)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """The values of the first and the last colour: a fifth apart at least, so that noise does not shine."""
    low, high = (min(values), max(values)) if values else (0.0, 0.0)
    more = max(0.2 * abs(high) - (high - low), 0.0) / 2
    return low - more, high + more


def _panel(
    canvas: Canvas, heat: Heat, at: int, label: str, ends: tuple[float, float], corner: tuple[float, float]
) -> None:
    left, top = corner[0] + _side(heat), corner[1] + 56
    canvas.text(left, corner[1] + 18, shortened(label, 40), "ink")
    for column, name in enumerate(heat.columns):
        canvas.text(left + CELL[0] * (column + 0.5), top - 8, _short_name(name), "small", "middle")
    for row, name in enumerate(heat.rows):
        canvas.text(left - 8, top + CELL[1] * (row + 0.5) + 4, _name(name), "small", "end")
        for column, other in enumerate(heat.columns):
            place = left + CELL[0] * column, top + CELL[1] * row
            _cell(canvas, heat, at, (name, other), ends, place)


def _cell(
    canvas: Canvas, heat: Heat, at: int, cell: tuple[str, str], ends: tuple[float, float], place: tuple[float, float]
) -> None:
    value = heat.panels[at][1].get(cell, math.nan)
    (x, y), (low, high), changed = place, ends, heat.changed(at, cell)
    words = f"{cell[0]} to {cell[1]}: {short(value)} {heat.unit}"
    if not math.isfinite(value):
        canvas.cell(x, y, CELL, None, "none", f"{cell[0]} to {cell[1]}: no value")
        canvas.text(x + CELL[0] / 2, y + CELL[1] / 2 + 4, "–", "faint", "middle")
        return
    color = shade((value - low) / (high - low) if high > low else 0.5)
    if changed:
        canvas.cell(x + 2, y + 2, (CELL[0] - 4, CELL[1] - 4), color, "changed", words)
    else:
        canvas.cell(x, y, CELL, color, "cell", words)
    number = {1: "▲", -1: "▼", 0: ""}[changed] + short(value, 3, even=True)
    canvas.text(x + CELL[0] / 2, y + CELL[1] / 2 + 4, number, f"number {on(color)}", "middle")


def _scale(canvas: Canvas, heat: Heat, ends: tuple[float, float]) -> None:
    """The colours with the values of their ends, and what a frame means."""
    y, width = canvas.height + 14, 120.0
    canvas.text(20, y + 10, short(ends[0], 3), "small")
    x = 20 + letters(short(ends[0], 3)) + 8
    for at in range(12):
        canvas.cell(x + at * width / 12, y, (width / 12 + 0.5, 12), shade(at / 11), "bar", "")
    canvas.text(x + width + 8, y + 10, f"{short(ends[1], 3)} {heat.unit}", "small")
    if len(heat.panels) > 1:
        after = x + width + letters(f"{short(ends[1], 3)} {heat.unit}") + 32
        canvas.text(after, y + 10, "framed: ▲ higher, ▼ lower by 2 % or more", "small")
    canvas.height += BAR
