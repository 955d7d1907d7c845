"""The recorded roots and pairs in fixtures/, found by folder, and what a take makes of them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from snapshot.capture import take
from snapshot.document import Snapshot
from snapshot.host.recorded import open_host

FIXTURES = Path(__file__).parents[1] / "fixtures"
HOSTS = tuple(sorted(p.name for p in (FIXTURES / "hosts").iterdir() if not p.name.endswith(".md")))
PAIRS = tuple(sorted(p.parent.name for p in FIXTURES.glob("pairs/*/pair.toml")))


@cache
def taken(host: str) -> Snapshot:
    """The snapshot of fixtures/hosts/HOST."""
    machine = open_host(str(FIXTURES / "hosts" / host))
    try:
        return take(machine)
    finally:
        machine.close()


def pair(name: str) -> tuple[Snapshot, Snapshot]:
    """Both snapshots of fixtures/pairs/NAME."""
    sides = tomllib.loads((FIXTURES / "pairs" / name / "pair.toml").read_text())
    return taken(sides["before"]), taken(sides["after"])
