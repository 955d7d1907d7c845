"""The JSON Schema of snap.toml, from the models: for editors, which find it by a ``#:schema`` line at its head.

https://json-schema.org/draft/2020-12/schema. A date counts as text there, as editors for TOML have it.
"""

from __future__ import annotations

from typing import Any

from ..engine.rule import ID
from ..sections.checker import Generator, checker
from .fault import OVERRIDE
from .tables import Tables


def schema() -> dict[str, Any]:
    """The schema of the whole file, as JSON values."""
    body = checker(Tables).model_json_schema(schema_generator=Generator)
    rules = body["$defs"]["Rules"]
    own = rules["properties"].pop(OVERRIDE[1])
    rules["patternProperties"] = {f"^{ID.pattern}$": own["additionalProperties"]}
    return {"$schema": Generator.schema_dialect, "$id": "urn:hostsnap:config:1", **body, "title": "snap.toml"}
