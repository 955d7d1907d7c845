"""EFI system partitions and the menus on them and in /boot, as far as they are mounted already.

proc_pid_mountinfo(5). /boot and /efi may be automounts (type autofs), which a look into them would mount: only what a
real mount lies over is read. A partition is known by the UUID under which udev links it in /dev/disk/by-uuid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..errors import ParseError
from ..records import field, record
from ..sections.boot import Esp, Menu
from . import boot_bls, boot_entries
from .base import Reading
from .boot_bls import Folder

_MOUNTS, _BY_UUID = "/proc/self/mountinfo", "/dev/disk/by-uuid"
GRUBS = ("/boot/grub", "/boot/grub2")
PLACES = ("/boot", "/boot/efi", "/efi")
_UNSURE = "only GRUB itself can tell which entry that is"
AUTOMOUNT = "an automount that is not mounted"
_ON_ESP = (
    "loader/loader.conf", "loader/entries", "loader/entries/*", "grub/grub.cfg", "EFI/proxmox", "EFI/proxmox/*/*",
)
PATHS = (
    _MOUNTS, _BY_UUID, f"{_BY_UUID}/*", *(f"{grub}/grub.cfg" for grub in GRUBS),
    *(f"{place}/{name}" for place in PLACES for name in _ON_ESP),
)


@record()
class Menus:
    """The menus by key, what makes their default the default, and systemd-boot's folders."""

    environment: Mapping[str, str]  # GRUB's
    saved: Callable[[], str | None]  # asks for the entry that systemd-boot has saved
    menus: dict[str, Menu] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    folders: dict[str, Folder] = field(default_factory=dict)


def mounts(mountinfo: str) -> Iterator[tuple[str, str, str]]:
    """Mount point, type and source of each mount, in order."""
    for line in mountinfo.split("\n"):
        left, dash, right = line.partition(" - ")
        head, tail = left.split(" "), right.split(" ")
        if dash and len(head) > 4 and len(tail) > 1:
            yield head[4].replace("\\040", " "), tail[0], tail[1]


def find_esps(reading: Reading, uuids: list[str]) -> tuple[dict[str, Esp], bool]:
    """Those of UUIDS and the mounted ones, by UUID; and whether /boot may be looked into."""
    links = {name: reading.readlink(f"{_BY_UUID}/{name}", "esps") for name in reading.list(_BY_UUID, "esps")}
    devices = {link.rpartition("/")[2]: uuid for uuid, link in links.items() if link}
    found = {uuid: Esp(configured=True, present=uuid in links if links else None) for uuid in uuids}
    top = {point: (kind, source) for point, kind, source in mounts(reading.text(_MOUNTS, "esps") or "")}
    for point, (kind, source) in top.items():
        uuid = devices.get(source.rpartition("/")[2])
        if kind in ("vfat", "msdos") and (uuid in found or point in PLACES):
            key = uuid or point
            esp = found.get(key, Esp(present=True))
            found[key] = esp.copy(mounted=point, initrds=_initrds(reading, point, key))
    return dict(sorted(found.items())), top.get("/boot", ("", ""))[0] != "autofs"


def _initrds(reading: Reading, point: str, key: str) -> dict[str, int] | None:
    if point not in PLACES:
        reading.unread(("esps", key, "initrds"), point, "mounted where it is not looked for")
        return None
    sizes = {}
    for release in reading.list(f"{point}/EFI/proxmox", "esps", key, "initrds"):
        stat = reading.stat(f"{point}/EFI/proxmox/{release}/initrd.img-{release}", "esps", key, "initrds")
        if stat:
            sizes[release] = stat.size
    return sizes or None


def find_menus(reading: Reading, found: Menus, esps: Mapping[str, Esp], managed: bool, boot: bool) -> None:
    """What each loader offers, into FOUND; BOOT says whether /boot may be looked into.

    Where proxmox-boot-tool writes the ESPs (MANAGED), /boot/grub is not what starts.
    """
    if boot:
        for grub in () if managed else GRUBS:
            _grub(reading, f"{grub}/grub.cfg", f"{grub}/grub.cfg", found)
        _folder(reading, "/boot", "/boot", found)
    else:
        reading.unread(("menus",), "/boot", AUTOMOUNT)
    for key, esp in esps.items():
        if esp.mounted not in PLACES:
            for name in ("grub/grub.cfg", "loader/entries"):
                why = "the partition is mounted elsewhere" if esp.mounted else "the partition is not mounted"
                reading.unread(("menus", f"{key}/{name}"), esp.mounted or key, why)
        elif esp.mounted != "/boot":
            _grub(reading, f"{esp.mounted}/grub/grub.cfg", f"{key}/grub/grub.cfg", found)
            _folder(reading, esp.mounted, key, found)
    found.menus = dict(sorted(found.menus.items()))


def _grub(reading: Reading, path: str, key: str, found: Menus) -> None:
    text = reading.config(path, "menus", key)
    if text is None:
        return
    try:
        config = boot_entries.parse_grub(text, path)
    except ParseError as error:
        reading.unread(("menus", key), path, str(error))
        return
    if config.entries or not config.bls:  # else its entries are those of /boot/loader
        saved, once = found.environment.get("saved_entry"), found.environment.get("next_entry")
        default, sure = config.find((saved if config.saved else config.default) or "0")
        if config.saved and any(u.path == ("grub_env",) for u in reading.unreads):
            reading.unread(("menus", key, "default"), path, "it is the saved entry, and grubenv could not be read")
            default = None
        elif not (sure and config.sure):
            reading.unread(("menus", key, "default"), path, _UNSURE)
            default = None
        following, sure = config.find(once) if once else (None, True)
        if not sure:
            reading.unread(("menus", key, "once"), path, _UNSURE)
            reading.unread(("next",), path, _UNSURE)
        found.menus[key] = Menu(
            default=default, once=following if sure else None, entries=dict(sorted(config.entries.items()))
        )
        found.reasons[key] = "saved_entry of grubenv" if config.saved and saved else "default of grub.cfg"


def _folder(reading: Reading, point: str, key: str, found: Menus) -> None:
    folder, name = f"{point}/loader/entries", f"{key}/loader/entries"
    entries, known = Folder(), len(reading.unreads)
    for file in sorted(reading.list(folder, "menus", name), key=lambda file: "+" in file):
        text = reading.config(f"{folder}/{file}", "menus", name) if file.endswith(".conf") else None
        if text:
            entries.add(file.removesuffix(".conf"), text, f"{folder}/{file}", found.environment)
    if not entries.entries:
        return
    pattern = boot_bls.loader_default(reading.config(f"{point}/loader/loader.conf", "menus", name) or "")
    pattern = found.saved() if pattern and pattern.casefold() == boot_bls.SAVED else pattern
    saved, once = (entries.of_file(found.environment.get(asked)) for asked in ("saved_entry", "next_entry"))  # of GRUB
    default = saved or (entries.default(pattern) if len(reading.unreads) == known else None)
    if default is None:
        reading.unread(("menus", name, "default"), point, "loaders differ in it, or what decides could not be read")
    found.menus[name] = Menu(default=default, once=once, entries=dict(sorted(entries.entries.items())))
    found.reasons[name] = "saved_entry of grubenv" if saved else "loader.conf, else the first entry"
    found.folders[name] = entries
