"""Lists of tables, in which order counts: which row before is which row after."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from ..sections.shape import LEAF, Shape


def align(before: list[Any], after: list[Any], item: Shape) -> list[tuple[int | None, int | None]]:
    """Index pairs of two lists of tables: what is equal but for evidence, and in order what stands between.

    Exchanged arguments give the exchanged pairs, which difflib alone does not promise.
    """
    one, other = ([repr(_plain(item, row)) for row in rows] for rows in (before, after))
    if one > other:
        return [(b, a) for a, b in align(after, before, item)]
    pairs: list[tuple[int | None, int | None]] = []
    from difflib import SequenceMatcher

    for _, start, end, start_after, end_after in SequenceMatcher(None, one, other).get_opcodes():
        pairs += zip_longest(range(start, end), range(start_after, end_after))
    return pairs


def _plain(shape: Shape, value: Any) -> Any:
    """The value without evidence, in an order that does not depend on how it was written."""
    if shape.kind == "model":
        fields = ((key, shape.fields.get(key, LEAF), part) for key, part in sorted(value.items()))
        return [(key, _plain(field, part)) for key, field, part in fields if not field.evidence]
    if shape.item and isinstance(value, dict):
        return [(key, _plain(shape.item, part)) for key, part in sorted(value.items())]
    return [_plain(shape.item, part) for part in value] if shape.item else value
