"""Measurements, from nothing: a take reads and runs no benchmark, importers add what was measured.

An empty table is the truth about a fresh snapshot: no measurement belongs to it, and that is known.
"""

from __future__ import annotations

from ..sections.bench import Bench
from .base import Reading, Reads

READS = Reads()


def collect(reading: Reading) -> Bench:  # noqa: ARG001 - the form of every collector
    """The empty section."""
    return Bench(measurements={})
