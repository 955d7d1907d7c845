"""Objects of reports in JSON, and rows of tables: their values by key, with file and line when one is wrong.

RFC 8259; besides NaN and Infinity, which benchmarks write and Python's json takes. A file that a tool appends to holds
several objects in a row, with or without line ends within them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import NoReturn

from ...records import record
from ...regexes import regex
from ..report import bad

_BLANKS = regex(r"[\ufeff\s]*")


@record(frozen=True)
class Entry:
    """A table of a report. A key with null counts as missing."""

    table: Mapping[str, object]
    file: str
    line: int | None = None
    path: str = ""  # where in what begins on LINE

    def number(self, key: str) -> float | None:
        """The number under KEY, also one within quotes; may be inf or nan. ReportError for anything else."""
        value = self.table.get(key)
        if value is None:
            return None
        found = number(value)
        return self.bad(key, f"is no number: {value!r:.40}") if found is None else found

    def finite(self, key: str) -> float | None:
        """The number under KEY when it is one and neither nan nor infinite; None for anything else."""
        found = number(self.table.get(key))
        return found if found is not None and math.isfinite(found) else None

    def numbers(self, key: str) -> list[float]:
        """The numbers of the list under KEY; none when something else is there too."""
        value = self.table.get(key)
        found = [number(one) for one in value] if isinstance(value, list) else []
        return [one for one in found if one is not None] if None not in found else []

    def text(self, key: str) -> str | None:
        """The text under KEY, in one line, and numbers and truth values as text; None for lists and tables."""
        return word(self.table.get(key))

    def entry(self, key: str) -> Entry:
        """The table under KEY; an empty one when there is none."""
        value = self.table.get(key)
        return Entry(value if isinstance(value, dict) else {}, self.file, self.line, f"{self.path}{key}.")

    def entries(self, key: str) -> list[Entry]:
        """The tables of the list under KEY. ReportError when there is no list, or something else in it."""
        value = self.table.get(key)
        if not isinstance(value, list):
            self.bad(key, "is no list" if key in self.table else "is missing")
        return [self._item(key, at, one) for at, one in enumerate(value)]

    def _item(self, key: str, at: int, value: object) -> Entry:
        if not isinstance(value, dict):
            self.bad(f"{key}[{at}]", "is no object")
        return Entry(value, self.file, self.line, f"{self.path}{key}[{at}].")

    def bad(self, key: str, why: str) -> NoReturn:
        """ReportError: what is under KEY is wrong because of WHY."""
        bad(self.file, f"{self.path}{key} {why}", self.line)


def mentions(text: str, *keys: str) -> bool:
    """Whether TEXT begins as JSON does and has all KEYS; what stands within its strings does not count."""
    start = _BLANKS.match(text)
    return text[start.end() if start else 0:][:1] in ("{", "[") and all(f'"{key}"' in text for key in keys)


def entries(text: str, file: str) -> list[Entry]:
    """The objects of TEXT: one, several in a row, or those of arrays, with the line on which they or their array begin.

    ReportError with the line where TEXT ends too early, is no JSON, or holds something else; for no object at all.
    """
    found: list[Entry] = []
    line, at, end = 1, 0, 0
    while (at := _behind_blanks(text, end)) < len(text):
        line += text.count("\n", end, at)
        value, after = _value(text, at, file, len(found))
        for place, one in enumerate(value) if isinstance(value, list) else [(-1, value)]:
            if not isinstance(one, dict):
                bad(file, "there is a value that is no object", line)
            found.append(Entry(one, file, line, f"[{place}]." if place >= 0 else ""))
        line += text.count("\n", at, after)
        end = after
    return found or bad(file, "there is no object in it", 1)


def number(value: object) -> float | None:
    """VALUE as a number, also one written as text; None when it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value) if not isinstance(value, str) or "_" not in value else None
    except ValueError:
        return None
    except OverflowError:
        return math.inf if isinstance(value, int) and value > 0 else -math.inf


def word(value: object) -> str | None:
    """VALUE as one word of a workload, the same for 2 and 2.0; None when it is None, a list or a table."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (int, float)):
        return str(value)
    return "".join(sign if sign.isprintable() else " " for sign in value).strip() if isinstance(value, str) else None


def words(found: Mapping[str, object]) -> dict[str, str]:
    """FOUND as a workload: without what is not known."""
    return {key: one for key, value in found.items() if (one := word(value))}


def model_name(name: str | None) -> str | None:
    """The NAME of a model, and of a path to one its last part."""
    path = name and (name.startswith(("/", "~", ".", "\\")) or ":\\" in name)
    return base_name(name) if name and path else name


def base_name(path: str) -> str:
    """The last part of PATH: the others name users and mounts."""
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1]


def _behind_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, file: str, before: int) -> tuple[object, int]:
    """The value that begins AT, and where it ends; BEFORE is how many objects are read already."""
    rest = f"; what is before it is whole ({before})" if before else ""
    try:
        return json.JSONDecoder().raw_decode(text, at)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        why = "the report ends in the middle of an object" if cut else f"no JSON: {error.msg}"
        bad(file, why + rest, text.count("\n") + (not text.endswith("\n")) if cut else error.lineno)
    except (ValueError, RecursionError):  # a number of thousands of digits; brackets by the thousand
        bad(file, f"no JSON that can be read{rest}", text.count("\n", 0, at) + 1)
