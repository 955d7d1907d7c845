"""Measurements of a workload on this host, as benchmark tools reported them."""

from __future__ import annotations

from typing import Annotated, Literal

from .base import EVIDENCE, Model, field


class Source(Model):
    """The tool that measured, and the form of its report."""

    tool: str = field(description="name of the benchmark: llama-bench, nccl-tests, ...")
    version: str | None = field(default=None, description="version or commit of the tool, as it says it")
    format: str = field(description="form of the report that was read: json, text, csv, ...")


class Measurement(Model):
    """One metric of one workload; several runs of it are its samples."""

    metric: str = field(description="name of what is measured: output_throughput, mean_tpot, busbw, ...")
    unit: str = field(description="unit of the samples: tok/s, ms, GB/s, ...")
    better: Literal["higher", "lower"] = field(description="which direction is the better one")
    workload: dict[str, str] = field(
        description="what makes two measurements comparable, name -> value: model, concurrency, size, ..."
    )
    samples: list[float] = field(description="one value a run, in the order of the runs, in UNIT")
    status: Literal["ok", "failed", "waived", "partial"] = field(
        description="partial: some runs gave no value; waived: not run, by decision"
    )
    why: str | None = field(default=None, description="what is wrong, of a status that is not ok")
    source: Source = field(description="who measured")
    devices: list[str] | None = field(default=None, description="identities of the devices that took part, sorted (GPU UUIDs)")
    files: Annotated[list[str] | None, EVIDENCE] = field(default=None, description="names of the reports read, sorted")


class Bench(Model):
    """Measurements by id; empty until some are added: a take measures nothing."""

    measurements: dict[str, Measurement] = field(
        description="by id: tool/metric and a hash of the workload, the same for every run of it"
    )
