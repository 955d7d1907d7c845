"""The initial RAM disk of the kernel that boots next, against the files that should be in it.

From sections modules, boot and cmdline, and the files' times. update-initramfs(8) and dracut(8) copy modprobe.d and,
for a root on ZFS, the module zfs; what is loaded from the disk image takes what stood there when it was made. A boot
with this image has shown what comes of that: a file older than the boot is no news. modules-load.d is read again once
the real root is there, and NVIDIA's modules are only in images that were made to have them.

Row keys, by the release that boots next; a key without a value is missing:
    release
    file             path of the image
    changed          when it was made, UTC
    stale            files that should be in it and are newer, and that no boot has tested
    options_only     these do nothing but set options of NVIDIA's modules
    refresh          commands that make the image, and what the loader has of it, anew
    unknown          {stale: {source, why}} when the time of such a file is not known
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ..facts import Derived
from .boot_loader import managed, seen

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Table = Mapping[str, Any]
COPIED = regex(r"/.*/modprobe\.d/[^/]+|/etc/(?:initramfs-tools|dracut\.conf)\b.*")
ZFS = regex(r"/.*/zfs\.ko(?:\.\w+)?")
NVIDIA = regex(r"nvidia(?:_uvm|_drm|_modeset|_peermem)?")
PLAIN = regex(r"[\w.+~-]+", re.ASCII)


def initramfs_state(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for the image of the kernel that boots next, when /boot has one; BEFORE adds nothing."""
    del before
    kernels = after.table("modules").get("kernels", {})
    if not seen(after) or not any("initramfs" in told for told in kernels.values()):
        return Derived()
    release = after.table("boot").get("next", {}).get("kernel")
    gap = after.unread("boot", ("next",)) if release is None else after.unread(
        "modules", ("kernels", release, "initramfs"))
    if gap:
        what = "whether the initial RAM disk of the next boot is older than what it should hold"
        return Derived({}, [{"subject": "", "what": what, "source": gap.source, "why": gap.why}])
    image = kernels.get(release, {}).get("initramfs")
    return Derived({release: _row(after, release, image)} if image else {})


def _row(snapshot: Snapshot, release: str, image: Table) -> Row:
    row: Row = {"release": release, "file": image["file"], "changed": image["changed"]}
    wanted = re.compile(f"{COPIED.pattern}|{ZFS.pattern}") if _zfs_root(snapshot) else COPIED
    tested = {path: seen_by_boot(snapshot, release, path, image) for path in image["stale"] if wanted.fullmatch(path)}
    if stale := [path for path, known in tested.items() if known is False]:
        row |= {"stale": stale, "options_only": all(_only_options(snapshot, path) for path in stale)}
        row["refresh"] = _refresh(snapshot, release, image["file"])
    elif untold := [path for path, known in tested.items() if known is None]:
        row["unknown"] = {"stale": {"source": untold[0], "why": "whether it is older than this boot is not known"}}
    return row


def _zfs_root(snapshot: Snapshot) -> bool:
    tokens = snapshot.table("cmdline").get("tokens", ())
    return any(token.startswith(("root=ZFS", "root=zfs", "boot=zfs")) for token in tokens)


def seen_by_boot(snapshot: Snapshot, release: str, path: str, image: Table) -> bool | None:
    """Whether this boot took the image as it is, after the file at PATH was changed; None when that is not known."""
    if snapshot.meta.kernel != release:
        return False
    booted, changed = _booted(snapshot), _changed(snapshot, path)
    return None if booted is None or changed is None else max(changed, _time(image["changed"])) < booted


def changed_since_boot(snapshot: Snapshot, path: str) -> bool | None:
    """Whether the file at PATH is newer than this boot; None when that is not known."""
    booted, changed = _booted(snapshot), _changed(snapshot, path)
    return None if booted is None or changed is None else changed > booted


def _booted(snapshot: Snapshot) -> datetime | None:
    meta = snapshot.meta
    return _time(meta.taken) - timedelta(seconds=meta.uptime_s) if meta.taken and meta.uptime_s is not None else None


def _changed(snapshot: Snapshot, path: str) -> datetime | None:
    file = snapshot.files.get(path)
    return _time(file.mtime) if file and file.mtime else None


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")


def _only_options(snapshot: Snapshot, path: str) -> bool:
    """Whether the file at PATH sets options of NVIDIA's modules and keeps none out."""
    section = snapshot.table("modules")
    modules = [name for name, options in section.get("options", {}).items() if path in _places(options)]
    kept_out = (section.get(key, {}).values() for key in ("blacklist", "install", "softdeps"))
    others = any(found["origin"]["file"] == path for table in kept_out for found in table)
    return bool(modules) and not others and all(map(NVIDIA.fullmatch, modules))


def _places(options: Table) -> Iterator[str]:
    """The files that set a module's options."""
    for option in options.values():
        yield from (word["origin"]["file"] for word in (option.get("files"), *option.get("overridden", ())) if word)


def _refresh(snapshot: Snapshot, release: str, image: str) -> list[str]:
    if not PLAIN.fullmatch(release):
        return []
    made = f"update-initramfs -u -k {release}" if "/initrd.img-" in image else f"dracut --force {image} {release}"
    return [made, *(["proxmox-boot-tool refresh"] if managed(snapshot) else [])]
