"""A rule's texts with their placeholders filled in: names and nothing more, so that a pack can run no code.

One pass: a value that looks like a placeholder stays as it is. A value whose key ends in a unit is said with it, for
people; in a command it stands as it is, quoted for the shell.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable
from typing import Any

from ..diff.change import MISSING
from ..records import record
from ..regexes import regex
from .path import Gap

NAME = regex(r"\{([a-z][a-z0-9_]*)\}")
UNITS = {  # end of a key -> divisor, unit
    "_khz": (1000, "MHz"), "_mhz": (1, "MHz"), "_mw": (1000, "W"), "_us": (1, "us"), "_ms": (1, "ms"), "_s": (1, "s"),
    "_gts": (1, "GT/s"), "_mib": (1, "MiB"), "_gbs": (1, "GB/s"), "_percent": (1, "%"), "_mts": (1, "MT/s"),
}
LONG = 500  # characters of a value that a person is told
SIZES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"))


@record(frozen=True)
class Value:
    """What a placeholder stands for, and the key that tells its unit."""

    value: Any  # or MISSING, or a Gap
    key: str = ""


Lookup = Callable[[str], Value]
Say = Callable[[Value], str | None]


def fill(
    text: str | Iterable[str], lookup: Lookup, keep: tuple[str, ...] = (), say: Say | None = None,
) -> str | None:
    """The text, or the first of several, whose names all have values; None when there is none. KEEP stays unfilled."""
    for alternative in [text] if isinstance(text, str) else text:
        names = set(NAME.findall(alternative)) - set(keep)
        values = {name: (say or measured)(lookup(name)) for name in names}
        if None not in values.values():
            return _filled(alternative, values)
    return None


def _filled(text: str, values: dict[str, str | None]) -> str:
    return NAME.sub(lambda match: match[0] if (value := values.get(match[1])) is None else value, text)


def prose(texts: Iterable[str], lookup: Lookup) -> list[str]:
    """Each text filled in for people; a list alone becomes a line each; texts without a value are left out."""
    return [*_lines(texts, lookup, measured)]


def commands(texts: Iterable[str], lookup: Lookup) -> list[str]:
    """Each text filled in for a shell. A placeholder alone in a text stands for commands that are ready."""
    return [*_lines(texts, lookup, _quoted)]


def _lines(texts: Iterable[str], lookup: Lookup, say: Say) -> Iterable[str]:
    for text in texts:
        alone = NAME.fullmatch(text)
        value = lookup(alone[1]).value if alone else None
        if isinstance(value, list):
            yield from map(str, value)
        elif (filled := said(value) if alone else fill(text, lookup, say=say)) is not None:
            yield filled


def said(value: Any) -> str | None:
    """A value in words; None when there is none."""
    if value is MISSING or isinstance(value, Gap) or value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(map(str, value)) if isinstance(value, list | dict) else str(value)


def measured(value: Value) -> str | None:
    """A value in words, with the unit that its key ends in: 600000 of limit_mw is "600 W"; few bytes are a number.

    Of a long text the beginning is enough.
    """
    number, key = value.value, value.key
    if type(number) not in (int, float) or not math.isfinite(number):
        text = said(number)
        return None if text is None else cut(text, LONG)
    if key.endswith("_bytes"):
        divisor, unit = next(((size, unit) for size, unit in SIZES if number >= size), (1, ""))
    else:
        divisor, unit = next((entry for end, entry in UNITS.items() if key.endswith(end)), (1, ""))
    whole = type(number) is int and number % divisor == 0  # no float, which is exact only up to 2**53
    return f"{number // divisor if whole else _short(number / divisor)} {unit}".rstrip()


def cut(text: str, most: int) -> str:
    """The text; after MOST characters it says how many more there are."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text) - most:,} more characters)"


def _short(number: float) -> str:
    """At most two digits after the point, none that say nothing."""
    return str(int(number)) if number == int(number) else f"{number:.2f}".rstrip("0")


def _quoted(value: Value) -> str | None:
    text = said(value.value)
    return None if text is None else shlex.quote(text)
