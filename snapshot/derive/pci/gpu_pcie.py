"""What PCI Express gives each GPU: the window into its memory, and its link at full clocks, from pci, nvidia, amdgpu.

PCI Express Base, "Resizable BAR Extended Capability". The window is BAR 1 on NVIDIA's GPUs, BAR 0 on AMD's
(amdgpu_device_resize_fb_bar() in drivers/gpu/drm/amd/amdgpu/amdgpu_device.c) and BAR 2 on Intel's (GEN12_LMEM_BAR in
drivers/gpu/drm/i915/intel_pci_config.h). A GPU without the capability cannot have a larger one, so its window is not
``small`` whatever its memory. Without the driver's word on the memory only the size that GPUs have had since before
the capability, 256 MiB, counts as small.

Idle GPUs lower the speed of the link, so that it counts at P0 alone. nvidia-smi tells both at one moment; the registers
are read earlier, and nvidia-smi itself can wake the GPU in between.

Row keys, by PCI address; a key without a value is missing:
    address, name, vendor, driver
    bar            number of the BAR that shows the memory
    bar_bytes      its size
    offered_bytes  the largest size that the GPU offers for it; missing on one that cannot resize
    memory_bytes   the GPU's memory, as its driver tells it
    small          less than the memory, though the GPU offers more
    before_bytes   bar_bytes of the same GPU before, by the diff's pairing
    shrunk         bar_bytes is less than before_bytes
    performance_state, max_generation   of an NVIDIA GPU, as nvidia-smi tells them; max: what GPU and port both can
    slow_generation   the generation that the link runs at, where that is less than max_generation at P0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..facts import Derived
from ..gpus.gpu_layers import NVIDIA, Gpu, gpus_of
from .pci_tree import AMD, moved, unread

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

INTEL = "8086"
BARS = {NVIDIA: "1", AMD: "0", INTEL: "2"}
LEGACY_BYTES = 256 << 20
Row = dict[str, Any]


def gpu_pcie(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each GPU of AFTER that has its window; unknown where its size, or what it could be, was not read."""
    if fact := after.unread("pci", ("functions",)):
        return Derived({}, [_gap("", fact)])
    found = _rows(after)
    then = _rows(before).rows if before else {}
    for address, old in moved(before, after).items():
        if address in found.rows and "bar_bytes" in then.get(old, {}):
            size = then[old]["bar_bytes"]
            found.rows[address] |= {"before_bytes": size, "shrunk": found.rows[address]["bar_bytes"] < size}
    return found


def _rows(snapshot: Snapshot) -> Derived:
    found = Derived()
    for address, gpu in gpus_of(snapshot).items():
        bar = BARS.get(str(gpu.function.get("vendor")))
        if bar is None:
            continue
        row = _window(gpu, bar)
        if fact := _unknown(snapshot, address, row):
            found.unknown.append(_gap(address, fact))
        elif "bar_bytes" in row:
            told = {key: gpu.function.get(key) for key in ("name", "vendor", "driver")}
            row = {"address": address, **told, **row, **_link(gpu)}
            found.rows[address] = {key: value for key, value in row.items() if value is not None}
    return found


def _gap(subject: str, fact: UnreadFact) -> Row:
    what = "size of the BAR that shows the GPU's memory"
    return {"subject": subject, "what": what, "source": fact.source, "why": fact.why}


def _window(gpu: Gpu, bar: str) -> Row:
    """The BAR: its size, what it could be, what it has to show."""
    resizable = gpu.function.get("resizable_bars", {}).get(bar, {})
    state = gpu.told.get("state", {})
    size = resizable.get("size_bytes") or gpu.function.get("bars", {}).get(bar, {}).get("size_bytes")
    memory = state.get("memory_bytes") or gpu.told.get("vram_bytes")
    offered = max(resizable.get("supported_bytes", ()), default=None)
    row = {"bar": bar, "bar_bytes": size or state.get("bar1_bytes"), "offered_bytes": offered, "memory_bytes": memory}
    row = {key: value for key, value in row.items() if value is not None}
    if "bar_bytes" in row:
        wanted = memory or LEGACY_BYTES + 1
        row["small"] = row["bar_bytes"] < min(offered or 0, wanted)
    return row


def _unknown(snapshot: Snapshot, address: str, row: Row) -> UnreadFact | None:
    """Why nothing can be said of the window: its size, or what it could be, was not read."""
    if "bar_bytes" not in row:
        return unread(snapshot, address, "bars")
    if "offered_bytes" in row or row["bar_bytes"] >= row.get("memory_bytes", float("inf")):
        return None
    return unread(snapshot, address, "resizable_bars")


def _link(gpu: Gpu) -> Row:
    state = gpu.told.get("state", {})
    told = state.get("pcie", {})
    now, most, performance = told.get("generation"), told.get("max_generation"), state.get("performance_state")
    slow = performance == "P0" and None not in (now, most) and now < most
    return {"performance_state": performance, "max_generation": most, "slow_generation": now if slow else None}
