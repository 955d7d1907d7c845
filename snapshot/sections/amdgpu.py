"""The amdgpu driver, its GPUs, and ROCm.

A file that a kind of GPU or a kernel does not have is a fact that is missing.
"""

from typing import Annotated

from .base import IDENTITY, Model, Private, field


class Gpu(Model):
    """A GPU that amdgpu has bound."""

    unique_id: Annotated[str | None, IDENTITY, Private("serial")] = field(
        default=None, description="of the chip, 16 hex digits; APUs have none"
    )
    address: str | None = field(default=None, description="PCI address, as in section pci")
    card: str | None = field(default=None, description="name of its display node below /dev/dri")
    render: str | None = field(default=None, description="name of its render node below /dev/dri")
    name: str | None = field(default=None, description="product name; only server cards have one")
    vbios: str | None = field(default=None, description="video BIOS version")
    target: str | None = field(default=None, description="what compilers call its instruction set: gfx942")
    vram_bytes: int | None = field(default=None, description="size of its memory")
    visible_vram_bytes: int | None = field(default=None, description="what the CPU sees of it; less without resizable BAR")
    performance_level: str | None = field(default=None, description="power_dpm_force_performance_level: auto, high, ...")
    power_profile: str | None = field(default=None, description="profile chosen in pp_power_profile_mode")
    power_cap_mw: int | None = field(default=None, description="power limit, mW")
    power_cap_default_mw: int | None = field(default=None, description="power limit after the driver is loaded, mW")
    compute_partition: str | None = field(default=None, description="SPX, DPX, CPX, ...: how many devices it is divided into")
    memory_partition: str | None = field(default=None, description="NPS1, NPS4, ...: how its memory is divided")


class Amdgpu(Model):
    """The amdgpu driver and what stands on it."""

    version: str | None = field(default=None, description="version of the module; that of the kernel's own tree has none")
    parameters: dict[str, int | str] | None = field(default=None, description="module options that change speed or resets")
    kfd: bool | None = field(default=None, description="the compute driver has a node, /dev/kfd's, in /sys/class/kfd")
    rocm: str | None = field(default=None, description="version of /opt/rocm; missing when it is not installed")
    rocm_installed: list[str] | None = field(default=None, description="folders of ROCm releases below /opt, sorted")
    gpus: Annotated[dict[str, Gpu] | None, Private("key")] = field(
        default=None, description="by unique id; by PCI address where there is none"
    )
