"""The JSON Schema of a snapshot file, from the models.

https://json-schema.org/draft/2020-12/schema; editors with taplo or tombi find it by the ``#:schema`` line of
each file. The marks of a field stand under ``x-hostsnap-marks`` and ``x-hostsnap-per-cpu``: validators ignore
them, other readers of snapshots need them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field, create_model
from pydantic.json_schema import JsonSchemaValue

from .document import FORMAT, FileFact, Meta, Outcome
from .sections import NAMES, model
from .sections.base import Mark, PerCpu, marks
from .sections.checker import Generator, Strict

if TYPE_CHECKING:
    from pydantic_core import core_schema


def schema() -> dict[str, Any]:
    """The schema of a whole file, as JSON values."""
    sections: dict[str, Any] = {name: (model(name) | None, Field(None)) for name in NAMES}
    whole = create_model(
        "Snapshot", __base__=Strict, __doc__="The state of a Linux host, recorded by hostsnap.",
        meta=(Meta, ...), outcomes=(dict[str, Outcome], Field(description="by section")), **sections,
        files=(dict[str, FileFact] | None, Field(None, description="configuration files read, by path")),
    )
    body = whole.model_json_schema(schema_generator=_Marked)
    # taplo refuses a schema whose $id is no absolute URI; a URN is one that nobody tries to fetch
    return {"$schema": _Marked.schema_dialect, "$id": f"urn:hostsnap:snapshot:{FORMAT}", **body}


class _Marked(Generator):
    """With our marks."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        found = super().model_schema(schema)
        for name, field in schema["cls"].model_fields.items():
            found["properties"][name] |= _marked(marks(field.metadata))
        return found


def _marked(found: tuple[Mark | PerCpu, ...]) -> dict[str, Any]:
    keys: dict[str, Any] = {}
    for mark in found:
        if isinstance(mark, PerCpu):
            keys["x-hostsnap-per-cpu"] = mark.type.__name__
        else:
            keys.setdefault("x-hostsnap-marks", []).append(mark.name)
    return keys
