"""Whether the NVIDIA driver that is loaded has a GPU at all, from sections nvidia, pci and os.

Module nvidia does not load without a GPU or an NVSwitch: its init function counts GPUs first, says "NVRM: No NVIDIA GPU
found" and fails with ENODEV (kernel-open/nvidia/nv.c, nvidia_init_module, of open-gpu-kernel-modules). So where
it is loaded and there is no NVSwitch there was one. A GPU that vfio-pci has for a guest is on the bus all the same.
nvidia-smi says "No devices were found" then.

One row, "nvidia", where the driver is loaded, the host shows PCI functions and is no container, which may be shown
another bus than the driver's, nor a virtual machine with NVSwitches, which runs the fabric manager for others' GPUs; a
key without a value is missing:
    on_bus     how many GPUs of NVIDIA's there are, whatever driver has them
    switches   how many NVSwitches
    attached   how many GPUs the driver has: those that it or nvidia-smi lists
    said       what nvidia-smi says where it finds none
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..facts import Derived
from ..pci.pci_tree import Table, functions_of
from .driver_versions import nvswitches
from .gpu_layers import NVIDIA

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

NONE = "No devices were found"  # nvidia-smi, exit code 6: NVML_ERROR_NOT_FOUND
CONTAINERS = frozenset(("lxc", "lxc-libvirt", "systemd-nspawn", "docker", "podman", "rkt", "wsl", "proot", "pouch",
                        "openvz", "container-other"))  # systemd-detect-virt(1), as section os says it


def gpu_presence(after: Snapshot, before: Snapshot | None) -> Derived:
    """The row of AFTER; BEFORE adds nothing. Unknown where the bus, or what nvidia-smi finds, was not read."""
    del before
    nvidia, functions = after.table("nvidia"), functions_of(after)
    if not nvidia.get("loaded") or after.table("os").get("virtualization") in CONTAINERS:
        return Derived()
    if fact := after.unread("pci", ("functions",)):
        return _unknown(fact)
    on_bus, switches = sum(map(_gpu, functions.values())), nvswitches(after)
    if switches and after.table("os").get("virtualization") != "none":
        return Derived()
    row: dict[str, Any] = {"on_bus": on_bus, "attached": len(nvidia.get("gpus", {}))}
    row |= {"switches": switches} if switches else {}
    if on_bus or row["attached"] or not functions:
        return Derived({"nvidia": row} if functions else {})
    fact = after.unread("nvidia", ("attached",))
    if fact and NONE not in fact.why:
        return _unknown(fact)
    return Derived({"nvidia": row | ({"said": fact.why} if fact else {"attached": nvidia.get("attached", 0)})})


def _gpu(function: Table) -> bool:
    return function.get("vendor") == NVIDIA and str(function.get("class_code", "03")).startswith("03")


def _unknown(fact: UnreadFact) -> Derived:
    what = "whether the NVIDIA driver has a GPU"
    return Derived({}, [{"subject": "nvidia", "what": what, "source": fact.source, "why": fact.why}])
