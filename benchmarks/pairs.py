"""Pairs of snapshots of any size that differ in 30 facts: python -m benchmarks.pairs FOLDER BYTES...

They are made of a recorded host: more PCI functions and sysctl values of its own kind until the size is reached. Beside
each pair lie the same two as JSON, for tools that know no TOML.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from snapshot import sections, tomlio
from snapshot.capture import take
from snapshot.document import Meta, Outcome, Snapshot
from snapshot.host.recorded import open_host

HOST = Path(__file__).parents[1] / "fixtures" / "hosts" / "pve-bare.tar.xz"
CHANGES = 30
Tables = dict[str, dict[str, Any]]


def write(folder: Path, size: int) -> tuple[Path, Path]:
    """Before and after of about SIZE bytes in FOLDER, as .snap.toml and as .json."""
    taken = _recorded()
    tables = {name: json.loads(json.dumps(taken.table(name))) for name in taken.outcomes}
    _grow(tables, size - len(taken.dumps()))
    before = _built(taken, tables)
    _change(tables)
    after = _built(taken, tables)
    return _save(folder, "before", before), _save(folder, "after", after)


def _recorded() -> Snapshot:
    host = open_host(str(HOST))
    try:
        return take(host)
    finally:
        host.close()


def _grow(tables: Tables, missing: int) -> None:
    """Half of what is missing as PCI functions, half as sysctl values; what is too much, as sysctl values less."""
    values, functions = tables["sysctl"]["values"], tables["pci"]["functions"]
    if missing < 0:
        for key in [*values][: -missing // 40]:
            del values[key]
        return
    models = [*functions.items()]
    for n in range(missing // 2 // 800):
        address, function = models[n % len(models)]
        moved = {key: value for key, value in function.items() if key not in ("serial", "path", "bridges")}
        functions[f"{n // len(models) + 1:04x}{address[4:]}"] = moved
    values |= {f"net.ipv4.conf.eth{n}.param_{n % 40}": n for n in range(missing // 2 // 40)}


def _change(tables: Tables) -> None:
    """Other values of 30 facts, spread over the table."""
    values = tables["sysctl"]["values"]
    numbers = [key for key, value in values.items() if isinstance(value, int)]
    for key in numbers[:: len(numbers) // CHANGES][:CHANGES]:
        values[key] += 1


def _built(taken: Snapshot, tables: Tables) -> Snapshot:
    models = {name: sections.model(name).model_validate(table) for name, table in tables.items()
              if taken.section(name) is not None}
    outcomes: dict[str, Outcome] = dict(taken.outcomes)
    meta: Meta = taken.meta
    return Snapshot.build(meta, outcomes, taken.files, models)


def _save(folder: Path, name: str, snapshot: Snapshot) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.snap.toml"
    snapshot.save(str(path))
    (folder / f"{name}.json").write_text(json.dumps(tomlio.loads(path.read_bytes(), str(path)), default=str))
    return path


if __name__ == "__main__":
    for size in map(int, sys.argv[2:]):
        write(Path(sys.argv[1]) / str(size), size)
