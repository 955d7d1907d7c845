"""How a section's table has to be read, from its model: what each part is, and its marks.

The diff and the rules walk plain tables, which are quick to parse and to compare; what a table means stands
in its model. A ``Shape`` is the model without what a walk does not ask for.

Some marks are not a field's but a key's, and stand beside the model as patterns (fnmatch): VOLATILE_KEYS, by field,
names keys that change by themselves, and COMPUTED_KEYS, of the field ``values``, says from what the kernel works
them out. Neither holds for a key that the section's field SETTINGS has, because there a file decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from ..records import field, record, replace
from . import model as model_of
from .base import EVIDENCE, IDENTITY, SCALARS, VOLATILE, Matrix, Model, PerCpu, Private, types

Kind = Literal["leaf", "model", "table", "rows", "percpu", "matrix"]
Path = tuple[str, ...]
SETTINGS = "settings"


@record(frozen=True)
class Shape:
    """One part of a section. A leaf is a scalar or plain list, a table is keyed, rows are a list of tables."""

    kind: Kind = "leaf"
    fields: Mapping[str, Shape] = field(default_factory=dict)  # of a model
    item: Shape | None = None  # of a table and of rows
    cpu: type[int] | type[str] | type[bool] = str  # what the values of a per-CPU table are
    evidence: bool = False
    volatile: bool = False
    identity: bool = False
    private: str = ""  # kind of name that a leaf, or the keys of a table, hold
    computed: str = ""  # what the kernel works it out from
    volatile_keys: tuple[str, ...] = ()  # of a table
    computed_keys: Mapping[str, str] = field(default_factory=dict)

    def identities(self) -> tuple[str, ...]:
        """The fields of a model that name the same thing under another key, best first."""
        return tuple(name for name, part in self.fields.items() if part.identity)

    def of_key(self, key: str) -> Shape:
        """The shape of a table's item KEY, with what the patterns of keys say of it."""
        item = self.item or LEAF
        computed = next((source for name, source in self.computed_keys.items() if fnmatchcase(key, name)), "")
        volatile = any(fnmatchcase(key, name) for name in self.volatile_keys)
        return replace(item, volatile=item.volatile or volatile, computed=computed) if computed or volatile else item

    def at(self, path: Iterable[str]) -> Shape | None:
        """The shape at PATH below this one; None when the model has no such place."""
        here: Shape | None = self
        for key in path:
            here = here and (here.fields.get(key) if here.kind == "model" else here.item)
        return here


LEAF = Shape()


@cache
def of_section(name: str) -> Shape:
    """The shape of section NAME. KeyError when there is no such section."""
    model = model_of(name)
    shape, beside = of_model(model), vars(import_module(model.__module__))
    volatile, computed = beside.get("VOLATILE_KEYS", {}), {"values": beside.get("COMPUTED_KEYS", {})}
    return replace(shape, fields={
        name: replace(part, volatile_keys=volatile.get(name, ()), computed_keys=computed.get(name, {}))
        for name, part in shape.fields.items()
    })


@cache
def of_model(model: type[Model]) -> Shape:
    """The shape of a model's table."""
    parts = {name: _of(kind) for name, kind in types(model).items()}
    return Shape("model", parts)


def _of(annotation: Any) -> Shape:
    kind, found = _bare(annotation, [])
    cpu = next((mark.type for mark in found if isinstance(mark, PerCpu)), None)
    shape = Shape("percpu", cpu=cpu) if cpu else _of_kind(kind)
    return shape if not found else replace(
        shape, evidence=EVIDENCE in found, volatile=VOLATILE in found, identity=IDENTITY in found,
        private=next((mark.kind for mark in found if isinstance(mark, Private)), ""),
    )


def _of_kind(kind: Any) -> Shape:
    if kind in SCALARS:
        return LEAF
    arguments = get_args(kind)
    if get_origin(kind) is dict:
        return Shape("table", item=_of(arguments[1]))
    if get_origin(kind) is list and (item := _of(arguments[0])).kind != "leaf":
        return Shape("rows", item=item)
    if isinstance(kind, type) and issubclass(kind, Model):
        return Shape("matrix") if issubclass(kind, Matrix) else of_model(kind)
    return LEAF


def _bare(annotation: Any, found: list[Any]) -> tuple[Any, list[Any]]:
    """ANNOTATION without Annotated and None, and every mark met on the way."""
    if annotation in SCALARS:
        return annotation, found
    if get_origin(annotation) is Annotated:
        return _bare(annotation.__origin__, found + list(annotation.__metadata__))
    if get_origin(annotation) in (Union, UnionType):
        rest = [part for part in get_args(annotation) if part is not type(None)]
        if len(rest) == 1:
            return _bare(rest[0], found)
    return annotation, found
