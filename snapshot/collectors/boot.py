"""Boot loader, its menus and the kernel that comes next, from /boot, /etc, mounted EFI partitions and EFI variables.

Loader tools are not run (proxmox-boot-tool mounts partitions), nothing is mounted, and a partition is only looked into
where /proc/self/mountinfo shows it: /efi and /boot may be automounts. proxmox-boot-tool keeps its ESPs unmounted; then
their entries are unknown, and what comes next is told by its own files: a pin, else the newest kernel.

Variables of the Boot Loader Interface (https://systemd.io/BOOT_LOADER_INTERFACE/) are 4 bytes of attributes and
UTF-16; GRUB writes LoaderInfo too since 2.12. BOOT_IMAGE= on the command line is GRUB's, initrd= systemd-boot's.
"""

from __future__ import annotations

from ..errors import ParseError
from ..sections.base import Origin
from ..sections.boot import Boot, Choice, Configured, Proxmox
from . import boot_choice, boot_entries, boot_menus, grub_default
from .base import Reading, Reads
from .boot_bls import SAVED
from .boot_choice import Facts
from .boot_menus import Menus
from .cmdline import PATH as CMDLINE
from .cmdline import pair, split

_DEFAULT_GRUB, _GRUB_D = "/etc/default/grub", "/etc/default/grub.d"
_KERNEL = "/etc/kernel"
_UUIDS, _PIN, _NEXT_PIN, _MANUAL, _CMDLINE = (
    f"{_KERNEL}/{name}" for name in
    ("proxmox-boot-uuids", "proxmox-boot-pin", "next-boot-pin", "proxmox-boot-manual-kernels", "cmdline")
)
_VARIABLE = "/sys/firmware/efi/efivars/{}-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"
_INFO, _CHOSEN, _ONE_SHOT, _SAVED = "LoaderInfo", "LoaderEntryDefault", "LoaderEntryOneShot", "LoaderEntryLastBooted"
READS = Reads(
    paths=(
        _DEFAULT_GRUB, _GRUB_D, f"{_GRUB_D}/*", *(f"{grub}/grubenv" for grub in boot_menus.GRUBS), "/boot",
        _UUIDS, _PIN, _NEXT_PIN, _MANUAL, _CMDLINE, CMDLINE, *boot_menus.PATHS,
        *(_VARIABLE.format(name) for name in (_INFO, _CHOSEN, _ONE_SHOT, _SAVED)),
    ),
    root="entries in files that others may not read: grub.cfg, and mounted EFI system partitions",
)


def collect(reading: Reading) -> Boot:
    """All of it; what cannot be told from files that can be read is unread."""
    info = _variable(reading, _INFO, "loader_info")
    cmdline = reading.text(CMDLINE, "loader")
    loader = _loader(info, cmdline or "")
    reading.settle(loader is not None, CMDLINE, "neither it nor LoaderInfo tells the loader", "loader")
    files = _default_grub(reading)
    settings = grub_default.parse(files)
    proxmox, uuids = _proxmox(reading)
    esps, boot = boot_menus.find_esps(reading, uuids)
    environment = _environment(reading, boot)
    found = Menus(environment, saved=lambda: _variable(reading, _SAVED, "default"))
    boot_menus.find_menus(reading, found, esps, bool(uuids), boot)
    chosen = _variable(reading, _CHOSEN, "default")
    facts = Facts(
        loader=loader, proxmox=proxmox, managed=bool(uuids), menus=found.menus, reasons=found.reasons,
        folders=found.folders, images=reading.list("/boot", "default") if boot else [],
        one_shot=_variable(reading, _ONE_SHOT, "next"),
        chosen=found.saved() if chosen and chosen.casefold() == SAVED else chosen,
    )
    default, following = (_known(reading, fact, choice) for fact, choice in boot_choice.choices(facts).items())
    return Boot(
        loader=loader, loader_info=info, grub=grub_default.variables(settings) or None, grub_env=environment or None,
        proxmox=proxmox, esps=esps or None, configured=_configured(reading, settings, facts) or None,
        menus=found.menus or None, default=default, next=following,
    )


def parse_variable(data: bytes) -> str | None:
    """The text of an EFI variable, without the NUL at its end; None when it is none."""
    try:
        text = data[4:].decode("utf-16-le").rstrip("\0")
    except UnicodeDecodeError:
        return None
    return text if text and "\0" not in text else None


def _variable(reading: Reading, name: str, fact: str) -> str | None:
    data = reading.bytes(_VARIABLE.format(name), fact)
    return parse_variable(data) if data else None


def _loader(info: str | None, cmdline: str) -> str | None:
    for word, name in (("grub", "grub"), ("systemd-boot", "systemd-boot"), ("refind", "refind")):
        if info and word in info.casefold():
            return name
    for token in split(cmdline)[0]:
        name, value = pair(token)
        if name == "BOOT_IMAGE":
            return "grub"
        if name == "initrd" and (value or "").startswith("\\"):
            return "systemd-boot"
    return None


def _default_grub(reading: Reading) -> list[tuple[str, str]]:
    names = [name for name in reading.list(_GRUB_D, "grub") if name.endswith(".cfg") and name[0] != "."]
    texts = ((path, reading.config(path, "grub")) for path in (_DEFAULT_GRUB, *(f"{_GRUB_D}/{n}" for n in names)))
    return [(path, text) for path, text in texts if text is not None]


def _environment(reading: Reading, boot: bool) -> dict[str, str]:
    """GRUB's environment; while it cannot be read, what comes next is unknown too."""
    found: dict[str, str] = {}
    if not boot:
        reading.unread(("grub_env",), "/boot", boot_menus.AUTOMOUNT)
    for path in (f"{grub}/grubenv" for grub in boot_menus.GRUBS) if boot else ():
        data = reading.bytes(path, "grub_env")
        try:
            found |= boot_entries.parse_env(data, path) if data is not None else {}
        except ParseError as error:
            reading.unread(("grub_env",), path, str(error))
    reading.depends(("grub_env",), ("next",))
    return found


def _known(reading: Reading, fact: str, choice: Choice | None) -> Choice | None:
    """The CHOICE, unless something that may decide otherwise could not be read."""
    if any(u.path == (fact,) for u in reading.unreads):
        return None
    if choice is None or choice.kernel is None:
        reading.unread((fact,), "/boot", "no entry, pin or image tells")
        return None
    return choice


def _proxmox(reading: Reading) -> tuple[Proxmox | None, list[str]]:
    """The tool's own files, and the UUIDs of its ESPs."""
    lists = {path: _lines(reading.config(path, "proxmox")) for path in (_UUIDS, _PIN, _NEXT_PIN, _MANUAL)}
    reading.depends(("proxmox",), ("esps",))
    if all(found is None for found in lists.values()):
        return None, []
    pin, following, manual = lists[_PIN], lists[_NEXT_PIN], lists[_MANUAL]
    proxmox = Proxmox(
        pin=pin[0] if pin else None, next_boot_pin=following[0] if following else None,
        manual_kernels=sorted(set(manual)) if manual else None,
    )
    return proxmox, lists[_UUIDS] or []


def _lines(text: str | None) -> list[str] | None:
    """The lines that say something; None without a file."""
    if text is None:
        return None
    return [line.strip() for line in text.split("\n") if line.strip() and line.lstrip()[0] != "#"]


def _configured(
    reading: Reading, settings: dict[str, grub_default.Setting], facts: Facts
) -> dict[str, Configured]:
    """Which file the entries are made from follows from the loader."""
    found = {}
    reading.depends(("grub",), ("configured", "default-grub"))
    if settings:
        told = grub_default.command_line(settings)
        if told is None:
            reading.unread(("configured", "default-grub"), _DEFAULT_GRUB, "only a shell can tell the words")
        else:
            used = None if facts.loader is None else facts.loader == "grub"
            found["default-grub"] = Configured(words=told[0], used=used, origins=told[1])
    text = reading.config(_CMDLINE, "configured", "kernel-cmdline")
    lines = [(n, line) for n, line in enumerate((text or "").split("\n"), 1) if line.strip()]
    if lines:
        used = None if facts.loader is None else facts.loader == "systemd-boot"
        number, first = lines[0]
        origin = Origin(file=_CMDLINE, line=number, text=grub_default.shown(first))
        found["kernel-cmdline"] = Configured(
            words=grub_default.words(first) if number == 1 else [], used=used, origins=[origin],
            unused_lines=len(lines) - (number == 1) or None,
        )
    for name in found:
        reading.depends(("loader",), ("configured", name, "used"))
    return found
