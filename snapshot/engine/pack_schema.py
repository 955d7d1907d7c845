"""The JSON Schema of a rule pack, from the models of a rule and its examples.

https://json-schema.org/draft/2020-12/schema. Editors for TOML find it by a line ``#:schema ./pack.schema.json`` at the
head of a pack.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, create_model

from ..sections.checker import Generator, Strict, checker
from .example import Example
from .ops import OPERATORS
from .rule import ID, Pack, Rule


def schema() -> dict[str, Any]:
    """The schema of a whole pack, as JSON values."""
    shown: Any = Field([], description="cases of which the verdict is known; at least one fails and one passes")
    rule: Any = create_model("Rule", __base__=checker(Rule), __doc__=Rule.__doc__, example=(list[Example], shown))
    rules: Any = (list[rule], Field(description=Pack.fields["rule"].description, min_length=1))
    pack = create_model("Pack", __base__=Strict, __doc__=Pack.__doc__, rule=rules)
    body = pack.model_json_schema(schema_generator=Generator)
    body["$defs"]["Rule"]["properties"]["id"]["pattern"] = f"^{ID.pattern}$"
    body["$defs"]["Condition"]["properties"]["op"]["enum"] = [*OPERATORS]
    return {"$schema": Generator.schema_dialect, "$id": "urn:hostsnap:pack:1", **body}
