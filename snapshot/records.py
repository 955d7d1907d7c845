"""Classes of named values, as ``dataclasses`` makes them, at a tenth of the cost of importing them.

``dataclasses`` writes and compiles six methods a class when its module is imported, half a millisecond each; a verb
that imports a hundred such classes to use thirty waits for all of them. Here a class shares its methods with all others
and its ``__init__`` is compiled when the first instance is made.

The decorator is told to type checkers by ``dataclass_transform`` (PEP 681); what it takes and ``field`` takes means
what it means in ``dataclasses``. Annotations are texts (``from __future__ import annotations``) and not looked at but
for ClassVar.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")
_MISSING: Any = object()


class _Field:
    __slots__ = ("default", "factory", "init")

    def __init__(self, default: Any, factory: Callable[[], Any] | None, init: bool) -> None:
        self.default, self.factory, self.init = default, factory, init


def field(*, default: Any = _MISSING, default_factory: Callable[[], Any] | None = None, init: bool = True) -> Any:
    """A field whose default is made anew for each instance, or, with init False, that ``__post_init__`` sets."""
    return _Field(default, default_factory, init)


@dataclass_transform(field_specifiers=(field,))
def record(*, frozen: bool = False, eq: bool = True, kw_only: bool = False) -> Callable[[type[T]], type[T]]:
    """Decorates a class whose annotations are its fields: init, equality, repr, match arguments, in their order.

    FROZEN: no attribute can be set, and instances can be keys. EQ False: only the same instance is equal.
    KW_ONLY: values are given by name.
    """
    def decorate(cls: Any) -> Any:
        names = [name for name, kind in cls.__annotations__.items() if not kind.startswith("ClassVar")]
        fields = {name: _own(cls, name) for name in names}
        cls.__record_fields__ = fields
        setattr(cls, "__match_args__", () if kw_only else tuple(name for name, one in fields.items() if one.init))  # noqa: B010 - mypy has it read-only
        cls.__init__ = _first(cls, frozen, kw_only)
        if frozen:
            cls.__setattr__ = cls.__delattr__ = _frozen
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


def _first(cls: Any, frozen: bool, kw_only: bool) -> Callable[..., None]:
    """An ``__init__`` that puts the real one in its place when it is called."""
    def init(self: Any, *args: Any, **values: Any) -> None:
        cls.__init__ = _compiled(cls, frozen, kw_only)
        cls.__init__(self, *args, **values)

    return init


def _compiled(cls: Any, frozen: bool, kw_only: bool) -> Any:
    """``__init__`` of the fields of CLS."""
    fields: dict[str, _Field] = cls.__record_fields__
    known: dict[str, Any] = {"set_": object.__setattr__, "MISSING": _MISSING}
    arguments, lines = ["self", *(["*"] if kw_only and fields else [])], []
    for name, one in fields.items():
        value = name
        if one.factory:
            known[f"make_{name}"] = one.factory
            value = f"make_{name}() if {name} is MISSING else {name}" if one.init else f"make_{name}()"
        elif one.default is not _MISSING:
            known[f"default_{name}"] = one.default
        if one.init:
            default = "MISSING" if one.factory else f"default_{name}"
            arguments.append(name if not one.factory and one.default is _MISSING else f"{name}={default}")
        if one.init or one.factory:
            lines.append(f'set_(self, "{name}", {value})' if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__({', '.join(arguments)}):\n {'; '.join(lines) or 'pass'}", known)  # noqa: S102 - names of fields
    made = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _comparable(cls: Any, frozen: bool) -> None:
    names = tuple(cls.__record_fields__)
    values: Callable[[Any], Any] = attrgetter(*names) if names else lambda _one: ()

    def equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    cls.__eq__ = equal
    cls.__hash__ = hashed if frozen else None


def _frozen(self: object, name: str, *_value: object) -> NoReturn:
    raise AttributeError(f"{type(self).__name__}.{name} cannot be changed: use replace()")


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__record_fields__)
    return f"{type(self).__qualname__}({shown})"
