"""The pydantic twin of a model: what checks a table that comes from a file, and what the JSON Schema is made of.

Apart from ``base`` because pydantic is imported here, which a take does without.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, TypeAdapter, create_model
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema as schemas

from .base import Model, expand, types

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


def per_cpu_schema(kind: type[int] | type[str] | type[bool], table: schemas.CoreSchema) -> schemas.CoreSchema:
    """For pydantic: a table value -> cpu list of which no CPU has two values and each value is of KIND."""
    def checked(value: dict[str, str]) -> dict[str, str]:
        expand(value, kind)
        return value

    return schemas.no_info_after_validator_function(checked, table)


def _built(model: type[M], twin: Strict) -> M:
    built = model.__new__(model)
    vars(built).update(vars(twin))
    built._verify()
    return built


class Generator(GenerateJsonSchema):
    """JSON Schema as pydantic's, without null, which TOML does not have: such a key is missing."""

    def nullable_schema(self, schema: schemas.NullableSchema) -> JsonSchemaValue:
        """The schema of what may be missing, when it is there."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: schemas.WithDefaultSchema) -> JsonSchemaValue:
        """The schema with its default, where that says something."""
        found, default = self.generate_inner(schema["schema"]), schema.get("default")
        return {**found, "default": default} if isinstance(default, str | int) else found

    def field_title_should_be_set(self, *_: Any) -> bool:
        """Titles would only repeat the keys."""
        return False
