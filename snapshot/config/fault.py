"""What is wrong with a snap.toml, in one line: file, line, key, what was meant.

Apart from the rest because pydantic is imported here, which a sound file does without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from .. import tomlio
from ..errors import FormatError, misspelt
from ..sections.base import Model
from ..sections.checker import validate
from ..sections.faults import short, worded
from ..sections.shape import of_model
from ..tomlio import Path

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

M = TypeVar("M", bound=Model)
OVERRIDE = ("rules", "override")  # where the model has what stands right below [rules]


def checked(model: type[M], table: dict[str, Any], name: str, text: str) -> M:
    """TABLE, read from TEXT of the file NAME, as MODEL. FormatError when it does not fit."""
    try:
        return validate(model, table)
    except ValidationError as error:
        path, what = _first(model, table, error.errors(include_url=False))
        raise fault(name, text, path, what) from None


def fault(name: str, text: str, path: Path, what: str) -> FormatError:
    """The error "NAME:LINE: PATH: WHAT"."""
    path = (path[0], *path[2:]) if path[:2] == OVERRIDE and path[2:] else path
    line = tomlio.line_of(text, path)
    where = f"{name}{f':{line}' if line else ''}"
    return FormatError(f"{where}: {short(tomlio.dotted(path), 200)}: {what}" if path else f"{where}: {what}")


def _first(model: type[Model], table: Any, errors: list[ErrorDetails]) -> tuple[Path, str]:
    """Path and text of the fault to begin with: an unknown key, which is often why another one is missing."""
    errors = sorted(errors, key=lambda error: error["type"] != "extra_forbidden")
    return worded(table, errors, lambda where, value: _unknown(model, where, value))


def _unknown(model: type[Model], where: Path, value: Any) -> str:
    if where[:1] == ("rules",) and isinstance(value, dict):
        inner = tomlio.dotted((f"{where[-1]}.{next(iter(value), 'WORDS')}",))
        return f"there is no such key: the id of a rule is quoted, as in [rules.{inner}]"
    shape = of_model(model).at(map(str, where[:-1]))
    known = [key for key in (shape.fields if shape else ()) if key != OVERRIDE[1]]
    near = misspelt(str(where[-1]), known)
    return "there is no such key: " + (f"did you mean {near[0]}?" if near else f"keys here are {', '.join(known)}")
