"""Importers: one file a benchmark tool, which knows its reports in all their forms.

To add one: ``importers/NAME.py`` (the tool's name, dashes as underscores) with a docstring that says where the form
is described and what is odd about it, ``recognises(text)``: whether this is a report of that tool, told by what no
other writes and never raising, and ``read(text, file)``: the ``Report``; ``ReportError`` with file, line and reason
for what is cut off or not as it must be. Then a line in IMPORTERS, before any that would take its files, and reports
for its tests, made up by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from ..report import Report, bad, few

IMPORTERS: tuple[str, ...] = (  # in the order in which they are asked; those that take anything come last
    "sglang", "vllm", "llama-bench", "nvbandwidth", "p2p-bandwidth-latency", "bandwidth-test", "nccl-tests",
    "hyperfine", "fio", "iperf3", "perftest", "stream", "pytest-benchmark", "pyperf", "google-benchmark", "mlperf",
    "csv", "generic",
)


def read(text: str, file: str, name: str | None = None) -> Report:
    """The report in TEXT, by importer NAME or the first that recognises it. FILE names it in errors.

    ReportError when none does, it is malformed or has more than 100,000 values; KeyError when there is no
    importer NAME.
    """
    if name is not None and name not in IMPORTERS:
        raise KeyError(name)
    for one in (name,) if name else IMPORTERS:
        module = import_module(f".{one.replace('-', '_')}", __name__)
        if name or module.recognises(text):
            report = cast("Callable[[str, str], Report]", module.read)(text, file)
            few(report.values, file)
            return report
    return bad(file, f"no report of a known benchmark; say which it is with --format: {', '.join(IMPORTERS)}")
