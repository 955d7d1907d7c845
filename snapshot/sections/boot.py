"""What starts the kernel: the loader, its entries, and which of them comes next."""

from typing import Annotated

from .base import EVIDENCE, Model, Origin, Private, field


class Variable(Model):
    """An assignment of /etc/default/grub; later files win, += and $NAME are resolved where they are plain."""

    value: str | None = field(
        default=None, description="value, secrets replaced; missing when the shell has to run to know it (see unparsed)"
    )
    unparsed: str | None = field(default=None, description="what stands behind =, when only a shell can tell the value")
    origin: Annotated[Origin, EVIDENCE] = field(description="the line that counts")


class Entry(Model):
    """One entry of the loader's menu that starts a Linux kernel."""

    title: str | None = field(default=None, description="as the menu shows it, below its submenus, joined by >")
    kernel: str | None = field(default=None, description="release, from the name of the image; missing when that has none")
    linux: Annotated[str, EVIDENCE] = field(description="path of the image, as the loader sees it")
    initrds: Annotated[list[str] | None, EVIDENCE] = field(default=None, description="paths of the initial RAM disks, in order")
    words: list[str] | None = field(default=None, description="words of the kernel command line, in order, secrets replaced")
    recovery: bool | None = field(default=None, description="true: starts single-user or a rescue target")
    origin: Annotated[Origin, EVIDENCE] = field(description="line of the kernel command line")


class Menu(Model):
    """What one loader offers: its file, or its folder of entries."""

    default: str | None = field(default=None, description="what the configuration takes when nothing else is asked for")
    once: str | None = field(default=None, description="what grubenv asks for at the next boot only")
    entries: dict[str, Entry] = field(description="by id, else by title")


class Esp(Model):
    """An EFI system partition, or a /boot of the loader's own."""

    mounted: str | None = field(default=None, description="mount point; missing while it is not mounted")
    configured: bool | None = field(default=None, description="true: in /etc/kernel/proxmox-boot-uuids")
    present: bool | None = field(default=None, description="whether there is a file system with this UUID")
    initrds: dict[str, int] | None = field(
        default=None, description="sizes of initial RAM disks in EFI/proxmox, bytes, by release; missing while not mounted"
    )


class Proxmox(Model):
    """The files of proxmox-boot-tool."""

    pin: str | None = field(default=None, description="kernel of every boot, /etc/kernel/proxmox-boot-pin")
    next_boot_pin: str | None = field(default=None, description="kernel of the next boot only, /etc/kernel/next-boot-pin")
    manual_kernels: list[str] | None = field(default=None, description="kernels kept by hand, sorted")


class Configured(Model):
    """The command line as a configuration file has it; it counts once the loader's entries are written again."""

    words: list[str] = field(description="words in order, secrets replaced")
    used: bool | None = field(
        default=None, description="whether entries of this host are made from it; missing when that cannot be told"
    )
    unused_lines: int | None = field(default=None, description="further lines with words, which are not read")
    origins: Annotated[list[Origin], EVIDENCE] = field(description="lines that it comes from")


class Choice(Model):
    """Which kernel comes, and what decides so."""

    kernel: str | None = field(default=None, description="release")
    entry: str | None = field(default=None, description="id (or title) of the entry; missing when the entries cannot be seen")
    menu: Annotated[str | None, EVIDENCE] = field(default=None, description="which menu has the entry")
    by: Annotated[str, EVIDENCE] = field(description="what decides")


class Boot(Model):
    """Boot loader and kernels, from files; a file system that is not mounted is not looked into."""

    loader: str | None = field(default=None, description="loader that started this kernel: grub or systemd-boot")
    loader_info: str | None = field(default=None, description="what the loader calls itself, the variable LoaderInfo")
    grub: dict[str, Variable] | None = field(default=None, description="GRUB_* of /etc/default/grub and grub.d, by name")
    grub_env: dict[str, str] | None = field(
        default=None, description="of the grubenv file: saved_entry, next_entry, prev_saved_entry, kernelopts"
    )
    proxmox: Proxmox | None = field(default=None, description="missing when proxmox-boot-tool has no file here")
    esps: Annotated[dict[str, Esp] | None, Private("esp")] = field(default=None, description="by UUID of the file system, by mount point without one")
    configured: dict[str, Configured] | None = field(
        default=None, description="configured command lines: default-grub and kernel-cmdline (/etc/kernel/cmdline)"
    )
    menus: dict[str, Menu] | None = field(
        default=None, description="by grub.cfg or folder of entries; an ESP's by its UUID (or mount point) and the path there"
    )
    default: Choice | None = field(default=None, description="what is started when nobody asks for another")
    next: Choice | None = field(default=None, description="what the next boot starts: default, or what was asked for once")
