"""Writes docs/sections.md from models and collectors, docs/rules.md and docs/forecasts.md: python -m docs.generate"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from snapshot.collectors import collector
from snapshot.collectors.describe import render
from snapshot.sections import NAMES, model
from snapshot.sections.base import Mark, Matrix, Model, Origin, PerCpu, Private, types

from . import forecasts, rules

PAGE = Path(__file__).parent / "sections.md"
WORDS: dict[Any, str] = {str: "text", int: "integer", float: "number", bool: "true or false", Any: "any"}
STEPS: dict[Any, str] = {dict: ".*", list: "[]"}
HEAD = """\
# What a snapshot holds

One chapter a section, in the order of reports: what it reads and runs, then its tables. The page is made from the
models and collectors (`python -m docs.generate`); `snap schema` prints the same as JSON Schema.

In a path `*` stands for one name and `**` for all below; in a place `*` stands for each key of a table and `[]` for
each item of a list. A field with `?` may be missing: it is not there on this host, or unknown and named in `unread`.

Units stand in the names: `_khz`, `_bytes`, `_us`, `_mw` and so on. Marks: *volatile* changes by itself and is left out
of a comparison; *evidence* says where a fact was found and is never compared; *identity* names the same thing under
another key; *per CPU* is a table value -> list of CPUs; *private* is replaced by `--redact`.
"""


def page() -> str:
    """The whole page."""
    contents = "".join(f"- [{name}](#{name})\n" for name in NAMES)
    shared = "".join(f"\n### {found.__name__}\n\n{_text(found)}\n{_table(found)}" for found in (Origin, Matrix))
    chapters = "".join(f"\n## {name}\n\n{_chapter(name)}" for name in NAMES)
    return f"{HEAD}\n{contents}- [shared tables](#shared-tables)\n{chapters}\n## shared tables\n{shared}"


def _chapter(name: str) -> str:
    top = model(name)
    keys = vars(import_module(top.__module__)).get("VOLATILE_KEYS", {})
    volatile = "".join(f"\nVolatile keys of `{of}`: {', '.join(map(_code, names))}.\n" for of, names in keys.items())
    inner = _models(top)
    del inner[top]
    return (f"{_text(top)}\n\n```text\n{render(name, collector(name).reads).strip()}\n```\n{_table(top)}{volatile}"
            + "".join(f"\n### {found.__name__}\n\nAt {', '.join(map(_code, places))}. {_text(found)}\n{_table(found)}"
                      for found, places in inner.items()))


def _table(found: type[Model]) -> str:
    """A model's fields."""
    rows = (f"| `{name}`{'' if found.fields[name].required else ' ?'} | {_word(kind)} | {_marks(kind)} "
            f"| {_cell(found.fields[name].description)} |\n" for name, kind in types(found).items())
    return f"\n| field | type | marks | what it says |\n|---|---|---|---|\n{''.join(rows)}"


def _models(top: type[Model]) -> dict[type[Model], tuple[str, ...]]:
    """The models of a section and where they stand, each once, in the order of their fields."""
    found: dict[type[Model], tuple[str, ...]] = {}
    queue = [(top, "")]
    while queue:
        here, place = queue.pop(0)
        if here in (Origin, Matrix):
            continue
        if here not in found:
            queue += [(inner, f"{place}.{name}{rest}".lstrip("."))
                      for name, kind in types(here).items() for inner, rest in _inner(kind)]
        found[here] = (*found.get(here, ()), place)
    return found


def _inner(kind: Any) -> Iterator[tuple[type[Model], str]]:
    """The models within a type, and the way to them."""
    if isinstance(kind, type) and issubclass(kind, Model):
        yield kind, ""
        return
    step = STEPS.get(get_origin(kind), "")
    arguments = get_args(kind)[:1] if get_origin(kind) is Annotated else get_args(kind)
    for argument in arguments if get_origin(kind) is not Literal else ():
        yield from ((found, step + rest) for found, rest in _inner(argument))


def _word(kind: Any) -> str:
    """A type in words."""
    arguments, origin = get_args(kind), get_origin(kind)
    if origin is Annotated:
        return "value -> CPUs" if any(isinstance(m, PerCpu) for m in kind.__metadata__) else _word(arguments[0])
    if origin is Literal:
        return " or ".join(map(_code, arguments))
    if origin in (Union, UnionType):
        return " or ".join(_word(part) for part in arguments if part is not type(None))
    if origin is list:
        return f"list of {_word(arguments[0])}"
    if origin is dict:
        return f"{_word(arguments[1])} by key"
    return WORDS.get(kind) or str(kind.__name__)


def _marks(kind: Any) -> str:
    """The marks of a field, also within | None."""
    found = list(getattr(kind, "__metadata__", ()))
    said = [mark.name for mark in found if isinstance(mark, Mark)]
    said += ["per CPU" for mark in found if isinstance(mark, PerCpu)]
    said += [f"private: {mark.kind}" for mark in found if isinstance(mark, Private)]
    inner = get_args(kind) if get_origin(kind) in (Union, UnionType) else get_args(kind)[:1] if found else ()
    return ", ".join(filter(None, [*said, *map(_marks, inner)]))


def _code(text: str) -> str:
    return f"`{text}`"


def _text(found: type[Model]) -> str:
    return " ".join((found.__doc__ or "").split())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    rules.PAGE.write_text(rules.page(), encoding="utf-8")
    forecasts.PAGE.write_text(forecasts.page(), encoding="utf-8")
