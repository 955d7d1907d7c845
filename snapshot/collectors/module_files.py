"""What each installed kernel has of the modules that matter, from /lib/modules/RELEASE, and its initial RAM disk.

modules.dep(5): a line ``path: dependencies`` for each module that modprobe can load, - and _ mixed in the names; where
two files have one name depmod has chosen by depmod.d(5). modules.builtin lists paths of what is part of the kernel.

Debian's packages call NVIDIA's files nvidia-current.ko, nvidia-current-uvm.ko (or -tesla-535, -legacy-390xx, ...);
loaded they are nvidia and nvidia_uvm. Of the files only those that rules ask about are opened: they are large.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..errors import ParseError
from ..regexes import regex
from ..sections.modules import DiskModule, Initramfs, KernelModules
from .base import Reading, decode

if TYPE_CHECKING:
    from .modinfo import ModInfo

TOP = "/lib/modules"
LISTS = ("modules.dep", "modules.builtin", "modules.alias", "modules.builtin.alias")
_PATH = regex(rb"^([^\s:]+/)?([^\s:/]+?)\.ko(\.xz|\.zst|\.gz)?(?=:|$)", re.MULTILINE)
_NVIDIA = regex(r"nvidia((?:_current|_tesla|_legacy|_open|_[0-9]+(?:xx)?)*)(_uvm|_modeset|_drm|_peermem)?")
_OTHERS = ("zfs", "amdgpu", "mlx5_core")
_RELEASE = regex(r"[0-9]+\.[0-9].*", re.DOTALL)
_INITRDS = ("/boot/initrd.img-{}", "/boot/initramfs-{}.img", "/boot/initrd-{}")
_LICENSES = {"Dual MIT/GPL": "open", "NVIDIA": "proprietary"}


def collect(
    reading: Reading, loaded: Collection[str], named: Collection[str], configured: Iterable[tuple[str, int]]
) -> dict[str, KernelModules] | None:
    """By release. LOADED are modules of the running kernel, NAMED those to load at boot (or aliases), CONFIGURED the
    files that an initial RAM disk copies, with their modification times in nanoseconds.
    """
    known = len(reading.unreads)
    releases = [name for name in reading.list(TOP, "kernels") if _RELEASE.fullmatch(name)]
    if len(reading.unreads) > known:
        return None
    changed = list(configured)
    found = {}
    for release in releases:
        listed = reading.bytes(f"{TOP}/{release}/modules.dep", "kernels", release)
        if listed is not None:  # a removed kernel leaves a folder without it
            found[release] = _kernel(reading, release, listed, loaded, named, changed)
    return found or None


def names(listed: bytes) -> dict[str, str]:
    """Name (- as _) -> path, of the lines of modules.dep or modules.builtin."""
    matches = _PATH.finditer(listed)
    return {decode(m[2]).replace("-", "_"): decode(m[0]) for m in matches}


def standing_for(name: str) -> str:
    """The name that a module has when it is loaded: nvidia_uvm for nvidia_current_uvm."""
    found = _NVIDIA.fullmatch(name)
    return f"nvidia{found[2] or ''}" if found else name


def flavour(license_text: str | None) -> str | None:
    """NVIDIA's flavour by license: open (Dual MIT/GPL) or proprietary (NVIDIA); None for another license."""
    return _LICENSES.get(license_text or "")


def _kernel(
    reading: Reading, release: str, listed: bytes, loaded: Collection[str], named: Collection[str],
    changed: list[tuple[str, int]],
) -> KernelModules:
    files = names(listed)
    wanted = {n: p for n, p in files.items() if n in _OTHERS or _NVIDIA.fullmatch(n)}
    paths = {path: f"{TOP}/{release}/{path}" for path in wanted.values()}
    modules = [(p, s.mtime_ns) for p in paths.values() if (s := reading.stat(p, "kernels", release, "initramfs"))]
    return KernelModules(
        files={name: _file(reading, release, name, path) for name, path in sorted(wanted.items())},
        missing=_missing(reading, release, files, loaded, named),
        initramfs=_initramfs(reading, release, [*changed, *modules]),
    )


def _file(reading: Reading, release: str, name: str, path: str) -> DiskModule:
    nvidia = _NVIDIA.fullmatch(name)
    if (nvidia and nvidia[2]) or (name in ("amdgpu", "mlx5_core") and path.startswith("kernel/")):
        return DiskModule(file=path)
    info = _info(reading, f"{TOP}/{release}/{path}", "kernels", release, "files", name)
    if info is None:
        return DiskModule(file=path)
    get = info.fields.get
    return DiskModule(
        file=path, version=get("version"), srcversion=get("srcversion"), license=get("license"),
        flavour=flavour(get("license")) if nvidia else None, signer=info.signer,
        vermagic=get("vermagic", "").strip() or None,
    )


def _info(reading: Reading, path: str, *fact: str) -> ModInfo | None:
    from .modinfo import UNPACKED, parse

    data = reading.bytes(path, *fact, limit=UNPACKED)
    if data is None:
        reading.settle(False, path, "modules.dep names it, but it is not there", *fact)
        return None
    try:
        return parse(data, path)
    except ParseError as error:
        for field in ("version", "srcversion", "license", "flavour", "vermagic", "signer"):
            reading.unread((*fact, field), path, str(error))
        return None


def _missing(
    reading: Reading, release: str, files: dict[str, str], loaded: Collection[str], named: Collection[str]
) -> list[str]:
    """Names without a file: most are built in, some are aliases; those lists are read for the few only."""
    have = {standing_for(name) for name in files} | files.keys()
    lacking = {name for name in (*loaded, *named) if name.replace("-", "_") not in have}
    fact = ("kernels", release, "missing")
    reading.depends(("loaded",), fact)
    if lacking:
        builtin = names(reading.bytes(f"{TOP}/{release}/modules.builtin", *fact) or b"")
        lacking = {name for name in lacking if name.replace("-", "_") not in builtin}
    for listed in LISTS[2:]:
        if lacking.intersection(named):
            aliases = reading.bytes(f"{TOP}/{release}/{listed}", *fact) or b""
            lacking = {name for name in lacking if not _is_alias(aliases, name)}
    return sorted(lacking)


def _is_alias(aliases: bytes, name: str) -> bool:
    text = name.encode("utf-8", "surrogateescape")
    return any(b"\nalias %s " % spelling in b"\n" + aliases for spelling in (text, text.replace(b"-", b"_")))


def _initramfs(reading: Reading, release: str, parts: Iterable[tuple[str, int]]) -> Initramfs | None:
    for pattern in _INITRDS:
        path = pattern.format(release)
        stat = reading.stat(path, "kernels", release, "initramfs")
        if stat:
            stale = sorted(part for part, mtime in parts if mtime > stat.mtime_ns)
            return Initramfs(file=path, changed=_utc(stat.mtime_ns), stale=stale)
    return None


def _utc(ns: int) -> str:
    return datetime.fromtimestamp(ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
