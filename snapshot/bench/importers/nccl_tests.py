"""Reports of nccl-tests, which measure collectives of NCCL (and, as rccl-tests, of RCCL): text, and JSON of ``-J``.

github.com/NVIDIA/nccl-tests: src/util.cu, doc/PERFORMANCE.md. Of small sizes the time is kept, of large ones the bus
bandwidth, which is size by time, times a factor of the collective. The average over all sizes means something only
beside the same sizes. Names of hosts are counted and dropped, and PCI addresses with them when there are several hosts:
runs on other hosts have to be told apart by the user. Versions before 2.17 do not name the collective: it is taken
from a command line in the same text, else from the ratio of the two bandwidths.
"""

from __future__ import annotations

import re

from ..report import Report, bad
from . import nccl_json, nccl_text
from .entries import mentions
from .printed import objects


def recognises(text: str) -> bool:
    """Whether the head of a run is there, or the keys of one."""
    return _is_json(text) or any(
        nccl_text.OPTIONS.match(line) for line in text.splitlines() if line.startswith("# nThread"))


def _is_json(text: str) -> bool:
    return mentions(text, "nccl_version", "results", "config")


def read(text: str, file: str) -> Report:
    """The values of all runs in TEXT. ReportError when there is no run, or a row is not as it must be."""
    if _is_json(text):
        found = [nccl_json.run(one) for one in objects(text, file)]
        version = None
    else:
        found = nccl_text.runs(text, file)
        said = re.search(r"^# nccl-tests version (\S+)", text, re.MULTILINE)
        version = said[1] if said else None
    if not found:
        bad(file, "no head of a run: # nThread ... nGpus ...")
    return Report(tool="nccl-tests", format="json" if _is_json(text) else "text", version=version,
                  values=[value for run in found for value in run.values()])
