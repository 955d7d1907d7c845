"""Each place where a file system is mounted or should be: against fstab, mount units, ZFS pools and before.

From section storage, and from lxc who needs the place. fstab(5); systemd.mount(5), and systemd-fstab-generator(8), by
which noauto and x-systemd.automount mount nothing at boot; zfs-mount-generator(8), zpool-import(8). With nofail the
boot goes on without the file system, and nothing else says so.

What comes and goes has no row when it is gone: memory file systems, images and discs, removable media, backups'
temporary mounts, and an EFI partition that systemd-gpt-auto-generator(8) mounts on demand. A network file system that
nothing configures may be autofs(5)'s: ``network`` tells. Nor is what the initial RAM disk, that generator, container
engines and storage managers mount called mounted by hand; scripts that mount are not recorded.

Row keys, by place; a key without a value is missing:
    place, source, fstype
    lines          [{file, line, text}] of the fstab line or mount unit that asks for it
    by_hand        true: it is mounted from a local disk, and neither fstab nor a mount unit names the place
    fault          configured  it is to be mounted at boot and is not
                               asked_by   FILE:LINE
                   vanished    it was mounted before, nothing configures it, and it is not mounted now
                               was        type and source
                               taken_out  FILE:LINE of the line that asked for it before, and is gone
                               network    true for NFS, CIFS and the like
    pool           name of the ZFS pool that should hold it and is not imported
    disk           the disk's key, where that disk is not there any more
    used_by        containers that bind it, or something below it, by id
    now, durable   commands that mount it, and that keep it; of one by hand durable alone
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ...sections.mount_kinds import MEMORY, left_out_as
from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Snapshot

Table = Mapping[str, Any]
Row = dict[str, Any]
NETWORK = regex(r"nfs4?|cifs|smb3|ceph|glusterfs|lustre|beegfs|9p|fuse\.(?:sshfs|s3fs|rclone|ceph|glusterfs)")
PASSING = {*MEMORY, "overlay", "squashfs", "iso9660", "udf"}
_PLACES = regex("/media/.*|/run/media/.*|/mnt/vzsnap[0-9]*|/var/tmp/.*", re.DOTALL)
_EFI = ("/boot", "/efi", "/boot/efi")
_OTHERS = regex("/|/usr|/home|/srv|/var|/(?:boot|efi|mnt/pve|run|snap|sysroot|var/(?:lib|snap))(?:/.*)?", re.DOTALL)
_ON_DEMAND = {"noauto", "x-systemd.automount"}
_PART = regex(r"(.+)-part([0-9]+)", re.DOTALL)
_CACHE = ("zfs-import-cache.service", "zfs-import.target", "zfs-mount.service")


def mount_points(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each mount of AFTER, each that is to be there, and each of BEFORE that is gone for no known reason."""
    asked = [("what is mounted", after, "mounts"), ("what fstab mounts", after, "fstab"),
             *([("what was mounted before", before, "mounts")] if before else [])]
    facts = ((what, side.unread("storage", (name,))) for what, side, name in asked)
    gaps = [{"subject": "", "what": what, "source": fact.source, "why": fact.why} for what, fact in facts if fact]
    if after.unread("storage", ("mounts",)):
        return Derived({}, gaps[:1])
    host, then = _Host(after), _Host(before) if before else None
    rows = {place: host.row(place, found) | host.by_hand(place, found) for place, found in host.mounts.items()}
    for place, wanted in host.wanted().items():
        there = place in rows
        rows[place] = rows[place] | {"lines": [wanted["origin"]]} if there else host.configured(place, wanted, then)
    for place, found in then.mounts.items() if then else ():
        if then and place not in rows and not host.passing(place, found):
            rows[place] = host.vanished(place, found, then)
    return Derived(rows, gaps[:1])


class _Host:
    """Mounts and what asks for them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot, self.storage = snapshot, snapshot.table("storage")
        self.mounts: Mapping[str, Table] = self.storage.get("mounts", {})
        entries = (*self.storage.get("fstab", {}).items(), *self.storage.get("mount_units", {}).items())
        self.entries = {posixpath.normpath(place): entry for place, entry in entries if place.startswith("/")}

    def wanted(self) -> dict[str, Table]:
        """What is to be mounted at boot and would be listed, by place."""
        return {place: entry for place, entry in self.entries.items() if _at_boot(place, entry)}

    def row(self, place: str, found: Table) -> Row:
        """What every row has."""
        used = [*self._users(place)]
        return {"place": place, "source": found["source"], "fstype": found["fstype"]} | (
            {"used_by": used} if used else {})

    def by_hand(self, place: str, found: Table) -> Row:
        """That nothing configures a mount of a local disk, and the line that would."""
        if "device" not in found or self.passing(place, found) or _OTHERS.fullmatch(place):
            return {}
        durable = self._mend(place, found).get("durable")
        return {"by_hand": True} | ({"durable": durable} if durable else {})

    def configured(self, place: str, entry: Table, then: _Host | None) -> Row:
        """The row of a place that is configured and not mounted; THEN may tell on which disk it was."""
        unit = "enabled" in entry
        command = f"systemctl start -- {shlex.quote(place)}" if unit else f"mount {shlex.quote(place)}"
        row = self.row(place, entry) | {"fault": "configured", "asked_by": _line(entry), "lines": [entry["origin"]]}
        was = then.mounts.get(place, {}) if then else {}
        gone = {"disk": _PART.sub(r"\1", was["source"])} if "device" in was and self._device(was) is None else {}
        return row | self._pool(entry) | gone | {"now": [*self._import(entry), command]}

    def passing(self, place: str, found: Table) -> bool:
        """Whether a mount that is gone says nothing."""
        efi = place in _EFI and found["fstype"] == "vfat"
        return found["fstype"] in PASSING or efi or bool(_PLACES.fullmatch(place)) or place in self.entries

    def vanished(self, place: str, found: Table, then: _Host) -> Row:
        """The row of a place that was mounted and is not."""
        was = f"{found['fstype']} {found['source']}"
        row = self.row(place, found) | {"fault": "vanished", "was": was} | self._pool(found)
        if old := then.entries.get(place):
            row["taken_out"] = _line(old)
        if NETWORK.fullmatch(found["fstype"]):
            row["network"] = True
        return row | self._mend(place, found)

    def _users(self, place: str) -> Iterator[str]:
        for key, container in self.snapshot.table("lxc").get("containers", {}).items():
            if any(path == place or path.startswith(f"{place.rstrip('/')}/") for path in _bound(container["live"])):
                yield key

    def _pool(self, found: Table) -> Row:
        pool = found["source"].partition("/")[0] if found["fstype"] == "zfs" else ""
        return {"pool": pool} if pool and pool not in self.storage.get("pools", {}) else {}

    def _import(self, found: Table) -> list[str]:
        pool = self._pool(found).get("pool")
        return [f"zpool import {shlex.quote(pool)}"] if pool else []

    def _mend(self, place: str, found: Table) -> Row:
        """Commands that mount what nothing configures, now and at boot."""
        source, fstype = found["source"], found["fstype"]
        if fstype == "zfs":
            pool = shlex.quote(source.partition("/")[0])
            keep = [f"zpool set cachefile=/etc/zfs/zpool.cache {pool}", f"systemctl enable {' '.join(_CACHE)}"]
            return {"now": self._import(found) or [f"zfs mount {shlex.quote(source)}"], "durable": keep}
        device = self._device(found)
        if device is None:
            return {"disk": _PART.sub(r"\1", source)}
        if "<" in source or found.get("root") or re.search(r"\s", place):  # replaced, a part of one, or hard to write
            return {}
        pages = [option for option in found["options"] if option.startswith("pagesize=")]
        options = ",".join(["defaults", "nofail", *pages])
        spec = f"UUID=$(blkid -s UUID -o value {shlex.quote(device)})" if found.get("device") else ""
        line = shlex.quote(f" {place} {fstype} {options} 0 0")
        mount = ["mount", "-t", fstype, *(["-o", pages[0]] if pages else []), device, place]
        return {"now": [shlex.join(mount)], "durable": [f"echo {spec or shlex.quote(source)}{line} >> /etc/fstab"]}

    def _device(self, found: Table) -> str | None:
        """What to mount: of a disk its name now; None when that disk is not there."""
        part = _PART.fullmatch(found["source"])
        key, number = (part[1], part[2]) if part else (found["source"], "")
        block = self.storage.get("blocks", {}).get(key)
        if block is None:
            return key if not part and ("/" in key or key == found["fstype"]) else None
        name = block["name"]
        return f"/dev/{name}{'p' if number and name[-1].isdigit() else ''}{number}"


def _at_boot(place: str, entry: Table) -> bool:
    fstype = entry["fstype"]
    listed = left_out_as(place, "ext4" if fstype in ("auto", "none") else fstype) is None
    return listed and fstype != "swap" and not _ON_DEMAND & {*entry["options"]} and entry.get("enabled", True)


def _line(entry: Table) -> str:
    return f"{entry['origin']['file']}:{entry['origin']['line']}"


def _bound(live: Table) -> Iterator[str]:
    """Paths of the host that a container binds."""
    for name, option in live.get("options", {}).items():
        if re.fullmatch("mp[0-9]+", name) and option["value"].startswith("/"):
            yield option["value"].partition(",")[0]
    yield from (entry["source"] for entry in live.get("mount_entries", ()) if entry["source"].startswith("/"))
