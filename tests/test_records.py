"""Records behave as dataclasses do, and what they cannot do they refuse as loudly."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import pytest

from snapshot.records import asdict, field, record, replace


@record(frozen=True)
class Point:
    x: int
    y: int = 2
    kind: ClassVar[str] = "point"


@dataclasses.dataclass(frozen=True)
class Twin:
    x: int
    y: int = 2


@record()
class Bag:
    name: str
    things: list[int] = field(default_factory=list)
    size: int = field(init=False)
    doubled: tuple[int, ...] = field(default=())

    def __post_init__(self) -> None:
        self.size = len(self.things)


@record(kw_only=True, eq=False)
class Named:
    a: int
    b: str = "b"


@record()
class Nothing:
    pass


def test_shows_compares_and_hashes_as_a_dataclass() -> None:
    point, twin = Point(1), Twin(1)
    assert repr(point) == repr(twin).replace("Twin", "Point")
    assert (point == Point(1, 2), point == Point(2), point != Point(1, 3)) == (True, False, True)
    assert point.__eq__(twin) is NotImplemented
    assert len({Point(1), Point(x=1, y=2), Point(3)}) == 2
    assert Nothing() == Nothing()


def test_a_copy_has_the_changes() -> None:
    point = Point(1)
    assert (replace(point, y=5), point) == (Point(1, 5), Point(1, 2))


@pytest.mark.parametrize("values", [
    pytest.param(((), {}), id="one is missing"), pytest.param(((1, 2, 3), {}), id="too many"),
    pytest.param(((1,), {"x": 1}), id="given twice"), pytest.param(((1,), {"z": 1}), id="unknown"),
])
def test_wrong_values_are_refused_as_a_dataclass_does(values: tuple[tuple[int, ...], dict[str, int]]) -> None:
    given, named = values
    errors = []
    for kind in (Point, Point, Twin):  # the first instance is made in another way than the second
        with pytest.raises(TypeError) as caught:
            kind(*given, **named)
        errors.append(str(caught.value).replace("Twin", "Point"))
    assert errors[0] == errors[1] == errors[2]


def test_defaults_are_made_anew_and_what_is_set_later_is_no_argument() -> None:
    one, other = Bag("one"), Bag("other", [1, 2])
    one.things.append(7)
    assert (one.things, other.size, Bag("third").things, other.doubled) == ([7], 2, [], ())
    assert asdict(other) == {"name": "other", "things": [1, 2], "size": 2, "doubled": ()}
    with pytest.raises(TypeError):
        hash(one)
    with pytest.raises(TypeError):
        made: Any = Bag
        made("x", size=3)


def test_by_name_only_and_equal_to_itself_only() -> None:
    one = Named(a=1)
    assert (one == one, one == Named(a=1), one.b) == (True, False, "b")
    with pytest.raises(TypeError):
        made: Any = Named
        made(1)
    assert hash(one) == hash(one)


def test_a_record_can_be_taken_apart_by_match() -> None:
    match Point(4, 5):
        case Point(x, y):
            assert (x, y) == (4, 5)
        case _:
            pytest.fail("does not match")


def test_a_class_of_its_own_repr_keeps_it() -> None:
    @record()
    class Quiet:
        secret: str

        def __repr__(self) -> str:
            return "Quiet"

    assert repr(Quiet("x")) == "Quiet"


def test_a_field_without_default_comes_first() -> None:
    @record()
    class Wrong:
        x: int = 1
        y: int  # type: ignore[misc]

    made: Any = Wrong
    with pytest.raises(TypeError, match="without default follows"):
        made(1, 2)
