"""Tables that fit their model, which is nearly all of them: checked here, without pydantic and its import.

``fit`` takes only what pydantic would take, and makes the same of it; what it does not take, pydantic judges, and says
what is wrong. So a faulty file costs the import of pydantic, and a sound one does not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from .base import Model, PerCpu, expand, types

M = TypeVar("M", bound=Model)
Check = Callable[[Any], Any]
SCALARS = (str, int, bool)  # TOML's own; float takes an integer too


class MisfitError(Exception):
    """The table does not fit, or is of a sort that is not judged here."""


def fit(model: type[M], table: Any) -> M:
    """TABLE as MODEL. MisfitError when pydantic has to look at it."""
    if type(table) is not dict:
        raise MisfitError
    checks, required = _plan(model)
    if not required <= table.keys():
        raise MisfitError
    values = {}
    for name, value in table.items():
        if name not in checks:
            raise MisfitError
        values[name] = checks[name](value)
    try:
        return model.built(values)
    except ValueError:  # of _verify
        raise MisfitError from None


@cache
def _plan(model: type[Model]) -> tuple[dict[str, Check], frozenset[str]]:
    """How each field of MODEL is checked, and which have to be there."""
    return {name: _check(kind) for name, kind in types(model).items()}, model.required


def _check(kind: Any) -> Check:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        cpu = next((mark.type for mark in inner[1:] if isinstance(mark, PerCpu)), None)
        return _check(inner[0]) if cpu is None else _cpus_of(cpu, _check(inner[0]))
    if origin in (Union, UnionType):
        return _any_of([_check(part) for part in inner if part is not NoneType])
    if origin is Literal:
        return lambda value: _taken(value, any(type(value) is type(word) and value == word for word in inner))
    if origin is dict:
        return _table_of(_check(inner[1]))
    if origin is list:
        return _list_of(_check(inner[0]))
    if isinstance(kind, type) and issubclass(kind, Model):
        return lambda value: fit(kind, value)
    if kind is Any:
        return lambda value: value
    if kind is float:
        return _number
    return _of_type(kind if kind in SCALARS else None)


def _of_type(kind: Any) -> Check:
    def check(value: Any) -> Any:
        if type(value) is not kind:
            raise MisfitError
        return value

    return check


def _taken(value: Any, fits: bool) -> Any:
    if not fits:
        raise MisfitError
    return value


def _number(value: Any) -> float:
    return float(_taken(value, type(value) in (float, int)))


def _any_of(checks: list[Check]) -> Check:
    def check(value: Any) -> Any:
        for one in checks:
            try:
                return one(value)
            except MisfitError:
                continue
        raise MisfitError

    return checks[0] if len(checks) == 1 else check


def _table_of(check: Check) -> Check:
    def table(value: Any) -> dict[str, Any]:
        fits = type(value) is dict and all(type(key) is str for key in value)
        return {key: check(item) for key, item in _taken(value, fits).items()}

    return table


def _cpus_of(kind: type[int] | type[str] | type[bool], check: Check) -> Check:
    def cpus(value: Any) -> Any:
        table = check(value)
        try:
            expand(table, kind)
        except ValueError:
            raise MisfitError from None
        return table

    return cpus


def _list_of(check: Check) -> Check:
    return lambda value: [check(item) for item in _taken(value, type(value) is list)]
