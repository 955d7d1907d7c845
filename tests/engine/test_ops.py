"""The operators, by what they answer: true, false, or None where they cannot judge."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.diff.change import MISSING
from snapshot.engine.ops import OPERATORS

NAN = float("nan")
TRUTH: list[tuple[Any, str, Any, bool | None]] = [
    (1, "exists", None, True), (MISSING, "exists", None, False), (MISSING, "absent", None, True),
    (0, "absent", None, False),
    (1, "equal", 1, True), (1, "equal", True, False), (1, "equal", "1", False), (1, "equal", 1.0, False),
    (MISSING, "equal", 1, False), (MISSING, "equal", MISSING, True), (1, "not-equal", 2, True),
    (1, "not-equal", 1, False),
    (1, "in", [1, 2], True), (True, "in", [1, 2], False), (3, "in", [1], False), (MISSING, "in", [1], False),
    (1, "in", 1, None), (1, "not-in", [2], True), (1, "not-in", 2, None),
    ([1, 2], "contains", 2, True), ([1, 2], "contains", True, False), ("abc", "contains", "b", True),
    ("abc", "contains", 1, None), (MISSING, "contains", 1, False), (5, "contains", 1, None),
    ("pcie_bus_perf", "matches", "^pcie", True), (["a", "xpcie"], "matches", "^pcie", False),
    ([True, "b"], "matches", "b", True),
    (MISSING, "matches", "x", False), (1, "matches", "x", None), ("x", "matches", 1, None),
    ("x", "not-matches", "y", True), ("x", "not-matches", "x", False), (MISSING, "not-matches", "x", True),
    (1, "not-matches", "x", None),
    (2, "gt", 1, True), (1, "gt", 1, False), (1, "ge", 1, True), (1, "ge", 2, False), (1, "lt", 2, True),
    (2, "le", 1, False),
    (1, "ge", 0.5, True), ("b", "gt", "a", True),
    (1, "ge", "0", None), (True, "ge", 0, None), (NAN, "ge", 1, None), (1, "ge", NAN, None),
    (MISSING, "ge", 1, None), (1, "ge", MISSING, None),
    ([1], "ge", [0], None), (1, "not-in", [1], False), (2, "lt", 1, False), (1, "le", 1, True),
]


@pytest.mark.parametrize(("left", "op", "right", "answer"), TRUTH)
def test_answer(left: Any, op: str, right: Any, answer: bool | None) -> None:
    assert OPERATORS[op](left, right) is answer


def test_every_operator_is_tried_and_can_say_yes_and_no() -> None:
    for op in OPERATORS:
        assert {True, False} <= {answer for _, name, _, answer in TRUTH if name == op}, op
