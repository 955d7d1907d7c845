"""Tables with a line of column numbers above and a number before each row, as tests of NVIDIA print them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...records import record
from ...regexes import regex
from ..report import bad
from .printed import finite, last_line

NO_VALUE = ("N/A", "CANNOT", "-", "nan")
_HEAD = regex(r"\s*(?:D\\D|GPU|CPU)?(?:\s+\d+)+\s*")
_ROW = regex(r"\s*(\d{1,6})\s+\S")


@record(frozen=True, kw_only=True)
class Matrix:
    """Cells by row, nan where there is no value; CUT is where the report ends in the middle of it."""

    columns: int
    rows: Sequence[Sequence[float]]
    cut: str | None = None

    def square(self) -> list[list[float]]:
        """Its cells without those of a device and itself, and with the rows that the report does not reach."""
        missing = [[math.nan] * self.columns] * (self.columns - len(self.rows))
        return [[math.nan if y == x else one for x, one in enumerate(row)]
                for y, row in enumerate([*self.rows, *missing])]


def is_head(line: str) -> bool:
    """Whether LINE numbers the columns of a table, from 0 on."""
    numbers = [word for word in line.split() if word.isdigit()]
    return bool(_HEAD.fullmatch(line)) and numbers == [str(at) for at in range(len(numbers))]


def read_matrix(lines: Sequence[str], at: int, file: str) -> tuple[Matrix, int]:
    """The table whose head is line AT of LINES, and the line after it. ReportError for a row that does not fit."""
    columns, rows = sum(word.isdigit() for word in lines[at].split()), list[list[float]]()
    at += 1
    while at < len(lines) and (found := _ROW.match(lines[at])) and int(found[1]) == len(rows):
        words = lines[at].split()[1:]
        if len(words) != columns:
            if at < last_line(lines):
                bad(file, f"{len(words)} cells below {columns} columns", at + 1)
            return Matrix(columns=columns, rows=rows, cut=f"the report ends in row {len(rows)}"), len(lines)
        rows.append([cell(text, file, at + 1) for text in words])
        at += 1
    return Matrix(columns=columns, rows=rows), at


def cell(text: str, file: str, line: int | None = None) -> float:
    """A cell, nan when it has no value. ReportError for anything but a number."""
    if text in NO_VALUE:
        return math.nan
    found = finite(text)
    return bad(file, f"no number: {text!r:.40}", line) if found is None else found
