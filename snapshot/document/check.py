"""A plain table against its model: the model, or one line that says where the file is wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .. import tomlio
from ..errors import FormatError
from ..sections.base import Model
from ..tomlio import Path

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

M = TypeVar("M", bound=Model)
_WORDS = {
    "int_type": "an integer",
    "float_type": "a number",
    "string_type": "a string",
    "bool_type": "true or false",
    "list_type": "an array",
    "dict_type": "a table",
    "model_type": "a table",
}


def checked(model: type[M], table: Any, path: Path, name: str, text: str) -> M:
    """TABLE, which stands at PATH in TEXT of the file NAME, as MODEL. FormatError when it does not fit."""
    from pydantic import ValidationError  # not needed where nothing is read back: a take

    try:
        return model.model_validate(table)
    except ValidationError as error:
        where, what = _fault(table, error.errors(include_url=False))
        raise fault(name, text, (*path, *where), what) from None


def fault(name: str, text: str, path: Path, what: str) -> FormatError:
    """The error "NAME:LINE: PATH: WHAT", without a line when TEXT holds nothing of PATH."""
    line = tomlio.line_of(text, path)
    return FormatError(f"{name}{f':{line}' if line else ''}: {_short(tomlio.dotted(path), 200)}: {what}")


def _fault(table: Any, errors: Sequence[ErrorDetails]) -> tuple[Path, str]:
    """Path and text of the first fault. A field of several types has an error for each of them."""
    kind = errors[0]["type"]
    where, rest, value = _resolved(table, errors[0]["loc"])
    if kind == "missing":
        return (*where, *rest), "is missing"
    if kind == "extra_forbidden":
        return where, "is not known to this version of hostsnap"
    same = (error for error in errors if _resolved(table, error["loc"])[0] == where)
    wanted = dict.fromkeys(word for error in same if (word := _wanted(error)))
    if not wanted:
        return where, " ".join(errors[0]["msg"].removeprefix("Value error, ").split())
    return where, f"expected {' or '.join(wanted)}, found {_shown(value)} (was the file edited by hand?)"


def _resolved(value: Any, loc: Path) -> tuple[Path, Path, Any]:
    """What of LOC the data has, the rest (pydantic's names for the types of a union), and the value."""
    for i, key in enumerate(loc):
        index = isinstance(value, list) and isinstance(key, int) and key < len(value)
        if not index and not (isinstance(value, dict) and key in value):
            return loc[:i], loc[i:], value
        value = value[key]
    return loc, (), value


def _wanted(error: ErrorDetails) -> str | None:
    if error["type"] == "literal_error":
        return str(error["ctx"]["expected"])
    return _WORDS.get(error["type"])


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "an array"
    return _short(json.dumps(value) if isinstance(value, str | bool) else str(value), 60)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most - 4]} ..."
