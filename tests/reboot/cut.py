"""Cuts what a take read in the guest down to a fixture: python -m tests.reboot.cut boot.tar vm-boot.tar.xz

Programs are cut to their first 64 bytes, pci.ids to the guest's functions, the package list and modules.dep to what
a snapshot may ask for: the snapshot stays the same.
"""

from __future__ import annotations

import io
import re
import sys
import tarfile
from collections.abc import Callable

ELF, HEAD = b"\x7fELF", 64
PACKAGES = re.compile(r"Package: (?:linux-|lxc|liblxc|grub|systemd\n|kmod|procps|ethtool|initramfs|libc6)")
FIELDS = ("Package:", "Status:", "Version:", "Architecture:", "Source:")
MODULES = re.compile(r"nvidia|mlx5_core|zfs|amdgpu")
Files = dict[str, bytes]


def packages(text: str, _: Files) -> str:
    """The paragraphs of dpkg's status that are kept, with the fields that are read."""
    kept = [part for part in text.split("\n\n") if PACKAGES.match(part)]
    return "".join("\n".join(line for line in part.splitlines() if line.startswith(FIELDS)) + "\n\n" for part in kept)


def names(text: str, files: Files) -> str:
    """The lines of pci.ids for vendors and devices of the guest."""
    spaces = [data for path, data in files.items() if path.startswith("sys/bus/pci/") and path.endswith("/config")]
    vendors, devices = ({f"{int.from_bytes(data[at:at + 2], 'little'):04x}" for data in spaces} for at in (0, 2))
    vendor, kept = "", []
    for line in text.splitlines(keepends=True):
        vendor = line[:4] if line[:1] not in "\t#\n" else vendor
        wanted = line[:4] in vendors if line[:1] != "\t" else line[1:5] in devices and line[:2] != "\t\t"
        kept += [line] if vendor in vendors and wanted else []
    return "".join(kept)


def dependencies(text: str, files: Files) -> str:
    """The lines of modules.dep for loaded modules, and those that a snapshot asks for."""
    loaded = {line.split()[0] for line in files["proc/modules"].decode().splitlines()}
    return "".join(line for line in text.splitlines(keepends=True) if _kept(line.partition(":")[0], loaded))


def _kept(path: str, loaded: set[str]) -> bool:
    name = path.rpartition("/")[2].partition(".")[0].replace("-", "_")
    return name in loaded or MODULES.search(path) is not None


CUTS: dict[str, Callable[[str, Files], str]] = {"status": packages, "pci.ids": names, "modules.dep": dependencies}


def cut(source: str, target: str) -> None:
    """Writes TARGET, .tar.xz, from the recorded root SOURCE."""
    with tarfile.open(source) as old, tarfile.open(target, "w:xz", preset=9) as new:
        members = {member.name: member for member in old.getmembers()}
        files = {name: file.read() for name, member in members.items() if (file := old.extractfile(member))}
        for name, member in sorted(members.items()):
            data = files.get(name, b"")
            data = data[:HEAD] if data.startswith(ELF) else data
            if make := CUTS.get(name.rpartition("/")[2]):
                data = make(data.decode("utf-8", "surrogateescape"), files).encode("utf-8", "surrogateescape")
            member.size = len(data)
            new.addfile(member, io.BytesIO(data))


if __name__ == "__main__":
    cut(*sys.argv[1:])
