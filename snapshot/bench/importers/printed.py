"""What reports print for people: numbers, how finely, objects among lines that are none, and what went wrong."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence

from ...regexes import regex
from ..report import bad
from .commands import shown
from .entries import Entry, number

MATTERS_PERCENT = 2.0  # the smallest change that matters where nothing else is said
LONGEST = 200
_PRINTED = regex(r"[+-]?\d+(?:\.(\d+))?(?:e([+-]?\d{1,3}))?", re.IGNORECASE)
_START = regex(r"^[ \t]*(?=\{\s*[\"}])", re.MULTILINE)


def finite(value: object) -> float | None:
    """VALUE, a number or the text of one, when it is finite; None for anything else."""
    found = number(value)
    return found if found is not None and math.isfinite(found) else None


def known(one: Entry, key: str) -> float | None:
    """The finite number under KEY of ONE; None when there is none. ReportError for what is no number."""
    return finite(one.number(key))


def coarse_percent(printed: str) -> float | None:
    """How much a number has to change for its print to tell; None when that is less than matters anyway.

    A print of 0.4 can be 0.449, and the next one, 0.5, 0.451: one step of the last digit tells nothing.
    """
    found, value = _PRINTED.fullmatch(printed.strip()), finite(printed)
    if not found or not value:
        return None
    percent = 150 * 10.0 ** (int(found[2] or 0) - len(found[1] or "")) / abs(value)
    return round(percent, 1) if percent > MATTERS_PERCENT else None


def last_line(lines: Sequence[str]) -> int:
    """Where the last of LINES is that is not blank; -1 when there is none."""
    return next((at for at in range(len(lines) - 1, -1, -1) if lines[at].strip()), -1)


def one_line(said: str) -> str:
    """What a tool SAID went wrong, as one line of at most 200 characters."""
    return shown(" ".join(said.split()))[:LONGEST]


def objects(text: str, file: str) -> Iterator[Entry]:
    """Each object of JSON that starts a line; warnings before it, and a report for people after it, do not matter.

    ReportError, with the line, for one that does not end well.
    """
    decoder, at, line = json.JSONDecoder(), 0, 1
    while found := _START.search(text, at):
        line, start = line + text.count("\n", at, found.end()), found.end()
        try:
            value, at = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
            bad(file, "the report ends in the middle of an object" if cut else f"no JSON: {error.msg}", error.lineno)
        except (ValueError, RecursionError):  # a number of thousands of digits; brackets by the thousand
            bad(file, "no JSON that can be read", line)
        yield Entry(value, file, line)
        line += text.count("\n", start, at)
