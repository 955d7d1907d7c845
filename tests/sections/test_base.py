"""What the section models stand on: cpu lists, per-CPU tables, matrices, marks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from snapshot.sections import NAMES, model
from snapshot.sections.base import (
    EVIDENCE,
    IDENTITY,
    CpuInts,
    Matrix,
    Model,
    PerCpu,
    collapse,
    expand,
    field,
    format_cpus,
    marks,
    parse_cpus,
    types,
)

Kind = type[int] | type[str] | type[bool]
CPUS = st.integers(0, 1023)
VALUES = st.one_of(
    st.tuples(st.just(int), st.dictionaries(CPUS, st.integers())),
    st.tuples(st.just(bool), st.dictionaries(CPUS, st.booleans())),
    st.tuples(st.just(str), st.dictionaries(CPUS, st.text(max_size=4))),
)


@pytest.mark.parametrize(("text", "cpus"), [
    ("", []), ("\n", []), ("0", [0]), ("0-3,8,10-11\n", [0, 1, 2, 3, 8, 10, 11]), ("5,1", [1, 5]),
    ("3-3", [3]), ("0-1,1-2", [0, 1, 2]), ("65535", [65535]),
])
def test_a_kernel_list_is_read(text: str, cpus: list[int]) -> None:
    assert parse_cpus(text) == cpus


@pytest.mark.parametrize(
    "text", ["a", "-1", "1-", "--", "3-1", "1_0", "+1", "1 2", "0-70000", "٣", "0x1", "9" * 5000]
)
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a CPU range"):
        parse_cpus(text)


def test_256_cpus_are_one_range() -> None:
    assert format_cpus(range(256)) == "0-255"
    assert format_cpus([9, 1, 2, 2, 3, 8]) == "1-3,8-9"
    assert format_cpus([]) == ""


@given(st.sets(CPUS))
def test_lists_survive_a_round_trip(cpus: set[int]) -> None:
    assert parse_cpus(format_cpus(cpus)) == sorted(cpus)


def test_an_outlier_is_visible() -> None:
    table = collapse({cpu: "powersave" if cpu == 255 else "performance" for cpu in range(256)})
    assert table == {"performance": "0-254", "powersave": "255"}
    assert collapse({0: True, 1: False}) == {"false": "1", "true": "0"}


@given(VALUES)
def test_tables_survive_a_round_trip(typed: tuple[Kind, dict[int, int | str | bool]]) -> None:
    kind, values = typed
    again = expand(collapse(values), kind)
    assert again == values
    assert all(type(value) is kind for value in again.values())


@pytest.mark.parametrize(("table", "kind", "wrong"), [
    ({"1": "0-3", "2": "3"}, int, "cpu 3 has two values: 1 and 2"),
    ({"yes": "0"}, bool, "not a boolean: 'yes'"),
    ({"one": "0"}, int, "invalid literal"),
    ({"1": "all"}, int, "not a CPU range: 'all'"),
])
def test_a_table_that_is_wrong_is_refused(table: dict[str, str], kind: type[int], wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        expand(table, kind)


def test_cells_are_found_by_both_ids() -> None:
    cells = Matrix(ids=["a", "b"], rows=[[10, "NODE"], [21, 10]]).cells()
    assert cells == {("a", "a"): 10, ("a", "b"): "NODE", ("b", "a"): 21, ("b", "b"): 10}
    assert Matrix(ids=[], rows=[]).cells() == {}


@pytest.mark.parametrize(("ids", "rows"), [
    (["a"], []), (["a", "b"], [[1, 2]]), (["a"], [[1, 2]]), (["a", "a"], [[1, 2], [3, 4]]), (["a"], [[1.5]]),
    (["a"], [[None]]), ([], [[1]]),
])
def test_a_matrix_is_square_and_its_ids_differ(ids: list[str], rows: list[list[int | str]]) -> None:
    with pytest.raises(ValidationError):
        Matrix.model_validate({"ids": ids, "rows": rows})


class Marked(Model):
    """A model with one field of each sort."""

    plain: int | None = field(default=None, description="no mark")
    where: Annotated[str | None, EVIDENCE, IDENTITY] = field(default=None, description="two marks")
    freq: CpuInts | None = field(default=None, description="per CPU, optional")
    khz: CpuInts = field(description="per CPU")


def test_marks_are_read_back() -> None:
    kinds = types(Marked)
    assert kinds["plain"] == int | None
    assert marks(kinds["where"].__metadata__) == (EVIDENCE, IDENTITY)
    assert marks(kinds["khz"].__metadata__) == (PerCpu(int),)


def test_a_model_is_built_by_known_names_and_does_not_change() -> None:
    found = Marked(khz={}, plain=1)
    assert (found.plain, found.freq) == (1, None)
    assert found == Marked(khz={}, plain=1, freq=None) != Marked(khz={}, plain=2)
    assert found.copy(plain=2) == Marked(khz={}, plain=2)
    with pytest.raises(TypeError, match="has no field colour"):
        Marked(khz={}, colour=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="needs khz"):
        Marked()  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match="cannot be changed"):
        found.plain = 2  # type: ignore[misc]


def test_a_field_may_not_hide_what_every_model_has() -> None:
    with pytest.raises(TypeError, match="table"):
        type("Bad", (Model,), {"__annotations__": {"table": "int"}, "table": field(description="taken")})


def test_what_a_file_says_comes_back_as_the_models_themselves() -> None:
    class Outer(Model):
        """Holds one."""

        inner: dict[str, Matrix] = field(description="by name")

    table = {"inner": {"a": {"ids": ["x"], "rows": [[1]]}}}
    found = Outer.model_validate(table)
    assert found == Outer(inner={"a": Matrix(ids=["x"], rows=[[1]])})
    assert found.table() == table
    with pytest.raises(ValidationError, match="1 ids need 1 rows"):
        Outer.model_validate({"inner": {"a": {"ids": ["x"], "rows": []}}})


def test_a_model_is_strict_and_leaves_none_out() -> None:
    assert Marked(khz={"1": "0"}).table() == {"khz": {"1": "0"}}
    for wrong in ({"plain": "1"}, {"plain": True}, {"unknown": 1}, {"khz": {"1": 0}}):
        with pytest.raises(ValidationError):
            Marked.model_validate({"khz": {}, **wrong})


def test_types_of_shipped_models_are_no_texts() -> None:
    """Texts are compiled one by one where they are asked for: base.types."""
    for name in NAMES:
        model(name)
    known = [cls for cls in _below(Model) if getattr(sys.modules[cls.__module__], cls.__name__, None) is cls
             and cls.__module__.startswith(("snapshot.sections.", "snapshot.document"))]
    assert len(known) > 100
    assert [cls for cls in known if any(isinstance(kind, str) for kind in cls.__annotations__.values())] == []


def _below(cls: type[Model]) -> Iterator[type[Model]]:
    for below in cls.__subclasses__():
        yield below
        yield from _below(below)
