"""Which of NVIDIA's two kernel modules the GPUs of a host need, from sections pci and nvidia.

https://developer.nvidia.com/blog/nvidia-transitions-fully-towards-open-source-gpu-kernel-modules/: Grace Hopper and
Blackwell run with the open modules alone, Maxwell, Pascal and Volta with the proprietary ones alone, Turing to Hopper
with either. A driver of the wrong flavour finds no GPU, so nvidia-smi cannot tell the architecture then: the chip's
code name in pci.ids does (GB202GL is Blackwell, GP102 Pascal).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from ...regexes import regex
from .gpu_layers import NVIDIA, Gpu, gpus_of

if TYPE_CHECKING:
    from ...document import Snapshot

Flavour = Literal["open", "proprietary"]
ARCHITECTURES: dict[Flavour, tuple[str, ...]] = {
    "open": ("Blackwell",), "proprietary": ("Kepler", "Maxwell", "Pascal", "Volta"),
}
CHIPS: dict[Flavour, re.Pattern[str]] = {
    "open": regex(r"\bGB[12][0-9A-F]{2}|Blackwell"), "proprietary": regex(r"\bG[KMPV][0-9]{3}"),
}


def wanted_flavour(snapshot: Snapshot) -> tuple[Flavour, list[str]] | None:
    """The flavour without which a GPU does not work, and the names of such GPUs; None: any, or no one drives all."""
    found: dict[Flavour, set[str]] = {}
    for gpu in gpus_of(snapshot).values():
        for flavour in _needed(gpu):
            found.setdefault(flavour, set()).add(str(gpu.told.get("name") or gpu.function.get("name") or gpu.address))
    return next(((flavour, sorted(names)) for flavour, names in found.items()), None) if len(found) == 1 else None


def _needed(gpu: Gpu) -> Iterator[Flavour]:
    """The flavour that one GPU needs, if any."""
    if gpu.function.get("vendor") != NVIDIA:
        return
    architecture = gpu.told.get("state", {}).get("architecture")
    names = " ".join(filter(None, (gpu.told.get("name"), gpu.function.get("name"))))
    for flavour, words in ARCHITECTURES.items():
        if architecture in words if architecture else CHIPS[flavour].search(names):
            yield flavour
