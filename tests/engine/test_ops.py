"""The operators, by what they answer: true, false, or None where they cannot judge."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.diff.change import MISSING
from snapshot.engine.ops import OPERATORS, Sense, slack

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
    (MISSING, "matches", "x", False), (1, "matches", "x", None), ("x", "matches", 1, None), ("x", "matches", "(", None),
    ("x", "not-matches", "y", True), ("x", "not-matches", "x", False), (MISSING, "not-matches", "x", True),
    (1, "not-matches", "x", None),
    (2, "gt", 1, True), (1, "gt", 1, False), (1, "ge", 1, True), (1, "ge", 2, False), (1, "lt", 2, True),
    (2, "le", 1, False),
    (1, "ge", 0.5, True), ("b", "gt", "a", True),
    (1, "ge", "0", None), (True, "ge", 0, None), (NAN, "ge", 1, None), (1, "ge", NAN, None),
    (MISSING, "ge", 1, None), (1, "ge", MISSING, None),
    ([1], "ge", [0], None), (1, "not-in", [1], False), (2, "lt", 1, False), (1, "le", 1, True),
    (1, "unchanged", 1, True), (1, "unchanged", 2, False), (1, "unchanged", MISSING, False), (1, "changed", 2, True),
    (MISSING, "changed", MISSING, False), (NAN, "unchanged", NAN, True),
    ([1], "not-contains", 2, True), ([1], "not-contains", 1, False), ({"a": 1}, "contains", "a", True),
    ({"a": 1}, "contains", 1, None), ({"abc": 1}, "matches", "b", True),
    ([1], "subset", [1, 2], True), ([3], "subset", [1, 2], False), (MISSING, "subset", [1], True),
    ([True], "subset", [1], False), (1, "subset", [1], None), ([1, 2], "superset", [1], True),
    ([1], "superset", [1, 2], False), ({"a": 1}, "superset", ["a"], True), (MISSING, "superset", ["a"], False),
    (5, "within", [1, 9], True), (0, "within", [1, 9], False), (5, "within", [1], None), ("a", "within", [1, 9], None),
    (5, "within", 5, True), (5, "within", 6, False), (NAN, "within", [1, 9], None),
    ([1, 2], "count", 2, True), ({"a": 1}, "count", [2, 3], False), (MISSING, "count", 0, True), (1, "count", 1, None),
    ([1], "count", "1", None),
    ([1, 1], "all-same", None, True), ([1, True], "all-same", None, False), ([], "all-same", None, True),
    (1, "all-same", None, None), ([1, 2], "unique", None, True), ([1, 1], "unique", None, False),
    (1, "unique", None, None), ([1, 1, 2], "monotone", None, True), ([2, 1], "monotone", None, False),
    (["a"], "monotone", None, None), ([NAN], "monotone", None, None), ([], "monotone", None, True),
    ({"a": 1}, "not-removed", {"a": 2}, True), ({}, "not-removed", {"a": 2}, False),
    (MISSING, "not-removed", 1, False), (MISSING, "not-removed", MISSING, True), (1, "not-removed", MISSING, True),
    (MISSING, "not-removed", ["a"], False), (["a", "b"], "not-added", ["a"], False), (["a"], "not-added", ["a"], True),
    (1, "not-added", MISSING, False),
    ("6.14.11-1-pve", "version-at-least", "6.8.12-9-pve", True), ("6.8", "version-at-least", "6.14", False),
    ("0xa0011d5", "version-at-least", "0xa0011ce", True), ("0xff", "version-at-least", "0x100", False),
    ("6.8", "version-below", "6.14", True), ("6.14", "version-below", "6.14", False), (6, "version-below", "6", None),
    (6, "version-at-least", "6", None), (MISSING, "version-at-least", "6", None),
]
SENSED: list[tuple[Any, str, Any, Sense, bool | None]] = [
    (9, "not-worse", 10, Sense("higher"), False), (10, "not-worse", 10, Sense("higher"), True),
    (9, "not-worse", 10, Sense("lower"), True), (11, "not-worse", 10, Sense("lower"), False),
    (9.6, "not-worse", 10, Sense("higher", "5%"), True), (9.4, "not-worse", 10, Sense("higher", "5%"), False),
    (9, "not-worse", 10, Sense("higher", 1), True), (1, "not-worse", 0, Sense("lower", "50%"), False),
    (-11, "not-worse", -10, Sense("higher", "5%"), False), (-10.4, "not-worse", -10, Sense("higher", "5%"), True),
    (NAN, "not-worse", 1, Sense("higher"), None), (1, "not-worse", NAN, Sense("higher"), None),
    (MISSING, "not-worse", 1, Sense("higher"), None), (1, "not-worse", MISSING, Sense("higher"), None),
    (1, "not-worse", 1, Sense(), None), ("a", "not-worse", "b", Sense("higher"), None),
    (float("inf"), "not-worse", float("inf"), Sense("lower"), True),
    (float("inf"), "not-worse", 1, Sense("lower"), False), (float("inf"), "not-worse", 1, Sense("higher"), True),
    (104, "unchanged", 100, Sense(None, "5%"), True), (106, "unchanged", 100, Sense(None, "5%"), False),
    (True, "unchanged", 1, Sense(None, "100%"), False), (7, "within", 5, Sense(None, 2), True),
    (8, "within", 5, Sense(None, 2), False), ([3, 2, 2], "monotone", None, Sense("lower"), True),
    ([1, 2], "monotone", None, Sense("lower"), False),
]


@pytest.mark.parametrize(("left", "op", "right", "sense", "answer"), SENSED)
def test_answer_with_direction_and_tolerance(left: Any, op: str, right: Any, sense: Sense, answer: bool | None) -> None:
    assert OPERATORS[op](left, right, sense) is answer


@pytest.mark.parametrize("tolerance", ["5", "five %", "-5%", ""])
def test_what_is_no_tolerance(tolerance: str) -> None:
    with pytest.raises(ValueError, match="no tolerance"):
        slack(10, tolerance)


@pytest.mark.parametrize(("left", "op", "right", "answer"), TRUTH)
def test_answer(left: Any, op: str, right: Any, answer: bool | None) -> None:
    assert OPERATORS[op](left, right, Sense()) is answer


def test_every_operator_is_tried_and_can_say_yes_and_no() -> None:
    for op in OPERATORS:
        assert {True, False} <= {answer for _, name, *_, answer in [*TRUTH, *SENSED] if name == op}, op
