"""The page of what is forecast: each fault that is foreseen of one snapshot, and which cases show that it comes.

A case in fixtures/forecasts is a host before a boot and after it: the forecast finds the fault, and the comparison too.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from snapshot import tomlio
from snapshot.engine.packs import shipped

from .rules import UNDETECTED

PAGE = Path(__file__).parent / "forecasts.md"
CASES = Path(__file__).parents[1] / "fixtures" / "forecasts"
HEAD = """\
# What is forecast

`snap forecast` finds these faults before a boot brings them, or the next start of a container. The page is made from
the rules and from the cases in `fixtures/forecasts` (`python -m docs.generate`). A case is a host before a boot and
after it: the forecast has to find the fault, the comparison of the two has to find it too, and nothing else above low
may be forecast that does not come.
"""


def page() -> str:
    """The whole page."""
    told = cases()
    faults = {rule.id: rule.title for rule in shipped() if rule.looks_ahead}
    missing: list[dict[str, str]] = tomlio.loads(UNDETECTED.read_bytes(), str(UNDETECTED)).get("unforeseen", [])
    shown = sum(name in told for name in faults)
    counts = f"{len(faults)} faults are forecast; cases show {shown} of them. Known and not forecast: {len(missing)}."
    rows = [f"| `{name}` | {title} | {'; '.join(told.get(name, ['-']))} |" for name, title in sorted(faults.items())]
    left = [f"| `{one['id']}` | {one['title']} | {one['needs']} |" for one in missing]
    return "\n".join([
        HEAD, counts, "", "| fault | what is forecast | cases |", "|---|---|---|", *rows, "", "## Not forecast", "",
        "| fault | what it is | what is missing |", "|---|---|---|", *left, "",
    ])


@cache
def cases() -> dict[str, list[str]]:
    """What the cases of each fault are about."""
    found: dict[str, list[str]] = {}
    for file in sorted(CASES.glob("*.toml")):
        table: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
        for case in table["case"]:
            found.setdefault(case["id"], []).append(case["title"])
    return found
