"""What pydantic finds wrong with a table, in one line: where in it, and what was expected there.

https://docs.pydantic.dev/latest/errors/validation_errors/: the types of its errors. A field of several types has an
error for each of them, whose place ends in a name that pydantic gives the type and no table has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Place = tuple[str | int, ...]
_WORDS = {"int_type": "an integer", "float_type": "a number", "string_type": "a string", "bool_type": "true or false",
          "list_type": "an array", "dict_type": "a table", "model_type": "a table"}


def worded(
    table: Any, errors: Sequence[ErrorDetails], unknown: Callable[[Place, Any], str], hint: str = "",
) -> tuple[Place, str]:
    """Where in TABLE, and what is wrong there, by the first of ERRORS.

    UNKNOWN words a key that the model lacks, from its place and value; HINT ends the line about a wrong type.
    """
    error = errors[0]
    where, rest, value = _resolved(table, error["loc"])
    if error["type"] == "missing":
        return (*where, *rest), "is missing"
    if error["type"] == "extra_forbidden":
        return where, unknown(where, value)
    same = (one for one in errors if _resolved(table, one["loc"])[0] == where)
    wanted = dict.fromkeys(word for one in same if (word := _wanted(one)))
    if not wanted:
        return where, " ".join(error["msg"].removeprefix("Value error, ").split())
    return where, f"expected {' or '.join(wanted)}, found {_shown(value)}{hint}"


def short(text: str, most: int) -> str:
    """TEXT, or as much of it as MOST characters hold."""
    return text if len(text) <= most else f"{text[:most - 4]} ..."


def _resolved(value: Any, loc: Place) -> tuple[Place, Place, Any]:
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
    return short(json.dumps(value) if isinstance(value, str | bool) else str(value), 60)
