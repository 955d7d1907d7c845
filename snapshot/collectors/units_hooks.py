"""The hook scripts of guests, from the configuration files of Proxmox VE.

pct.conf(5), qm.conf(5): ``hookscript: STORAGE:snippets/NAME``, of which only the storage local has a known folder;
lxc.container.conf(5): ``lxc.hook.*: COMMAND``. A [section] begins a snapshot or pending part, which does not count.
An empty /etc/pve means that pve-cluster is down, and not that there are no guests.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..regexes import regex
from .base import Reading
from .units_exec import programs
from .units_files import text_of
from .units_scripts import Scripts

_TOP = "/etc/pve"
FOLDERS = (f"{_TOP}/lxc", f"{_TOP}/qemu-server")
SNIPPETS = "/var/lib/vz/snippets"
_HOOK = regex(r"(hookscript|lxc\.hook\.[a-z-]+)\s*[:=]\s*(\S.*)")


def hooks(reading: Reading, scripts: Scripts) -> dict[str, list[str]]:
    """Guest configuration -> the scripts that it names, of those that touch tuning or cannot be read."""
    found = {}
    if reading.stat(_TOP, "hooks") and not reading.stat(FOLDERS[0], "hooks"):
        reading.unread(("hooks",), FOLDERS[0], f"{_TOP} is there without it: pve-cluster is not running")
    for folder in FOLDERS:
        for name in reading.list(folder, "hooks"):
            path = f"{folder}/{name}"
            text = text_of(reading, path, "hooks", path) if name.endswith(".conf") else ""
            named = list(parse(text))
            for volume in (p for p in named if ":" in p and p[0] != "/"):
                reading.unread(("hooks", path), volume, "on a storage whose folder is not known")
            called = scripts.called(named, path)
            if called:
                found[path] = called
    return found


def parse(text: str) -> Iterator[str]:
    """The programs that the hooks of a guest's configuration name, and STORAGE:snippets/NAME of other storages."""
    for line in text.split("\n"):
        if line.startswith("["):
            return
        match = _HOOK.match(line)
        if not match:
            continue
        value = match[2].strip().strip("\"'")
        if match[1] == "hookscript":
            local = value.startswith("local:snippets/")
            yield f"{SNIPPETS}/{value[15:]}" if local else value
        else:
            yield from programs(value.split())
