"""What a kernel was built to do by default, from its build configuration: /boot/config-RELEASE.

Kconfig files of the kernel: kernel/Kconfig.hz, kernel/Kconfig.preempt, init/Kconfig (NUMA_BALANCING_DEFAULT_ENABLED),
drivers/cpufreq/Kconfig and Kconfig.x86, drivers/iommu/Kconfig, mm/Kconfig, drivers/pci/pcie/Kconfig. Of a choice one
option is y. Of some hundred thousand bytes a dozen lines count.
"""

from __future__ import annotations

import re

from ..regexes import regex
from .preempt import built_mode, options

LIMIT = 4 << 20
_LINE = regex(
    rb"^CONFIG_(HZ|X86_AMD_PSTATE_DEFAULT_MODE)=([0-9]{1,5})$"
    rb"|^CONFIG_(CPU_FREQ_DEFAULT_GOV_|IOMMU_DEFAULT_|TRANSPARENT_HUGEPAGE_|PCIEASPM_)([A-Z_]+)=y$"
    rb"|^(?:# )?CONFIG_(NUMA_BALANCING_DEFAULT_ENABLED)(=y| is not set)$",
    re.MULTILINE,
)
_NAMES = {
    "HZ": "hz", "X86_AMD_PSTATE_DEFAULT_MODE": "amd_pstate", "CPU_FREQ_DEFAULT_GOV_": "governor",
    "IOMMU_DEFAULT_": "iommu", "TRANSPARENT_HUGEPAGE_": "thp", "PCIEASPM_": "aspm",
    "NUMA_BALANCING_DEFAULT_ENABLED": "numa_balancing",
}
_CHOICES = {
    "thp": ("always", "madvise", "never"), "aspm": ("default", "powersave", "power_supersave", "performance"),
    "iommu": ("dma_strict", "dma_lazy", "passthrough"),
}


def parse(data: bytes) -> dict[str, str]:
    """By name what DATA says: hz, preempt, numa_balancing, governor, iommu, thp, aspm, amd_pstate.

    Values are numbers, y or n, or the word of the choice in lower case. What DATA does not say is left out.
    """
    found: dict[str, str] = {}
    for number, digits, choice, word, switch, state in _LINE.findall(data):
        name = _NAMES[(number or choice or switch).decode()]
        value = digits.decode() or word.decode().lower() or ("y" if state == b"=y" else "n")
        if not choice or value in _CHOICES.get(name, (value,)):
            found[name] = value
    if mode := built_mode(options(data)):
        found["preempt"] = mode
    return dict(sorted(found.items()))
