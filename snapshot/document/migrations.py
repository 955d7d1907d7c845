"""The version of the snapshot format, and how older files become newer ones.

To change the format: raise FORMAT, and add under the old number a function that takes all tables of an old
file and returns those of the next format. A file may have been edited: the function raises FormatError on
what it cannot use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import __version__
from ..errors import FormatError

Tables = dict[str, Any]
FORMAT = 1
STEPS: dict[int, Callable[[Tables], Tables]] = {}  # format -> what makes the next one of it


def version(tables: Tables, name: str) -> int:
    """The format of the file NAME. FormatError when it has none, or one that this version does not know."""
    meta = tables.get("meta")
    number = meta.get("format") if isinstance(meta, dict) else None
    if not isinstance(meta, dict) or type(number) is not int or number < 1:
        raise FormatError(f"{name}: not a snapshot: there is no [meta] with a format number")
    if number > FORMAT:
        tool = f"hostsnap {meta['tool']!s:.40}" if "tool" in meta else "a newer hostsnap"
        raise FormatError(
            f"{name}: format {number}, written by {tool}; hostsnap {__version__} reads formats up to {FORMAT}"
            " (upgrade it to read this file)"
        )
    return number


def migrated(tables: Tables, number: int, name: str) -> Tables:
    """TABLES of format NUMBER as those of FORMAT."""
    for step in range(number, FORMAT):
        if step not in STEPS:
            raise FormatError(f"{name}: hostsnap {__version__} no longer reads format {number}")
        tables = STEPS[step](tables)
        tables["meta"]["format"] = step + 1
    return tables
