"""Tables GPU by GPU: heads, cells without a value, rows that are cut off or do not fit."""

from __future__ import annotations

import math

import pytest

from snapshot.bench.importers.matrix import cell, is_head, read_matrix
from snapshot.bench.report import ReportError

TABLE = """\
   D\\D     0      1
     0 1488.10  44.10
     1\t  N/A 1500.00
rest"""


def test_a_table() -> None:
    matrix, after = read_matrix(TABLE.splitlines(), 0, "r")
    assert after == 3
    assert matrix.columns == 2
    assert matrix.rows[0] == [1488.10, 44.10]
    assert math.isnan(matrix.rows[1][0])
    square = matrix.square()
    assert square[0][1] == 44.10
    assert all(math.isnan(square[at][at]) for at in (0, 1))


@pytest.mark.parametrize(("line", "is_one"), [
    ("   D\\D     0      1", True), ("           0         1", True), ("   GPU     0 ", True), (" 0", True),
    ("   CPU     0      2", False), ("     0 1488.10", False), ("", False), ("x 0 1", False), ("     1     2", False),
])
def test_heads_number_columns_from_0(line: str, is_one: bool) -> None:
    assert is_head(line) is is_one


def test_a_report_may_end_in_a_row_but_not_go_on_after_a_short_one() -> None:
    lines = ["  0  1", " 0 1.0 2.0", " 1 3.0"]
    matrix, _ = read_matrix(lines, 0, "r")
    assert (len(matrix.rows), matrix.cut) == (1, "the report ends in row 1")
    assert [[math.isnan(one) for one in row] for row in matrix.square()] == [[True, False], [True, True]]
    with pytest.raises(ReportError, match=r"^r:3: 1 cells below 2 columns$"):
        read_matrix([*lines, "more"], 0, "r")


@pytest.mark.parametrize("text", ["CANNOT", "N/A", "-", "nan"])
def test_cells_without_a_value(text: str) -> None:
    assert math.isnan(cell(text, "r"))


@pytest.mark.parametrize("text", ["x", "inf", "1_0", ""])
def test_cells_that_are_no_numbers(text: str) -> None:
    with pytest.raises(ReportError, match=r"^r:4: no number"):
        cell(text, "r", 4)
