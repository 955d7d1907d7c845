"""The synthetic EPYC host with the files of some parts on it."""

from __future__ import annotations

from types import ModuleType

from fixtures import epyc

from .fake import MemoryHost


def planted(part: ModuleType, kernel: str, *more: ModuleType) -> MemoryHost:
    """The host under KERNEL with what PART plants, and then what MORE do."""
    host = epyc.host(kernel)
    files, links, nodes, results = dict(host.files), dict(host.links), dict(host.nodes), dict(host.results)
    for one in (part, *more):
        one.plant(kernel, files, links, nodes, results)
    return MemoryHost(files, links, nodes, results, host.session)
