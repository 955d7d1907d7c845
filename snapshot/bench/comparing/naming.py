"""What to call a measurement, and how to write its values: as many digits as tell two apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from ...regexes import regex
from ...sections.bench import Measured

ALWAYS = ("concurrency", "p2p")  # said even where there is one value only: what decides a result depends on it
LONG = 60  # characters of a value
NUMBER = regex(r"[0-9]{1,18}(?:\.[0-9]{1,9})?")


def names(measured: Mapping[str, Measured]) -> dict[str, str]:
    """A name for each id, such as "sglang output_throughput, concurrency 1"."""
    alike: dict[tuple[str, str], list[Measured]] = {}
    for one in measured.values():
        alike.setdefault((one.source.tool, one.metric), []).append(one)
    keys = {kind: _telling(some) for kind, some in alike.items()}
    return {id_: _name(one, keys[one.source.tool, one.metric]) for id_, one in measured.items()}


def by_workload(workload: Mapping[str, str]) -> list[tuple[str, float, str]]:
    """What to sort workloads by: concurrency 2 comes before 10."""
    return [(key, float(value) if NUMBER.fullmatch(value) else math.inf, value)
            for key, value in sorted(workload.items())]


def piece(key: str, value: str) -> str:
    """What a name says of one key of the workload."""
    return f"{key.replace('_', ' ')} {value[:LONG]}"


def _telling(alike: Sequence[Measured]) -> list[str]:
    """The keys of their workloads that tell them apart, and no more: what follows from those before it is left out."""
    kept: list[str] = []
    for key in sorted({key for one in alike for key in one.workload}, key=lambda key: (key not in ALWAYS, key)):
        if key in ALWAYS or _kinds(alike, [*kept, key]) > _kinds(alike, kept):
            kept.append(key)
    return kept


def _kinds(alike: Iterable[Measured], keys: Sequence[str]) -> int:
    return len({tuple(one.workload.get(key) for key in keys) for one in alike})


def _name(one: Measured, keys: Iterable[str]) -> str:
    told = [piece(key, one.workload[key]) for key in keys if key in one.workload]
    return ", ".join([f"{one.source.tool} {one.metric}", *told])


def figures(*values: float) -> list[str]:
    """The values with as many digits after the point as give the largest four in all, and the smallest two."""
    sizes = [abs(value) for value in values if value]
    if sizes and not (min(sizes) >= 1e-4 and max(sizes) < 1e15):
        return [f"{value:.4g}" for value in values]
    small, large = (math.floor(math.log10(size)) for size in (min(sizes), max(sizes))) if sizes else (1, 1)
    return [f"{value:.{max(0, 3 - large, 1 - small)}f}" for value in values]


def percent(value: float) -> str:
    """A size without its sign: 0.58 %, 3.4 %, 12 %."""
    return f"{abs(value):.2g} %" if abs(value) < 99.5 else f"{abs(value):.0f} %"
