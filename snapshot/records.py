"""Classes of named values, as ``dataclasses`` makes them, at a tenth of the cost of importing them.

``dataclasses`` writes and compiles six methods a class when its module is imported, half a millisecond each; a verb
that imports a hundred such classes to use thirty waits for all of them. Here a class shares its methods with all others
and its ``__init__`` is compiled when the first instance is made. A ``NamedTuple`` is no way out: each takes 0.15 ms.

The decorator is told to type checkers by ``dataclass_transform`` (PEP 681); what it takes and ``field`` takes means
what it means in ``dataclasses``. Annotations are not looked at but for ClassVar.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from types import CodeType, FunctionType
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
_MISSING: Any = object()


class _Field:
    __slots__ = ("default", "factory", "init")

    def __init__(self, default: Any, factory: Callable[[], Any] | None, init: bool) -> None:
        self.default, self.factory, self.init = default, factory, init

    @property
    def required(self) -> bool:
        return self.default is _MISSING and self.factory is None


def field(*, default: Any = _MISSING, default_factory: Callable[[], Any] | None = None, init: bool = True) -> Any:
    """A field whose default is made anew for each instance, or, with init False, that ``__post_init__`` sets."""
    return _Field(default, default_factory, init)


@dataclass_transform(field_specifiers=(field,))
def record(*, frozen: bool = False, eq: bool = True, kw_only: bool = False) -> Callable[[type[T]], type[T]]:
    """Decorates a class whose annotations are its fields: init, equality, repr, match arguments, in their order.

    FROZEN: instances can be keys, and a checker of types lets nobody set an attribute: at run time that check would
    make an instance three times as dear. EQ False: only the same instance is equal. KW_ONLY: values are given by name.
    """
    def decorate(cls: Any) -> Any:
        names = [name for name, kind in cls.__annotations__.items() if "ClassVar" not in str(kind)]
        fields = {name: _own(cls, name) for name in names}
        cls.__record_fields__ = fields
        setattr(cls, "__match_args__", () if kw_only else tuple(name for name, one in fields.items() if one.init))  # noqa: B010 - mypy has it read-only
        cls.__init__ = _first(cls, kw_only)
        if eq:
            _comparable(cls, frozen)
        if cls.__repr__ is object.__repr__:
            cls.__repr__ = _repr
        return cls

    return decorate


def replace(one: T, **changes: Any) -> T:
    """A copy of a record with CHANGES."""
    made: dict[str, _Field] = type(one).__record_fields__  # type: ignore[attr-defined]
    return type(one)(**{name: getattr(one, name) for name, kind in made.items() if kind.init} | changes)


def asdict(one: Any) -> dict[str, Any]:
    """The values of a record by field; those that are records are not taken apart."""
    return {name: getattr(one, name) for name in type(one).__record_fields__}


def _own(cls: Any, name: str) -> _Field:
    """The field NAME as the class body has it; a plain default stays there, others leave it."""
    given = cls.__dict__.get(name, _MISSING)
    if not isinstance(given, _Field):
        return _Field(given, None, True)
    if given.default is _MISSING:
        delattr(cls, name)
    else:
        setattr(cls, name, given.default)
    return given


def _first(cls: Any, kw_only: bool) -> Callable[..., None]:
    """An ``__init__`` that puts the real one in its place when it is called."""
    def init(self: Any, *args: Any, **values: Any) -> None:
        cls.__init__ = _made(cls, kw_only)
        cls.__init__(self, *args, **values)

    return init


def _made(cls: Any, kw_only: bool) -> Callable[..., None]:
    """``__init__`` of the fields of CLS: that of any record whose fields are of the same kinds, with other names."""
    fields: dict[str, _Field] = cls.__record_fields__
    given = {name: one for name, one in fields.items() if one.init}
    defaults = {name: _MISSING if one.factory else one.default for name, one in given.items() if not one.required}
    if [*defaults] != [*given][len(given) - len(defaults):] and not kw_only:
        raise TypeError(f"{cls.__qualname__}: a field without default follows one with a default")
    kinds = tuple((one.init, one.factory is not None) for one in fields.values() if one.init or one.factory)
    code = _code(kinds, kw_only, hasattr(cls, "__post_init__"))
    set_ = [name for name, one in fields.items() if one.init or one.factory]
    names = {f"field_{at}": name for at, name in enumerate(set_)}
    made = FunctionType(
        code.replace(co_names=tuple(names.get(name, name) for name in code.co_names),
                     co_varnames=tuple(names.get(name, name) for name in code.co_varnames)),
        {"MISSING": _MISSING} | {f"make_{at}": fields[name].factory for at, name in enumerate(set_)},
        "__init__", None if kw_only else (*defaults.values(),))
    made.__kwdefaults__ = defaults if kw_only else {}
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


@cache
def _code(kinds: tuple[tuple[bool, bool], ...], kw_only: bool, more: bool) -> CodeType:
    """``__init__`` of fields field_0, field_1 ...: of each whether it is an argument and whether it has a factory.

    Compiling takes 0.2 ms, and there are a dozen of these for the 170 records.
    """
    arguments, lines = ["self", *(["*"] if kw_only and kinds else [])], []
    for at, (init, factory) in enumerate(kinds):
        name = f"field_{at}"
        arguments += [name] if init else []
        made = f"make_{at}() if {name} is MISSING else {name}" if init else f"make_{at}()"
        lines.append(f"self.{name} = {made if factory else name}")
    lines += ["self.__post_init__()"] if more else []
    known: dict[str, Any] = {}
    exec(f"def __init__({', '.join(arguments)}):\n {'; '.join(lines) or 'pass'}", known)  # noqa: S102 - no name from elsewhere
    code: CodeType = known["__init__"].__code__
    return code


def _comparable(cls: Any, frozen: bool) -> None:
    names = tuple(cls.__record_fields__)
    values: Callable[[Any], Any] = attrgetter(*names) if names else lambda _one: ()

    def equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    cls.__eq__ = equal
    cls.__hash__ = hashed if frozen else None


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__record_fields__)
    return f"{type(self).__qualname__}({shown})"
