"""What fit takes, pydantic takes too and makes the same of it; what is sound, fit takes."""

from __future__ import annotations

import tomllib
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from snapshot.sections import NAMES, model
from snapshot.sections.base import Matrix, Model
from snapshot.sections.checker import validate
from snapshot.sections.fitting import MisfitError, fit

from ..recordings import HOSTS, taken

ODD: list[Any] = [
    None, True, 1, 1.5, 2**70, float("nan"), "", "1", "true", [], [1], ["x"], {}, {"x": 1}, {1: "x"}, (1,), b"x",
]


@pytest.mark.parametrize("host", HOSTS)
def test_a_sound_snapshot_needs_no_pydantic(host: str) -> None:
    tables = tomllib.loads(taken(host).dumps())
    for name in NAMES:
        if name in tables:
            assert fit(model(name), tables[name]) == validate(model(name), tables[name])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything in a table."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(below for key, item in items for below in places(item, (*path, key)))]


TABLES = {name: tomllib.loads(taken("pve-small").dumps()).get(name, {}) for name in NAMES}
PLACES = {name: places(table) for name, table in TABLES.items()}


@given(st.data())
def test_what_is_taken_is_what_pydantic_takes(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([name for name in NAMES if len(PLACES[name]) > 1]))
    path = data.draw(st.sampled_from(PLACES[name][1:]))
    table = deepcopy(TABLES[name])
    inner = table
    for key in path[:-1]:
        inner = inner[key]
    match data.draw(st.sampled_from(["odd", "lost", "extra"])):
        case "odd":
            inner[path[-1]] = data.draw(st.sampled_from(ODD))
        case "lost":
            del inner[path[-1]]
        case _ if isinstance(inner, dict):
            inner["no such field"] = data.draw(st.sampled_from(ODD))
    agree(model(name), table)


@given(st.dictionaries(st.sampled_from(["ids", "rows", "x"]), st.sampled_from([*ODD, ["a"], [["a"]], [[1]], [[1, 2]]])))
def test_a_model_that_verifies_itself(table: dict[str, Any]) -> None:
    agree(Matrix, table)


def agree(kind: type[Model], table: dict[str, Any]) -> None:
    """fit takes TABLE only when pydantic does, and then both make the same of it."""
    try:
        found = fit(kind, table)
    except MisfitError:
        return
    try:
        expected = validate(kind, table)
    except ValidationError as error:
        raise AssertionError(f"taken, but {error}") from None
    assert repr(found) == repr(expected) or found == expected
