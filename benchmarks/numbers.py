"""Benchmark numbers of two sides: 40 metrics of 50 runs each, as snapshots and as files of pyperf."""

from __future__ import annotations

import json
import random
from pathlib import Path

from snapshot.document import Meta, Outcome, Snapshot
from snapshot.sections.bench import Bench, Measurement, Source

METRICS, RUNS = 40, 50
META = {"format": 1, "tool": "0", "host": "bench", "taken": "2026-01-01T00:00:00Z", "uid": 0,
        "capabilities": "000001ffffffffff", "source": "live"}


def write(folder: Path) -> tuple[list[str], list[str]]:
    """The paths of both snapshots, and of both files of pyperf. A tenth of the metrics is slower after."""
    draw = random.Random(1)
    names = [f"metric_{at}" for at in range(METRICS)]
    snapshots, files = [], []
    for side in ("before", "after"):
        slower = {name: 1.1 if side == "after" and not at % 10 else 1.0 for at, name in enumerate(names)}
        values = {name: [slower[name] * draw.gauss(0.1, 0.001) for _ in range(RUNS)] for name in names}
        path = folder / f"{side}.snap.toml"
        _snapshot(values).save(str(path))
        snapshots.append(str(path))
        (folder / f"{side}.pyperf.json").write_text(json.dumps(_pyperf(values)))
        files.append(str(folder / f"{side}.pyperf.json"))
    return snapshots, files


def _snapshot(values: dict[str, list[float]]) -> Snapshot:
    measurements = {
        f"pyperf/{name}/00000000": Measurement(
            metric=name, unit="s", better="lower", kind="cpu", primary=True, workload={"name": name}, status="ok",
            source=Source(tool="pyperf", format="json"), samples=samples)
        for name, samples in values.items()}
    return Snapshot.build(Meta.model_validate(META), {"bench": Outcome(state="ok", facts=0)}, {},
                          {"bench": Bench(measurements=measurements)})


def _pyperf(values: dict[str, list[float]]) -> dict[str, object]:
    """https://pyperf.readthedocs.io, JSON format: one value a run, as a process of its own gave it."""
    return {"version": "1.0", "metadata": {"unit": "second"}, "benchmarks": [
        {"metadata": {"name": name, "loops": 1}, "runs": [{"values": [value]} for value in samples]}
        for name, samples in values.items()]}
