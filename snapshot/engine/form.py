"""What of a pack does not have the form of rules: for each fault where it stands, and what was expected there.

https://docs.pydantic.dev/latest/errors/validation_errors/: where several types may stand, a text or a note, pydantic
has errors for each of them. Those of the types that the author did not mean would be noise, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import misspelt
from ..sections.base import Model
from ..sections.faults import Place, worded
from .rule import Condition, Explains, Grade, Note, Pack, Rule

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

SINGLE: dict[str, type[Model]] = {"explains": Explains, "grades": Grade, "better": Note, "expected": Note}


def misfits(table: Any, errors: Iterable[ErrorDetails]) -> Iterator[tuple[Place, str]]:
    """Place and words of each fault that ERRORS find in TABLE; of the types that may stand at a place, all in one."""
    cleared = [_cleared(table, error) for error in errors]
    meant = [error for error, fits in cleared if fits]
    covered = {error["loc"][:end] for error in meant for end in range(len(error["loc"]) + 1)}
    meant += [error for error, fits in cleared if not fits and _of_type(error) and error["loc"] not in covered]
    for alike in _together(meant):
        yield worded(table, alike, _unknown)


def _cleared(value: Any, error: ErrorDetails) -> tuple[ErrorDetails, bool]:
    """The error with a place in the table alone, and whether every type that it is about suits what stands there."""
    place: list[str | int] = []
    fits = True
    for at, key in enumerate(error["loc"], 1):
        last = error["type"] == "missing" and at == len(error["loc"])
        index = isinstance(value, list) and isinstance(key, int)
        if last or index or (isinstance(value, dict) and key in value):
            place.append(key)
            value = value if last else value[key]
        else:
            fits &= _suits(str(key), value)
    return {**error, "loc": tuple(place)}, fits


def _suits(kind: str, value: Any) -> bool:
    """Whether the type that pydantic calls KIND is what the author of VALUE meant."""
    if kind.startswith("list["):
        return isinstance(value, list)
    if "Condition" in kind or "AnyOf" in kind:
        return isinstance(value, dict) and ("any" in value) == ("AnyOf" in kind)
    return isinstance(value, dict) if "Note" in kind else not isinstance(value, dict | list)


def _together(errors: Sequence[ErrorDetails]) -> Iterable[list[ErrorDetails]]:
    """The errors about the type of one value together, others each alone."""
    found: dict[Any, list[ErrorDetails]] = {}
    for at, error in enumerate(errors):
        found.setdefault(error["loc"] if _of_type(error) else at, []).append(error)
    return found.values()


def _of_type(error: ErrorDetails) -> bool:
    return error["type"].endswith("_type")


def _unknown(place: Place, _: Any) -> str:
    near = misspelt(str(place[-1]), _model(place).fields, 1)
    return "there is no such key" + (f"; {near[0]} is meant?" if near else "")


def _model(place: Place) -> type[Model]:
    """What has the last key of PLACE: a condition stands in a list of them, or in ``any``."""
    if len(place) < 4:
        return Rule if len(place) == 3 else Pack
    above = next((str(key) for key in reversed(place[:-1]) if isinstance(key, str)), "")
    if above in ("where", "check", "mended", "when", "any"):
        return Condition
    return SINGLE.get(above, Note)


