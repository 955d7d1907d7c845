"""The kernel's own file systems, /proc and /sys: where one is not there, nothing is absent below its place.

A rescue chroot or a container may lack them, or have an empty folder in their place: what is missing there says nothing
of the machine. Of what each always has, proc(5) and sysfs(5), one entry is enough, since a recording holds only what
was asked for. It is looked for when something is first found missing.
"""

from __future__ import annotations

from .base import NOT_MOUNTED, NOT_THERE, Host, failure

_ENTRIES = {
    "proc": "sys self 1 cmdline cpuinfo meminfo uptime version modules devices interrupts filesystems mounts driver",
    "sys": "kernel devices class bus module block dev firmware power",
}
_PATHS = {top: tuple(f"/{top}/{name}" for name in names.split()) for top, names in _ENTRIES.items()}
PATHS = tuple(path for paths in _PATHS.values() for path in paths)


class Tops:
    """Which of them HOST lacks."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lacking: dict[str, bool] = {}

    def judged(self, error: OSError, path: str) -> OSError:
        """The ERROR of PATH, or NOT_MOUNTED where it says that nothing is there, of a file system that is not."""
        return failure(NOT_MOUNTED, path) if error.errno in NOT_THERE and self.lacks(path) else error

    def lacks(self, path: str) -> bool:
        """Whether PATH, which may be a pattern, belongs in one that is not there."""
        top = path.split("/", 2)[1]
        if top in _PATHS and top not in self._lacking:
            self._lacking[top] = not any(map(self._has, _PATHS[top]))
        return self._lacking.get(top, False)

    def _has(self, path: str) -> bool:
        try:
            return self._host.exists(path)
        except OSError:
            return True  # it is there, if only to be refused
