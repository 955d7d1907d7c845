"""The list of the rules, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..engine.rule import Rule
from .paper import shown


def render_json(rules: Sequence[Rule], disabled: Sequence[str]) -> str:
    """The rules as a JSON object {rules: [{id, severity, scope, title, needs}], disabled: [id]}."""
    fields = ("id", "severity", "scope", "title", "needs")
    table = {"rules": [{name: getattr(rule, name) for name in fields} for rule in rules], "disabled": [*disabled]}
    return json.dumps(table, indent=2) + "\n"


def render_table(rules: Sequence[Rule], disabled: Sequence[str]) -> str:
    """One line a rule, then the ids of those that snap.toml disables."""
    rows = [("ID", "SEVERITY", "SCOPE", "TITLE"), *((r.id, r.severity, r.scope, r.title) for r in rules)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines += [f"disabled: {', '.join(disabled)}"] if disabled else []
    return "".join(f"{shown(line)}\n" for line in lines)
