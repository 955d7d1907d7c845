"""Measurements of a workload on this host, as benchmark tools reported them.

The unit of replication is the run: one process of the benchmark, from start to end. A measurement has one sample a
run; what repeats inside a run (requests, iterations, tokens, rounds) is its spread, kept apart in ``within``, because
values of one process share its start, its memory layout and its clocks, and so say nothing about the next run.
"""

import math
from typing import Annotated, Literal

from .base import EVIDENCE, Model, Private, field

Better = Literal["higher", "lower"]
Status = Literal["ok", "failed", "waived", "partial"]
KINDS: dict[str, str] = {
    "serving-low": "tokens per second and time per token of a served model at low concurrency: latency decides",
    "serving-high": "the same at high concurrency: bandwidth, power and memory decide",
    "first-token": "time to first token, and prefill",
    "gpu": "computation on one GPU",
    "p2p-bandwidth": "copies from GPU to GPU",
    "p2p-latency": "small copies from GPU to GPU",
    "host-device": "copies between host memory and a GPU",
    "collectives": "NCCL and RCCL within one host",
    "collectives-nodes": "the same between hosts, and other RDMA",
    "memory": "bandwidth of host memory, as STREAM measures it",
    "cpu": "computation on CPUs",
    "storage": "reads and writes of files and drives",
    "network": "TCP and UDP throughput and latency",
}


class Source(Model):
    """The tool that measured, and the form of its report."""

    tool: str = field(description="name of the benchmark: llama-bench, nccl-tests, ...")
    version: str | None = field(default=None, description="version or commit of the tool, as it says it")
    format: str = field(description="form of the report that was read: json, text, csv, ...")


class Within(Model):
    """What one run's repeated values were like, in the unit of the measurement."""

    count: int | None = field(default=None, description="how many values there were")
    min: float | None = field(default=None, description="the smallest")
    median: float | None = field(default=None, description="the one in the middle")
    max: float | None = field(default=None, description="the largest")
    stddev: float | None = field(default=None, description="standard deviation, as the tool computed it")
    values: list[float] | None = field(default=None, description="all of them in order, when there are at most 200")


class Measured(Model):
    """What every measurement says, of one number a run or of a table a run."""

    metric: str = field(description="name of what is measured: output_throughput, mean_tpot, busbw, ...")
    unit: str = field(description="unit of the samples: tok/s, ms, GB/s, ...")
    better: Better = field(description="which direction is the better one")
    kind: str | None = field(default=None, description="what decides it: serving-low, p2p-bandwidth, ...; missing: not known")
    primary: bool | None = field(default=None, description="true: one of the few metrics that the workload is run for")
    minimum_percent: float | None = field(default=None, description="smallest change that matters, percent; missing: 2")
    workload: dict[str, str] = field(
        description="what makes two measurements comparable, name -> value: model, concurrency, size, ..."
    )
    status: Status = field(description="partial: some runs gave no value; waived: not run, by decision")
    why: str | None = field(default=None, description="what is wrong, of a status that is not ok")
    failed: int | None = field(default=None, description="how many runs gave no value; missing: none")
    source: Source = field(description="who measured")
    devices: list[str] | None = field(default=None, description="identities of the devices that took part, sorted: GPU UUIDs, else PCI addresses")
    label: Annotated[str | None, EVIDENCE] = field(default=None, description="what the user called it when adding it")
    files: Annotated[list[str] | None, EVIDENCE] = field(default=None, description="names of the reports read, sorted")

    def _verify(self) -> None:
        if self.kind is not None and self.kind not in KINDS:
            raise ValueError(f"kind: there is no {self.kind!r}: {', '.join(KINDS)}")


class Measurement(Measured):
    """One metric of one workload; several runs of it are its samples."""

    samples: list[float] = field(description="one value a run, in the order of the runs, in UNIT")
    within: list[Within] | None = field(default=None, description="what the values inside each run were like, one entry a sample")

    def _verify(self) -> None:
        super()._verify()
        if self.within is not None and len(self.within) != len(self.samples):
            raise ValueError(f"within: {len(self.samples)} samples need as many entries, not {len(self.within)}")


class Grid(Measured):
    """One metric between all of some devices, such as the bandwidth of copies; several runs of it are its samples."""

    rows: list[str] = field(description="names of the rows: PCI addresses, GPU UUIDs, else what the tool calls them")
    columns: list[str] = field(description="names of the columns")
    samples: list[list[list[float]]] = field(description="one table a run: a list of cells a row, in UNIT; nan where there is none")

    def _verify(self) -> None:
        super()._verify()
        for table in self.samples:
            if len(table) != len(self.rows) or any(len(row) != len(self.columns) for row in table):
                raise ValueError(f"samples: a table needs {len(self.rows)} rows of {len(self.columns)} cells")

    def cells(self) -> dict[tuple[str, str], list[float]]:
        """(row, column) -> one value a run, of those that gave one."""
        return {(row, column): [value for table in self.samples if not math.isnan(value := table[y][x])]
                for y, row in enumerate(self.rows) for x, column in enumerate(self.columns)}


class Bench(Model):
    """Measurements by id; empty until some are added: a take measures nothing."""

    measurements: dict[str, Measurement] = field(
        description="by id: tool/metric and a hash of the workload, the same for every run of it"
    )
    grids: dict[str, Grid] | None = field(default=None, description="likewise, of what is measured between devices")
    reports: Annotated[dict[str, str] | None, EVIDENCE, Private("serial")] = field(
        default=None, description="SHA-256 of each report that was added -> its name: none is added twice"
    )
