"""What pydantic finds wrong, in one line. The files that it is said of have tests of their own."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from snapshot.sections.base import Model, field
from snapshot.sections.checker import validate
from snapshot.sections.faults import short, worded


class Inner(Model):
    """A table within a table."""

    count: int | list[str] | None = field(description="how many, or which", default=None)


class Outer(Model):
    """A table."""

    name: str = field(description="a name")
    rows: list[Inner] = field(description="rows", default=[])


@pytest.mark.parametrize(("table", "place", "what"), [
    ({}, ("name",), "is missing"),
    ({"name": 1}, ("name",), "expected a string, found 1!"),
    ({"name": "n", "rows": [{}, {"count": 1.5}]}, ("rows", 1, "count"), "expected an integer or an array, found 1.5!"),
    ({"name": "n", "rows": [{"count": {}}]}, ("rows", 0, "count"), "expected an integer or an array, found a table!"),
    ({"name": "n", "rows": [{"cuont": 1}]}, ("rows", 0, "cuont"), "rows.0.cuont is odd: 1"),
    ({"name": "n", "rows": [7]}, ("rows", 0), "expected a table, found 7!"),
])
def test_place_and_words(table: dict[str, Any], place: tuple[str | int, ...], what: str) -> None:
    with pytest.raises(ValidationError) as error:
        validate(Outer, table)
    assert worded(
        table, error.value.errors(include_url=False),
        lambda where, value: f"{'.'.join(map(str, where))} is odd: {value}", "!",
    ) == (place, what)


def test_short() -> None:
    assert (short("abcdef", 6), short("abcdefg", 6)) == ("abcdef", "ab ...")
