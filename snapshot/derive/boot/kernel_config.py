"""Defaults that the running kernel was built with, and what stands above them: from sections kernel, cmdline, sysctl.

Documentation/admin-guide/kernel-parameters.txt. A word of the command line, or for NUMA balancing a line of sysctl.d,
decides instead of the default.

Row keys, by option; a key without a value is missing:
    option           hz, preempt, numa_balancing, governor, iommu, thp, aspm or amd_pstate
    words            what it is called
    value            the default
    release          the kernel
    instead          the word of the command line, or the file, that decides
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..facts import Derived
from ..tunables.tunable_words import pair

if TYPE_CHECKING:
    from ...document import Snapshot

WORDS = {
    "hz": "timer frequency (HZ)", "preempt": "preemption model", "numa_balancing": "NUMA balancing",
    "governor": "cpufreq governor", "iommu": "IOMMU mode", "thp": "transparent huge pages", "aspm": "ASPM policy",
    "amd_pstate": "amd_pstate mode",
}
DECIDING = {
    "preempt": ("preempt",), "numa_balancing": ("numa_balancing",), "governor": ("cpufreq.default_governor",),
    "iommu": ("iommu", "amd_iommu", "intel_iommu", "iommu.passthrough", "iommu.strict"),
    "thp": ("transparent_hugepage",), "aspm": ("pcie_aspm", "pcie_aspm.policy"), "amd_pstate": ("amd_pstate",),
}
SYSCTL = "kernel.numa_balancing"


def kernel_config(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each default of the running kernel that is known; BEFORE adds nothing."""
    del before
    kernel = after.table("kernel")
    release = kernel.get("release") or after.meta.kernel
    if release is None:
        return Derived()
    path = ("installed", release, "config")
    if fact := after.unread("kernel", path):
        what = "what the kernel was built to do"
        return Derived({}, [{"subject": "", "what": what, "source": fact.source, "why": fact.why}])
    config = kernel.get("installed", {}).get(release, {}).get("config", {})
    return Derived({option: _row(after, option, value, release) for option, value in config.items() if option in WORDS})


def _row(snapshot: Snapshot, option: str, value: str, release: str) -> dict[str, Any]:
    tokens = snapshot.table("cmdline").get("tokens", ())
    instead = next((word for word in tokens if pair(word)[0] in DECIDING.get(option, ())), None)
    if option == "numa_balancing" and not instead:
        setting = snapshot.table("sysctl").get("settings", {}).get(SYSCTL, {}).get("systemd")
        instead = setting and setting["origin"]["file"]
    row = {"option": option, "words": WORDS[option], "value": value, "release": release, "instead": instead}
    return {key: told for key, told in row.items() if told is not None}
