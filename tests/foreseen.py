"""The cases of fixtures/forecasts: a host before a boot that will undo or break something, and after it.

fixtures/README.md describes their form. The two sides are one recorded host, rebooted; what a case edits has to do
something, as in a pair.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from snapshot.document import Snapshot

from .recordings import FIXTURES, SIDES, Draft, edit, taken

FILES = tuple(sorted((FIXTURES / "forecasts").glob("*.toml")))
BOOT = {  # soon after it, before anybody sets anything again
    "before": {"boot_id": "77777777-aaaa-4bbb-8ccc-000000000001", "taken": "2026-12-04T21:40:00Z", "uptime_s": 420_900},
    "after": {"boot_id": "77777777-aaaa-4bbb-8ccc-000000000002", "taken": "2026-12-04T22:30:00Z", "uptime_s": 600},
}
NEEDED = {"id", "title", "edit"}
KINDS = {  # what else a table may have
    "case": {"subject", "baseline", "found", "class", "changed", "meta"},
    "mended": {"meta"},
}


@dataclass(frozen=True)
class Case:
    """What is foreseen, or is not because the boot mends it; and where it stands in a file."""

    file: Path
    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.table['id']}: {self.table['title']}"

    @property
    def table(self) -> dict[str, Any]:
        """What the file says."""
        found: dict[str, Any] = _table(self.file)[self.kind][self.number]
        return found

    @property
    def key(self) -> tuple[str, str]:
        """Rule and subject of what is foreseen."""
        return self.table["id"], self.table["subject"]

    @property
    def found(self) -> tuple[str, str]:
        """Rule and subject of what the comparison finds: the same, where the case names no other."""
        rule, subject = self.table.get("found", self.key)
        return rule, subject

    def sides(self) -> tuple[Snapshot, Snapshot]:
        """The snapshots before and after. ValueError where an edit does nothing."""
        try:
            return _edited(calm(self.file), {key: self.table[key] for key in ("edit", "meta") if key in self.table})
        except (LookupError, TypeError, ValueError) as error:
            raise ValueError(f"{self}: {error}") from error

    def baseline(self) -> Snapshot | None:
        """What the boot left, recorded before anybody set anything; None where the case does without."""
        return calm(self.file)[0] if self.table.get("baseline") else None


def cases(kind: str = "case") -> list[Case]:
    """Every case of KIND. ValueError where one does not have its form."""
    found = []
    for file in FILES:
        for number, table in enumerate(_table(file).get(kind, ())):
            if odd := (table.keys() - KINDS[kind]) ^ NEEDED:
                raise ValueError(f"{file.name}: {table.get('id')}: {', '.join(sorted(odd))}")
            found.append(Case(file, kind, number))
    return found


@cache
def calm(file: Path) -> tuple[Snapshot, Snapshot]:
    """The host that the cases of FILE begin with, before and after a boot: nothing that it needs gets lost."""
    table, host = _table(file), taken(_table(file)["host"])
    given = [{"side": "both", **row} for row in table.get("given", ())]
    return _edited((host, host), {"meta": BOOT, "edit": given})


def still(snapshot: Snapshot) -> Snapshot:
    """SNAPSHOT as if a boot had changed nothing."""
    return _edited((snapshot, snapshot), {"meta": {"after": BOOT["after"]}})[1]


def _edited(sides: tuple[Snapshot, Snapshot], table: dict[str, Any]) -> tuple[Snapshot, Snapshot]:
    drafts = dict(zip(SIDES["both"], map(Draft, sides), strict=True))
    edit(drafts, table)
    before, after = (draft.snapshot() for draft in drafts.values())
    return before, after


@cache
def _table(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))
