"""Which metrics a workload is run for: those that the importer says; of a tool of which it says none, all."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ...sections.bench import Measured


def declared(measured: Iterable[Measured]) -> set[str]:
    """The tools of which some metrics are said to be primary."""
    return {one.source.tool for one in measured if one.primary}


def is_primary(measured: Measured, tools: Collection[str]) -> bool:
    """Whether a metric is primary; TOOLS as ``declared`` tells them."""
    return bool(measured.primary) or measured.source.tool not in tools
