"""Tables with a header, separated by comma, semicolon or tab, of no particular tool: one line is what one run gave.

RFC 4180. Columns: ``name`` (or metric, benchmark), ``value`` (or result), ``unit``, and ``better`` (higher or lower),
which units of time and rates do without. Every other column is part of the workload, but for those that tell hosts,
users and times.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from ..report import Report, Value, bad, few
from .entries import words
from .rows import value

NAMES = ("name", "metric", "benchmark")
VALUES = ("value", "result")
UNITS = ("unit", "units")
BETTER = ("better", "direction")
DROPPED = ("host", "hostname", "node", "user", "username", "timestamp", "time", "date", "datetime", "path", "comment")


def recognises(text: str) -> bool:
    """Whether the first line names the columns."""
    header = _cells(_first(text), _separator(_first(text)))
    return any(name in header for name in NAMES) and any(name in header for name in VALUES)


def read(text: str, file: str) -> Report:
    """A value a line.

    ReportError when a column is missing, a line has too few or too many, a value is none, or they are too many.
    """
    separator = _separator(_first(text))
    header = _cells(_first(text), separator)
    for names in (NAMES, VALUES):
        if not any(name in header for name in names):
            bad(file, f"no column {names[0]}: {', '.join(header)!r:.60}", 1)
    if len({*header}) < len(header):
        bad(file, "two columns of one name", 1)
    values = few(_values(text, header, separator, file), file)
    return Report(tool="csv", format="csv", values=values) if values else bad(file, "no line below the header", 1)


def _first(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def _separator(line: str) -> str:
    return max(",;\t", key=line.count)


def _cells(line: str, separator: str) -> list[str]:
    """The names of columns, in lower case."""
    try:
        return [cell.strip().lower() for cell in next(csv.reader([line], delimiter=separator), [])]
    except csv.Error:
        return []


def _values(text: str, header: Sequence[str], separator: str, file: str) -> Iterator[Value]:
    reader = csv.reader(text.splitlines(keepends=True), delimiter=separator)
    seen = False
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if seen:
                yield _value(cells, header, file, reader.line_num)
            seen = True
    except csv.Error as error:
        bad(file, f"no CSV: {error}", reader.line_num)


def _value(cells: Sequence[str], header: Sequence[str], file: str, line: int) -> Value:
    if len(cells) != len(header):
        bad(file, f"{len(cells)} cells below {len(header)} columns", line)
    row = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
    name, printed, unit, better = (next((row[key] for key in keys if key in row), "")
                                   for keys in (NAMES, VALUES, UNITS, BETTER))
    used = {next((key for key in keys if key in row), "") for keys in (NAMES, VALUES, UNITS, BETTER)}
    if not name:
        bad(file, "a line without a name", line)
    workload = words({key: cell for key, cell in row.items() if key and key not in (*used, *DROPPED)})
    return value(name, printed, unit, better, workload, file, line)
