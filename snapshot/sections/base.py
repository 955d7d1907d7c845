"""What every section model stands on: the base class, the marks, per-CPU maps, matrices and provenance.

A take builds hundreds of models and trusts its own collectors; only what is read back from a file has to be checked.
So a model is a plain class with described fields, cheap to define and to build, and ``model_validate`` hands its twin
to pydantic (``checker``), which a take never imports: that import alone takes as long as reading /proc/sys ten times.

A mark is put on a field with ``Annotated[type, MARK]`` and read back with ``marks``:
``VOLATILE`` changes by itself and is left out of the diff by default; ``EVIDENCE`` says where a fact was found
and is never compared; ``IDENTITY`` names the same thing under another key; ``PerCpu(type)`` and ``Matrix``
say how the diff has to read a table; ``Private(kind)`` names somebody or something that redaction replaces.

Modules of models do without ``from __future__ import annotations``: the types are asked for, and as texts they would
have to be compiled for that.
"""

import sys
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    NoReturn,
    Self,
    dataclass_transform,
    get_args,
    get_origin,
)

from ..records import record
from ..regexes import regex

_REQUIRED: Final = object()
SCALARS: Final = frozenset({str, int, bool, float})


@record(frozen=True)
class FieldInfo:
    """What is said of a field besides its type."""

    description: str
    default: Any

    @property
    def required(self) -> bool:
        """Whether a table without it is wrong."""
        return self.default is _REQUIRED


def field(*, description: str, default: Any = _REQUIRED) -> Any:
    """A field of a model, with its unit in the description; a default of None makes it one that may be missing."""
    return FieldInfo(description, default)


class ModelType(type):
    """The class of models. It takes the fields out of the class body, where only their defaults stay."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> "ModelType":
        """The class; TypeError when one of its annotations is no field, or hides what every model has."""
        own = {key: value for key, value in body.items() if type(value) is FieldInfo}
        rest = {key: value.default if key in own else value for key, value in body.items()
                if not (key in own and value.required)}
        made = super().__new__(cls, name, bases, rest)
        if bases:
            made._take(own)
        return made

    def _take(cls, own: dict[str, FieldInfo]) -> None:
        """Adds the fields of the class body to those of its base."""
        base: Any = cls.__base__
        if odd := [key for key in cls.__annotations__ if key not in own or key in vars(Model)]:
            raise TypeError(f"{cls.__name__}.{odd[0]} has to be a field() and must not hide what every model has")
        cls.fields = {**base.fields, **own}
        cls.required = frozenset(key for key, info in cls.fields.items() if info.default is _REQUIRED)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Model(metaclass=ModelType):
    """A table of a snapshot: immutable, built by keyword, equal when all fields are. A None field is not written."""

    fields: ClassVar[dict[str, FieldInfo]] = {}
    required: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, **values: Any) -> None:
        cls, given = type(self), values.keys()
        if not cls.required <= given:
            raise TypeError(f"{cls.__name__} needs {', '.join(sorted(cls.required - given))}")
        if not given <= cls.fields.keys():
            raise TypeError(f"{cls.__name__} has no field {', '.join(sorted(given - cls.fields.keys()))}")
        self.__dict__.update(values)
        self._verify()

    @classmethod
    def built(cls, values: Mapping[str, Any]) -> Self:
        """A model of VALUES, which are known to be fields, and all that are required."""
        made = object.__new__(cls)
        made.__dict__.update(values)
        made._verify()
        return made

    def _verify(self) -> None:
        """ValueError when the values do not go together; for models to override."""

    def table(self) -> dict[str, Any]:
        """This model as the plain table that is written: nested dicts, lists and scalars, no None."""
        return {name: _plain(value) for name in self.fields if (value := getattr(self, name)) is not None}

    def copy(self, **changes: Any) -> Self:
        """The same with CHANGES."""
        return type(self)(**{**vars(self), **changes})

    @classmethod
    def make(cls, values: Mapping[str, Any]) -> Self:
        """A model of VALUES by field name, gathered one by one; a dict where a model belongs is made one."""
        inner = {name: value for name, value in values.items() if isinstance(value, dict)}
        kinds = types(cls) if inner else {}
        made = {name: model.make(value) for name, value in inner.items() if (model := _model_in(kinds.get(name)))}
        return cls(**{**values, **made})

    @classmethod
    def model_validate(cls, table: object) -> Self:
        """TABLE as this model. pydantic.ValidationError when it does not fit."""
        from .fitting import MisfitError, fit

        try:
            return fit(cls, table)
        except MisfitError:
            from .checker import validate

            return validate(cls, table)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Any) -> Any:
        from .checker import core_schema

        return core_schema(cls, handler)

    def __eq__(self, other: object) -> bool:
        same = type(self) is type(other)
        return same and all(getattr(self, name) == getattr(other, name) for name in self.fields)

    def __hash__(self) -> int:
        return hash((type(self), *(getattr(self, name) for name in self.fields)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed: use copy()")


def _plain(value: Any) -> Any:
    if type(value) in SCALARS:
        return value
    if isinstance(value, Model):
        return value.table()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _model_in(kind: Any) -> type[Model] | None:
    """The model that KIND is, within Annotated and | None; None when it is something else."""
    if isinstance(kind, type):
        return kind if issubclass(kind, Model) else None
    if get_origin(kind) is Annotated or isinstance(kind, UnionType):
        return next(filter(None, map(_model_in, get_args(kind))), None)
    return None


@cache
def types(model: type[Model]) -> Mapping[str, Any]:
    """The type of each field of MODEL, Annotated kept."""
    found: dict[str, Any] = {}
    for cls in reversed(model.__mro__):
        own = {} if cls in (object, Model) else cls.__annotations__
        texts = [kind for kind in own.values() if isinstance(kind, str)]
        if texts:  # under "from __future__ import annotations", which our own models do without: compiling takes time
            kinds = eval(f"[{', '.join(texts)}]", vars(sys.modules[cls.__module__]))  # noqa: S307 - of the module's source
            own = dict(zip(own, kinds, strict=True))
        found |= own
    return found


@record(frozen=True)
class Mark:
    """A property of a field that capture, diff and rules act on."""

    name: str


VOLATILE = Mark("volatile")
EVIDENCE = Mark("evidence")
IDENTITY = Mark("identity")


@record(frozen=True)
class PerCpu:
    """Marks a table value -> cpu list; TYPE is what the values are (TOML keys are always strings)."""

    type: type[int] | type[str] | type[bool]

    def __get_pydantic_core_schema__(self, source: object, handler: Any) -> Any:
        from .checker import per_cpu_schema

        return per_cpu_schema(self.type, handler(source))


@record(frozen=True)
class Private:
    """Marks a text, or the keys of a table, that redaction replaces by a pseudonym.

    Only what cannot be told by its form needs it: MACs, UUIDs and addresses are found wherever they stand.
    """

    kind: Literal["serial", "wwid", "esp", "guest", "share", "key"]  # key: one of the others, or another key


def marks(metadata: Iterable[object]) -> tuple[Mark | PerCpu, ...]:
    """The marks among what Annotated adds to a type, in the order written."""
    return tuple(m for m in metadata if isinstance(m, Mark | PerCpu))


CpuInts = Annotated[dict[str, str], PerCpu(int)]
CpuWords = Annotated[dict[str, str], PerCpu(str)]
CpuFlags = Annotated[dict[str, str], PerCpu(bool)]


_RANGE = regex("([0-9]{1,5})(?:-([0-9]{1,5}))?")  # int() would also take 1_0


def parse_cpus(text: str) -> list[int]:
    """The CPUs of a kernel list such as "0-3,8,10-11", sorted; "" is none. ValueError when it is no such list.

    Source: Documentation/admin-guide/cputopology.rst, bitmap_parselist in lib/bitmap-str.c.
    """
    return [*_cpus(text)]


@lru_cache(maxsize=4096)  # a host has thousands of lists, and few different ones
def _cpus(text: str) -> tuple[int, ...]:
    cpus: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        found = _RANGE.fullmatch(part)
        low, high = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not low <= high <= 65535:
            raise ValueError(f"not a CPU range: {part!r}")
        cpus.update(range(low, high + 1))
    return (*sorted(cpus),)


def format_cpus(cpus: Iterable[int]) -> str:
    """CPUs as the kernel writes a list: [0,1,2,3,8] -> "0-3,8"."""
    ranges: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if ranges and ranges[-1][1] == cpu - 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in ranges)


def collapse(values: Mapping[int, int | str | bool]) -> dict[str, str]:
    """A cpu -> value mapping as the stored table value -> cpu list; booleans are written true and false."""
    by_value: dict[str, list[int]] = {}
    for cpu, value in values.items():
        key = str(value).lower() if isinstance(value, bool) else str(value)
        by_value.setdefault(key, []).append(cpu)
    return {value: format_cpus(cpus) for value, cpus in sorted(by_value.items())}


def expand(table: Mapping[str, str], kind: type[int] | type[str] | type[bool]) -> dict[int, int | str | bool]:
    """The reverse of collapse. ValueError when a CPU has two values or a value is not of KIND."""
    values: dict[int, int | str | bool] = {}
    for text, cpus in table.items():
        if kind is bool and text not in ("true", "false"):
            raise ValueError(f"not a boolean: {text!r}")
        value = text == "true" if kind is bool else kind(text)
        for cpu in _cpus(cpus):
            if cpu in values:
                raise ValueError(f"cpu {cpu} has two values: {values[cpu]!r} and {value!r}")
            values[cpu] = value
    return values


class Matrix(Model):
    """A square table such as NUMA distances or GPU topology; the diff compares it cell by cell."""

    ids: list[str] = field(description="row and column names, sorted by PCI address")
    rows: list[list[int | str]] = field(description="one row an id, one cell an id")

    def _verify(self) -> None:
        """Square, and no id twice."""
        if len(set(self.ids)) != len(self.ids):
            raise ValueError("a row name stands twice")
        if len(self.rows) != len(self.ids) or any(len(row) != len(self.ids) for row in self.rows):
            raise ValueError(f"{len(self.ids)} ids need {len(self.ids)} rows of {len(self.ids)} cells")

    def cells(self) -> dict[tuple[str, str], int | str]:
        """(row id, column id) -> cell."""
        return {(a, b): cell for a, row in zip(self.ids, self.rows, strict=True)
                for b, cell in zip(self.ids, row, strict=True)}


class Origin(Model):
    """Where a fact from a configuration file stands."""

    file: str = field(description="absolute path of the file")
    line: int = field(description="line number, from 1")
    text: str = field(description="the line as it stood, secrets dropped")
