"""Kernel modules that DKMS builds, for which kernels."""

from typing import Annotated, Literal

from .base import EVIDENCE, Model, field


class Build(Model):
    """What DKMS built of one version for one kernel."""

    state: Literal["built", "installed", "installed-weak"] = field(
        description="as dkms status says it: only an installed one is loaded by modprobe"
    )
    weak_from: str | None = field(default=None, description="of a weak one: kernel that it was built for")
    modules: list[str] | None = field(
        default=None, description="files of the built modules, without .ko and compression; unknown from dkms status"
    )
    original_saved: bool | None = field(
        default=None, description="true when a module of the kernel package was set aside for it"
    )
    missing: bool | None = field(
        default=None, description="true when a module of an installed build is nowhere in the kernel's module folder"
    )
    differs: bool | None = field(
        default=None, description="true when the file in the kernel's module folder is not the one that was built"
    )


class Version(Model):
    """One version of a module."""

    broken: bool | None = field(
        default=None, description="true when its source link is missing or leads nowhere: it cannot be built"
    )
    source: Annotated[str | None, EVIDENCE] = field(default=None, description="target of its source link")
    autoinstall: bool | None = field(
        default=None, description="AUTOINSTALL of its dkms.conf: whether a new kernel gets it built when installed"
    )
    limits: dict[str, str] | None = field(
        default=None, description="BUILD_EXCLUSIVE_* of its dkms.conf, as written: kernels that it is not built for"
    )
    failed_for: str | None = field(
        default=None, description="kernel of the make.log in its build folder, which stays when a build fails"
    )
    builds: dict[str, dict[str, Build]] | None = field(
        default=None, description="by kernel release, then architecture; none when it is only added"
    )


class Module(Model):
    """One module by its DKMS name."""

    versions: dict[str, Version] = field(description="by version")


class Dkms(Model):
    """The tree of DKMS, /var/lib/dkms."""

    modules: dict[str, Module] | None = field(default=None, description="by name, as dkms.conf calls it")
