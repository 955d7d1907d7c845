"""The pydantic twin of a model: what checks a table that comes from a file, and what the JSON Schema is made of.

Apart from ``base`` because pydantic is imported here, which a take does without.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, TypeAdapter, create_model
from pydantic_core import core_schema as schemas

from .base import Model, types

M = TypeVar("M", bound=Model)


class Strict(BaseModel):
    """A pydantic model that converts nothing and knows every key."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


@cache
def checker(model: type[Model]) -> type[Strict]:
    """The twin of MODEL."""
    fields: dict[str, Any] = {
        name: (kind, Field(... if model.fields[name].required else model.fields[name].default,
                           description=model.fields[name].description))
        for name, kind in types(model).items()
    }
    return create_model(model.__name__, __base__=Strict, __doc__=model.__doc__, **fields)


def validate(model: type[M], table: object) -> M:
    """TABLE as MODEL. pydantic.ValidationError when it does not fit."""
    checked: M = _adapter(model).validate_python(table)
    return checked


@cache
def _adapter(model: type[Model]) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def core_schema(model: type[Model], handler: GetCoreSchemaHandler) -> schemas.CoreSchema:
    """For pydantic, when MODEL is the type of a field: checked as its twin, kept as itself."""
    return schemas.no_info_after_validator_function(
        lambda twin: _built(model, twin), handler.generate_schema(checker(model)))


def _built(model: type[M], twin: Strict) -> M:
    built = model.__new__(model)
    vars(built).update(vars(twin))
    built._verify()
    return built
