"""One file a section: the pydantic model of what is recorded, with its marks. Imports nothing of ours but errors.

To add a section: write ``sections/NAME.py`` with a model class named like the section (``pci`` -> ``Pci``),
``collectors/NAME.py`` of the same name, and add the word to NAMES; order here is order in reports.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .base import Model

NAMES = (
    "os", "firmware", "kernel", "boot", "cmdline", "modules", "dkms", "packages", "sysctl", "cpu", "cpufreq", "cpuidle",
    "memory", "irq", "power", "pci", "iommu", "nvidia", "amdgpu", "devices", "net", "rdma", "storage", "lxc", "qemu",
    "runtimes", "units", "bench",
)


@cache
def model(name: str) -> type[Model]:
    """The model class of section NAME, imported when asked for. KeyError when there is no such section."""
    if name not in NAMES:
        raise KeyError(name)
    found: type[Model] = getattr(import_module(f".{name}", __name__), name.capitalize())
    return found
