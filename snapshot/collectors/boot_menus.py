"""EFI system partitions and the menus on them and in /boot, as far as they are mounted already.

proc_pid_mountinfo(5). /boot and /efi may be automounts (type autofs), which a look into them would mount: only what a
real mount lies over is read. A partition is known by the UUID under which udev links it in /dev/disk/by-uuid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import ParseError
from ..sections.boot import Entry, Esp, Menu
from . import boot_choice, boot_entries
from .base import Reading

_MOUNTS, _BY_UUID = "/proc/self/mountinfo", "/dev/disk/by-uuid"
GRUBS = ("/boot/grub", "/boot/grub2")
PLACES = ("/boot", "/boot/efi", "/efi")
AUTOMOUNT = "an automount that is not mounted"
_ON_ESP = (
    "loader/loader.conf", "loader/entries", "loader/entries/*", "grub/grub.cfg", "EFI/proxmox", "EFI/proxmox/*/*",
)
PATHS = (
    _MOUNTS, _BY_UUID, f"{_BY_UUID}/*", *(f"{grub}/grub.cfg" for grub in GRUBS),
    *(f"{place}/{name}" for place in PLACES for name in _ON_ESP),
)


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


def find_menus(
    reading: Reading, esps: Mapping[str, Esp], environment: Mapping[str, str], managed: bool, boot: bool
) -> dict[str, Menu]:
    """What each loader offers. Where proxmox-boot-tool writes the ESPs (MANAGED), /boot/grub is not what starts.

    BOOT says whether /boot may be looked into.
    """
    menus: dict[str, Menu] = {}
    if boot:
        for grub in () if managed else GRUBS:
            _grub(reading, f"{grub}/grub.cfg", f"{grub}/grub.cfg", environment, menus)
        _folder(reading, "/boot", "/boot", environment, menus)
    else:
        reading.unread(("menus",), "/boot", AUTOMOUNT)
    for key, esp in esps.items():
        if esp.mounted not in PLACES:
            for name in ("grub/grub.cfg", "loader/entries"):
                why = "the partition is mounted elsewhere" if esp.mounted else "the partition is not mounted"
                reading.unread(("menus", f"{key}/{name}"), esp.mounted or key, why)
        elif esp.mounted != "/boot":
            _grub(reading, f"{esp.mounted}/grub/grub.cfg", f"{key}/grub/grub.cfg", environment, menus)
            _folder(reading, esp.mounted, key, environment, menus)
    return dict(sorted(menus.items()))


def _grub(reading: Reading, path: str, key: str, environment: Mapping[str, str], menus: dict[str, Menu]) -> None:
    text = reading.config(path, "menus", key)
    if text is None:
        return
    try:
        found = boot_entries.parse_grub(text, path)
    except ParseError as error:
        reading.unread(("menus", key), path, str(error))
        return
    if found.entries or not found.bls:  # else its entries are those of /boot/loader
        wanted = environment.get("saved_entry", "0") if found.saved else found.default or "0"
        once = environment.get("next_entry")
        blind = found.saved and any(u.path == ("grub_env",) for u in reading.unreads)
        if blind:
            reading.unread(("menus", key, "default"), path, "it is the saved entry, and grubenv could not be read")
        menus[key] = Menu(
            default=None if blind else boot_choice.grub_entry(found, wanted),
            once=boot_choice.grub_entry(found, once) if once else None,
            entries=dict(sorted(found.entries.items())),
        )


def _folder(reading: Reading, point: str, key: str, environment: Mapping[str, str], menus: dict[str, Menu]) -> None:
    entries: dict[str, Entry] = {}
    folder, name = f"{point}/loader/entries", f"{key}/loader/entries"
    for file in reading.list(folder, "menus", name):
        text = reading.config(f"{folder}/{file}", "menus", name) if file.endswith(".conf") else None
        entry = boot_entries.parse_entry(text, f"{folder}/{file}", environment) if text else None
        if entry:
            entries[file.removesuffix(".conf")] = entry
    if not entries:
        return
    pattern = boot_entries.loader_default(reading.config(f"{point}/loader/loader.conf", "menus", name) or "")
    order = boot_entries.newest_first(entries)
    saved, once = environment.get("saved_entry"), environment.get("next_entry")  # of a GRUB that reads such entries
    default = saved if saved in entries else boot_entries.matching(pattern, order) if pattern else None
    menus[name] = Menu(default=default or order[0], once=once if once in entries else None, entries=entries)
