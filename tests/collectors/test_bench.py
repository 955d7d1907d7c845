"""The section of measurements: empty, and known to be."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from snapshot.collectors import bench
from snapshot.sections.bench import Bench

from .fake import MemoryHost, gather

ONE = {
    "metric": "tg128", "unit": "tok/s", "better": "higher", "workload": {"model": "glm", "concurrency": "1"},
    "samples": [10.3, 10.36], "status": "ok", "source": {"tool": "llama-bench", "format": "jsonl"},
}


def test_a_take_has_no_measurements_and_knows_it() -> None:
    model, reading = gather(bench, MemoryHost())
    assert (model.table(), reading.unreads) == ({"measurements": {}}, [])


def test_a_measurement_survives_a_round_trip() -> None:
    table = {"measurements": {"llama-bench/tg128/1f": ONE}}
    assert Bench.model_validate(table).table() == table


@pytest.mark.parametrize("bad", [
    {"better": "more"}, {"status": "good"}, {"samples": ["10"]}, {"source": {"tool": "x"}}, {"workload": {"n": 1}},
])
def test_what_makes_no_measurement_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Bench.model_validate({"measurements": {"x": {**ONE, **bad}}})
