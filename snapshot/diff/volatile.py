"""Which facts the models say change by themselves, as patterns of them."""

from __future__ import annotations

from collections.abc import Iterator

from ..records import record
from ..sections import NAMES
from ..sections.shape import SETTINGS, Shape, of_section
from .pattern import written


@record(frozen=True)
class VolatilePath:
    """A marked field or keys. The pattern is one that ``Selection.stable`` takes."""

    section: str
    pattern: str
    unless_set: bool  # only while no file sets the key


def volatile_paths() -> list[VolatilePath]:
    """All that is left out of a comparison by default, in the order of sections."""
    return [found for name in NAMES for found in _marked(of_section(name), (name,))]


def _marked(shape: Shape, path: tuple[str | None, ...]) -> Iterator[VolatilePath]:
    section = str(path[0])
    if shape.volatile:
        yield VolatilePath(section, written(path), False)
        return
    for keys in shape.volatile_keys:
        yield VolatilePath(section, f"{written(path)}.{keys}", SETTINGS in of_section(section).fields)
    for name, part in shape.fields.items():
        yield from _marked(part, (*path, name))
    if shape.item:
        yield from _marked(shape.item, (*path, None))
