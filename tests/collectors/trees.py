"""The trees of cpu-sysfs-tree (tar) and sysfs-ttar (text) of the corpus as hosts in memory."""

from __future__ import annotations

import tarfile
from pathlib import Path

from .fake import Content, MemoryHost

KEPT = ("/proc/", "/sys/devices/system/", "/sys/kernel/mm/")


def from_tar(path: Path) -> MemoryHost:
    """The root in the one folder of an archive."""
    files: dict[str, Content] = {}
    links: dict[str, str] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            name = "/" + member.name.partition("/")[2]
            if not name.startswith(KEPT):
                continue
            if member.issym():
                links[name] = member.linkname
            elif member.isdir():
                files[name.rstrip("/") + "/"] = ""
            elif content := archive.extractfile(member):
                files[name] = content.read()
    return MemoryHost(files, links)


def from_ttar(path: Path) -> MemoryHost:
    """The root below fixtures/. Lines: N is followed by N lines, the last one's end marked EOF where it has none."""
    files: dict[str, Content] = {}
    links: dict[str, str] = {}
    lines = iter(path.read_text().splitlines())
    name = ""
    for line in lines:
        key, _, value = line.partition(": ")
        if key == "Path":
            name = value.removeprefix("fixtures")
        elif key == "Directory":
            files[value.removeprefix("fixtures") + "/"] = ""
        elif key == "SymlinkTo":
            links[name] = value
        elif key == "Lines":
            text = "".join(next(lines) + "\n" for _ in range(int(value)))
            files[name] = text.removesuffix("EOF\n").replace("NULLBYTE", "\0")
    return MemoryHost(files, links)
