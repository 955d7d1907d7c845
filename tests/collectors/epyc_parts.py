"""The synthetic EPYC host with the files of one part on it."""

from __future__ import annotations

from types import ModuleType

from fixtures import epyc

from .fake import MemoryHost


def planted(part: ModuleType, kernel: str) -> MemoryHost:
    """The host under KERNEL with what PART plants."""
    host = epyc.host(kernel)
    files, links, nodes, results = dict(host.files), dict(host.links), dict(host.nodes), dict(host.results)
    part.plant(kernel, files, links, nodes, results)
    return MemoryHost(files, links, nodes, results, host.session)
