"""Lines ``name value unit``, of no particular tool: one line is what one run gave.

The name has no blanks, and may end in a colon. A fourth word, higher or lower, says which is better where the unit
does not: ``score 93.5 points higher``. Empty lines, and what follows a # at the start of a line, do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ...regexes import regex
from ..report import MOST_VALUES, Report, bad, few
from .printed import finite
from .rows import NO_VALUE, value

_LINE = regex(r"\s*(\S+?):?\s+(\S+)\s+([^\s\d]\S*)(?:\s+(higher|lower))?\s*", re.IGNORECASE)


def recognises(text: str) -> bool:
    """Whether every line that counts has this form, and there is one."""
    lines = [line for _, line in islice(_lines(text), MOST_VALUES)]
    return bool(lines) and all((found := _LINE.fullmatch(line)) and _is_value(found[2]) for line in lines)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that count, with their numbers."""
    for at, line in enumerate(text.splitlines(), 1):
        start = line.lstrip()[:1]
        if start and start != "#":
            yield at, line


def _is_value(printed: str) -> bool:
    return finite(printed) is not None or printed.lower() in NO_VALUE


def read(text: str, file: str) -> Report:
    """A value a line. ReportError for a line of another form, when there is none, or more than a benchmark has."""
    values = []
    for at, line in few(_lines(text), file):
        found = _LINE.fullmatch(line) or bad(file, f"not of the form name value unit: {line.strip()!r:.60}", at)
        values.append(value(found[1], found[2], found[3], found[4], {}, file, at))
    return Report(tool="generic", format="text", values=values) if values else bad(file, "there is no line in it")
