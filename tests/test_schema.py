"""The JSON Schema: snapshots fit it, other files do not, and it carries what the models say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from snapshot import sections, tomlio
from snapshot.schema import schema
from snapshot.sections.base import CpuInts, Model, field

from .document.test_document import TEXT

SCHEMA = schema()


def faults(old: str = "", new: str = "") -> list[str]:
    assert old in TEXT
    table = tomlio.loads(TEXT.replace(old, new, 1) if old else TEXT, "f")
    return [error.message for error in Draft202012Validator(SCHEMA).iter_errors(table)]


def keywords(node: object) -> Iterator[str]:
    """The words of the schema itself, without the names of what it describes."""
    for item in node if isinstance(node, list) else ():
        yield from keywords(item)
    for key, value in node.items() if isinstance(node, dict) else ():
        yield key
        yield from keywords([*value.values()] if key in ("properties", "$defs") else value)


def test_it_is_a_schema_of_json_values() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA
    assert SCHEMA["$id"] == "urn:hostsnap:snapshot:1"
    assert schema() == SCHEMA


def test_a_snapshot_fits() -> None:
    assert faults() == []


@pytest.mark.parametrize(("old", "new"), [
    ("uid = 0", 'uid = "0"'), ('mode = "0666"\n', ""), ('id = "debian"', 'idd = "debian"'),
    ("[os]", "[nosuch]"), ('source = "live"', 'source = "hearsay"'), ("facts = 20\n", ""), ("[os]", "[[os]]"),
])
def test_what_the_models_refuse_does_not_fit(old: str, new: str) -> None:
    assert faults(old, new)


def test_every_section_and_every_field_is_described() -> None:
    assert {"meta", "outcomes", "files", *sections.NAMES} == SCHEMA["properties"].keys()
    for name, model in SCHEMA["$defs"].items():
        assert model["description"], name
        assert model["additionalProperties"] is False
        for key, found in model["properties"].items():
            assert found.get("description"), f"{name}.{key}"


def test_there_is_no_null() -> None:
    assert '"null"' not in json.dumps(SCHEMA)
    assert "description" in set(keywords(SCHEMA))
    assert "default" not in set(keywords(SCHEMA))


@pytest.mark.parametrize(("model", "field", "marks"), [
    ("Link", "speed_gts", ["volatile"]), ("Link", "width", None), ("Function", "serial", ["identity"]),
    ("FileFact", "mtime", ["evidence"]),
])
def test_marks_are_kept(model: str, field: str, marks: list[str] | None) -> None:
    found: dict[str, Any] = SCHEMA["$defs"][model]["properties"][field]
    assert found.get("x-hostsnap-marks") == marks


def test_per_cpu_tables_name_the_type_of_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    class Governor(Model):
        """Of each CPU."""

        max_khz: CpuInts = field(description="highest frequency")

    monkeypatch.setattr("snapshot.schema.NAMES", ("governor",))
    monkeypatch.setattr("snapshot.schema.model", lambda _: Governor)
    found = schema()["$defs"]["Governor"]["properties"]["max_khz"]
    assert found["x-hostsnap-per-cpu"] == "int"
    assert found["additionalProperties"] == {"type": "string"}
