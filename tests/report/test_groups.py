"""Findings taken together: names, and commands in an order that works for all of them."""

from __future__ import annotations

import pytest

from snapshot.engine.finding import Finding
from snapshot.report.groups import few, grouped, merged


@pytest.mark.parametrize(("lists", "order"), [
    ([], []),
    ([["a", "b"]], ["a", "b"]),
    ([["a", "restart"], ["b", "restart"]], ["a", "b", "restart"]),
    ([["cat 1", "reload", "enable 1"], ["cat 2", "reload", "enable 2"]],
     ["cat 1", "cat 2", "reload", "enable 1", "enable 2"]),
    ([["a", "b"], ["b", "a"]], ["a", "b", "b", "a"]),
    ([["a", "b", "a"]], ["a", "b", "a"]),
])
def test_no_command_comes_before_one_that_it_needs(lists: list[list[str]], order: list[str]) -> None:
    assert merged(lists) == order


@pytest.mark.parametrize(("count", "said"), [
    (0, ""), (1, "0"), (5, "0 1 2 3 4"), (6, "0 1 2 3 and 2 more"), (1234, "0 1 2 3 and 1,230 more"),
])
def test_of_many_names_the_first_are_said(count: int, said: str) -> None:
    assert few([str(number) for number in range(count)]) == said


def finding(subject: str, **more: object) -> Finding:
    table = {"rule": "a.b", "severity": "high", "verdict": "fail", "class_": "new", "subject": subject, "part": subject,
             "message": f"{subject} fails", "group": "{count} fail: {parts}"} | more
    return Finding.model_validate(table)


def test_what_reads_alike_is_one_group_that_names_its_parts() -> None:
    one, other = grouped([finding("x"), finding("y", after=1), finding("z")])
    assert (one.headline, one.told) == ("2 fail: x, z", True)
    assert (other.headline, other.told) == ("y fails", True)
    (many,) = grouped(finding(str(number)) for number in range(9))
    assert (many.headline, many.told) == ("9 fail: 0, 1, 2, 3 and 5 more", False)


def test_a_value_that_is_the_own_name_tells_none_from_others() -> None:
    (gone,) = grouped([finding("x", before="x"), finding("y", before="y")])
    assert gone.headline == "2 fail: x, y"
    assert len(grouped([finding("x", before="x"), finding("y")])) == 2


def test_causes_that_read_alike_are_one_cause() -> None:
    causes = [finding(name, rule="c.d") for name in ("x", "y")]
    caused = [finding(name, cause=["c.d", name]) for name in ("x", "y")]
    assert [group.count for group in grouped([*caused, *causes])] == [2, 2]
    assert [group.count for group in grouped(caused, causes)] == [2]
    assert [group.count for group in grouped(caused)] == [1, 1]
    other = finding("y", rule="c.d", after=1)
    assert [group.count for group in grouped([*caused, causes[0], other])] == [1, 1, 1, 1]


def test_how_to_check_is_said_once_for_many() -> None:
    same, other = ([finding(name, verify=["a", check + (name if more else "")]) for name in ("x", "y", "z")]
                   for check, more in (("b", False), ("c", True)))
    assert [group.check for group in (*grouped(same), *grouped(other), *grouped(other[:2]))] == [
        ["a", "b"], ["a", "cx   # and so on for all 3"], ["a", "cx", "cy"]]
    assert grouped([finding("x")])[0].check == []


def test_parts_with_blanks_are_told_apart_by_commas() -> None:
    assert grouped([finding("a"), finding("b")])[0].parts_said == "a b"
    assert grouped([finding("a b"), finding("c")])[0].parts_said == "a b, c"
