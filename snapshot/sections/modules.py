"""Kernel modules: loaded and built-in ones, what configures them, and what each installed kernel has on disk."""

from typing import Annotated

from .base import EVIDENCE, Model, Origin, field


class Module(Model):
    """A module of the running kernel."""

    version: str | None = field(default=None, description="MODULE_VERSION; most of the kernel's own have none")
    srcversion: str | None = field(default=None, description="checksum of its sources, where the build makes one")
    taints: str | None = field(default=None, description="letters of the taints that it brings: P proprietary, O out of tree")
    parameters: dict[str, str] | None = field(
        default=None, description="values now, as the kernel writes them (Y and N, decimal or hex), secrets replaced"
    )


class Assignment(Model):
    """A word that sets one parameter."""

    value: str | None = field(default=None, description="what stands behind =, without quotes; missing for a word without =")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class Option(Model):
    """All that sets one parameter at a load by modprobe; the command line wins over the files."""

    files: Assignment | None = field(default=None, description="the last one of modprobe.d, which wins there")
    cmdline: Assignment | None = field(default=None, description="the last MODULE.PARAMETER= of the running command line")
    overridden: list[Assignment] | None = field(default=None, description="earlier ones, in the order that modprobe reads")


class Entry(Model):
    """A name that a line gives."""

    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands, the first time")


class Blacklisted(Entry):
    """A module whose aliases are ignored; by its own name it can still be loaded."""

    refused: bool | None = field(default=None, description="true: by module_blacklist=, so that the kernel refuses every load")


class Command(Entry):
    """What modprobe runs instead of loading or removing a module; /bin/false and the like keep it out."""

    command: str = field(description="the shell line")


class Softdep(Entry):
    """Modules that modprobe loads with one, if they are there."""

    before: list[str] = field(description="loaded before it, in order")
    after: list[str] = field(description="loaded after it, in order")


class Ignored(Model):
    """A line that does nothing."""

    why: str = field(description="who ignores it, and for what")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class DiskModule(Model):
    """A module file of an installed kernel, as modules.dep names it: the one that modprobe loads."""

    file: str = field(description="path below /lib/modules/RELEASE, compression suffix and all")
    version: str | None = field(default=None, description="MODULE_VERSION")
    srcversion: str | None = field(default=None, description="checksum of its sources, where the build makes one")
    license: str | None = field(default=None, description="MODULE_LICENSE")
    flavour: str | None = field(default=None, description="of an NVIDIA module: open or proprietary, by its license")
    vermagic: str | None = field(default=None, description="the kernel that it was built for, with its options")
    signer: str | None = field(
        default=None, description="common name of the signing certificate's issuer; (unnamed) when it is signed without one"
    )


class Initramfs(Model):
    """The initial RAM disk of an installed kernel, in /boot."""

    file: Annotated[str, EVIDENCE] = field(description="its path")
    changed: Annotated[str, EVIDENCE] = field(description="modification time, UTC")
    stale: list[str] = field(description="configuration and module files that should be in it and are newer, sorted")


class KernelModules(Model):
    """What one installed kernel has of the modules that this host needs."""

    files: dict[str, DiskModule] = field(
        description="by name: NVIDIA's, zfs, amdgpu, mlx5_core. Only the path of nvidia_uvm and the like, which come "
        "with nvidia, and of amdgpu and mlx5_core in the kernel's own tree"
    )
    missing: list[str] = field(
        description="modules that are loaded now or that modules-load.d names, and this kernel has not: neither a "
        "file, nor built in, nor an alias"
    )
    initramfs: Initramfs | None = field(default=None, description="missing when /boot has none for this kernel")


class Modules(Model):
    """Modules of the running kernel, modprobe.d(5), modules-load.d(5), and the files of each installed kernel."""

    loaded: dict[str, Module] | None = field(default=None, description="by name; missing when the kernel can load none")
    builtin: dict[str, Module] | None = field(
        default=None, description="parts of the kernel itself that have parameters or a version, by name"
    )
    options: dict[str, dict[str, Option]] | None = field(
        default=None, description="what sets parameters, by module (or alias) and parameter, - written _"
    )
    blacklist: dict[str, Blacklisted] | None = field(default=None, description="by name, - written _")
    install: dict[str, Command] | None = field(default=None, description="commands in place of a load, by name or pattern")
    remove: dict[str, Command] | None = field(default=None, description="commands in place of a removal, by name or pattern")
    softdeps: dict[str, Softdep] | None = field(default=None, description="by name or pattern")
    aliases: dict[str, list[str]] | None = field(default=None, description="alias (pattern) of modprobe.d -> modules, in order")
    load: dict[str, Entry] | None = field(default=None, description="names that are loaded at boot, as written")
    masked: dict[str, str] | None = field(default=None, description="file that is not read -> the file that hides it")
    ignored: list[Ignored] | None = field(default=None, description="lines that do nothing, in reading order")
    kernels: dict[str, KernelModules] | None = field(
        default=None, description="installed kernels that have modules, by release"
    )
