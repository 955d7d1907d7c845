"""A rule's texts with their placeholders filled in: names and nothing more, so that a pack can run no code.

One pass: a value that looks like a placeholder stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from ..diff.change import MISSING
from .path import Gap

_NAME = re.compile(r"\{([a-z][a-z0-9_]*)\}")
Lookup = Callable[[str], Any]  # name -> value, MISSING or a Gap


def fill(text: str | Iterable[str], lookup: Lookup, keep: tuple[str, ...] = ()) -> str | None:
    """The text, or the first of several, whose names all have values; None when there is none. KEEP stays unfilled."""
    for alternative in [text] if isinstance(text, str) else text:
        names = set(_NAME.findall(alternative)) - set(keep)
        values = {name: said(lookup(name)) for name in names}
        if None not in values.values():
            return _filled(alternative, values)
    return None


def _filled(text: str, values: dict[str, str | None]) -> str:
    return _NAME.sub(lambda match: match[0] if (value := values.get(match[1])) is None else value, text)


def lines(texts: Iterable[str], lookup: Lookup) -> list[str]:
    """Each text filled in; a list alone in a text becomes a line each; texts without a value are left out."""
    out: list[str] = []
    for text in texts:
        alone = _NAME.fullmatch(text)
        value = lookup(alone[1]) if alone else None
        if isinstance(value, list):
            out += [str(element) for element in value]
        elif (filled := fill(text, lookup)) is not None:
            out.append(filled)
    return out


def said(value: Any) -> str | None:
    """A value in words; None when there is none."""
    if value is MISSING or isinstance(value, Gap) or value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
