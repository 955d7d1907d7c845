"""The running kernel and the installed ones."""

from typing import Annotated

from .base import EVIDENCE, Model, field


class InstalledKernel(Model):
    """What of one kernel release lies on the disk."""

    image: bool = field(description="/boot/vmlinuz-RELEASE is there")
    initrd: bool = field(description="an initrd.img-, initrd- or initramfs- file of RELEASE is in /boot")
    modules: bool = field(description="/lib/modules/RELEASE is there, with modules.dep for modprobe")
    config: dict[str, str] | None = field(
        default=None,
        description="defaults that it was built with, from /boot/config-RELEASE: hz, preempt, numa_balancing, governor,"
        " iommu, thp, aspm, amd_pstate; missing without that file",
    )


class Kernel(Model):
    """The running kernel, from /proc and /sys, and the installed ones, from /boot and /lib/modules."""

    release: str | None = field(default=None, description="uname -r")
    version: str | None = field(default=None, description="uname -v")
    machine: str | None = field(default=None, description="uname -m")
    tainted: int | None = field(default=None, description="/proc/sys/kernel/tainted, a bit mask")
    taints: list[str] | None = field(
        default=None, description="letters of the taint flags that are set, in bit order; bit N when it has none"
    )
    lockdown: str | None = field(
        default=None, description="none, integrity or confidentiality; missing when the kernel has no lockdown"
    )
    preempt: str | None = field(
        default=None,
        description="preemption model: none, voluntary, full, lazy or rt; of a dynamic kernel whose debugfs "
        "cannot be read, the one that it started with",
    )
    clocksource: str | None = field(default=None, description="current clocksource")
    clocksources: list[str] | None = field(default=None, description="available clocksources, best first")
    installed: dict[str, InstalledKernel] | None = field(default=None, description="by release")
    newest: Annotated[str | None, EVIDENCE] = field(
        default=None, description="newest installed release that has an image, by Debian version order"
    )
