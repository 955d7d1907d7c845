"""The IOMMU: whether it translates, what it isolates.

Numbers of groups differ from boot to boot (a PCI function has its own in the section pci), so a group is known by the
first of its devices.
"""

from .base import Model, field


class Iommu(Model):
    """/sys/class/iommu and /sys/kernel/iommu_groups."""

    enabled: bool | None = field(default=None, description="an IOMMU driver runs; with iommu=pt too")
    units: list[str] | None = field(
        default=None, description="hardware units: ivhd* of AMD, dmar* of Intel, smmu3*; sorted"
    )
    types: list[str] | None = field(
        default=None, description="types that groups have, sorted: identity (passthrough), DMA (strict), DMA-FQ (lazy)"
    )
    groups: dict[str, str] | None = field(
        default=None, description="first device of a group -> type of its default domain"
    )
    shared: dict[str, list[str]] | None = field(
        default=None, description="first device of a group -> the other devices in it, sorted; of groups of several"
    )
    interrupt_remapping: bool | None = field(
        default=None, description="the I/O APICs' interrupts are remapped; missing where there are none"
    )
    unsafe_interrupts: bool | None = field(default=None, description="vfio_iommu_type1.allow_unsafe_interrupts")
    unsafe_noiommu: bool | None = field(default=None, description="vfio.enable_unsafe_noiommu_mode")
    build_defaults: dict[str, list[str]] | None = field(
        default=None, description="release of an installed kernel -> build options that decide the default, without"
        " CONFIG_, sorted"
    )
