"""The running machine, from its root directory.

proc(5), sysfs(5), capabilities(7). Most reads are direct system calls (``syscalls``); those that can block
in the kernel go to a child process (``child``) and end as ETIMEDOUT when it does not answer: what MAY_BLOCK
names, and what lies on, or leads through a link to, a foreign mount (``mounts``).
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, lru_cache

from . import mounts, syscalls
from .base import LIMIT, Command, Host, Names, Prune, Result, Session, Source, Stat, Walked, checked
from .child import Reader

# What can hang. A pattern that ends in /** is a tree where even lstat(2) can block (FUSE, a driver's lock);
# the others are files of which only the content comes from the hardware. * is a component or part of one.
MAY_BLOCK = (
    "/etc/pve/**",
    "/proc/driver/nvidia/**",
    "/sys/bus/pci/devices/*/config",
    "/sys/bus/pci/devices/*/vpd",
    "/sys/bus/pci/devices/*/current_link_*",
    "/sys/bus/pci/devices/*/max_link_*",
    "/sys/bus/pci/devices/*/*_bus_number",
    "/sys/bus/pci/devices/*/resource*_resize",
    "/sys/devices/platform/ipmi_bmc.*/firmware_revision",
)
_STATUS = "/proc/self/status"


class Live(Host):
    """The running machine. After DEADLINE_S seconds what can block, commands too, ends as timed out.

    POINTS are the mount points that can hang; those of /proc/self/mountinfo when not given.
    """

    source: Source = "live"

    def __init__(
        self, deadline_s: float | None = None, answer_s: float = 5.0, may_block: Sequence[str] = MAY_BLOCK,
        points: Collection[str] | None = None,
    ) -> None:  # fmt: skip
        # A NaN would compare as never over: max gives 0 for it.
        self._until = float("inf") if deadline_s is None else time.monotonic() + max(0.0, deadline_s)
        self._reader = Reader(answer_s, self._until)
        self._may_block, self._points = tuple(may_block), points
        self._starts = tuple(pattern.removesuffix("/**").split("*")[0] for pattern in may_block)
        self.session = Session(time.time_ns(), os.geteuid(), _capabilities(), os.uname().nodename)

    def read(self, path: str, limit: int = LIMIT) -> bytes:
        """As Host.read."""
        path = checked(path)
        where = self._where(path)
        return self._reader.read(where, path, limit) if where else syscalls.read(path, limit)

    def heads(self, paths: Sequence[str], size: int) -> Mapping[str, bytes | OSError]:
        """As Host.heads."""
        found: dict[str, bytes | OSError] = {}
        apart: dict[str, dict[str, str]] = {}
        for path in paths:
            try:
                plain = checked(path)
                where = self._where(plain)
                if not plain.startswith("/sys/"):  # elsewhere a name may be that of a device, which is not to be opened
                    found[path] = self.read(plain)[:size]
                elif where:
                    apart.setdefault(where, {})[path] = plain
                else:
                    found[path] = syscalls.head(plain, size)
            except OSError as error:
                found[path] = error
        for where, asked in apart.items():
            heads = self._reader.heads(where, asked.values(), size)
            found |= {path: heads[plain] for path, plain in asked.items()}
        return found

    def list(self, path: str) -> Names:
        """As Host.list."""
        path = checked(path)
        where = self._tree(path, follow=True)
        return self._reader.names(where, path) if where else syscalls.names(path)

    def readlink(self, path: str) -> str:
        """As Host.readlink."""
        path = checked(path)
        where = self._tree(path, follow=False)
        return self._reader.target(where, path) if where else syscalls.target(path)

    def stat(self, path: str, follow: bool = True) -> Stat:
        """As Host.stat."""
        path = checked(path)
        where = self._tree(path, follow)
        return self._reader.stat(where, path, follow) if where else syscalls.stat(path, follow)

    def walk(self, top: str, skip: frozenset[str] = frozenset(), prune: Prune = lambda _: False) -> Walked:
        """As Host.walk."""
        top = checked(top)
        return self._careful(top, skip, prune) if self._reaches(top, prune) else syscalls.walk(top, skip, prune)

    def run(self, commands: Sequence[Command]) -> Mapping[Command, Result]:
        """As Host.run."""
        from . import commands as programs  # subprocess is not needed for reads

        return programs.run(commands, self._until)

    def close(self) -> None:
        """As Host.close."""
        self._reader.close()

    @cached_property
    def _match(self) -> re.Pattern[str]:
        return _patterns(self._may_block)

    @cached_property
    def _ways(self) -> mounts.Ways:
        return mounts.Ways(mounts.here() if self._points is None else self._points, self._named_tree)

    def _named(self, path: str) -> str:
        """The pattern that PATH falls under; empty when there is none."""
        found = self._match.fullmatch(path) if path.startswith(self._starts) else None  # few of thousands do
        return self._may_block[(found.lastindex or 1) - 1] if found else ""

    def _named_tree(self, path: str) -> str:
        where = self._named(path)
        return where if where.endswith("/**") else ""

    def _where(self, path: str) -> str:
        """The pattern or mount that PATH falls under or leads to; empty when it does not block."""
        return self._named(path) or self._ways.hangs(path)

    def _tree(self, path: str, follow: bool) -> str:
        """As _where, where even lstat(2) can block."""
        return self._named_tree(path) or self._ways.hangs(path, follow)

    def _reaches(self, top: str, prune: Prune) -> bool:
        """Whether TOP or something below it may block; patterns are judged by their fixed beginning."""
        below = top.rstrip("/") + "/"
        fixed = (pattern.split("*")[0] for pattern in self._may_block)
        return (
            any(f.startswith(below) or below.startswith(f) for f in fixed)
            or bool(self._ways.hangs(top))
            or not all(map(prune, self._ways.below(top)))
        )

    def _careful(self, top: str, skip: frozenset[str], prune: Prune) -> Walked:
        """Walks by the calls above, so that each path goes where it has to."""
        todo = [top]
        while todo:
            base = todo.pop()
            try:
                names = self.list(base)
            except OSError as error:
                yield base, error
                continue
            for path in (f"{base.rstrip('/')}/{name}" for name in names):
                if path not in skip:
                    yield from self._step(path, prune, todo)

    def _step(self, path: str, prune: Prune, todo: Names) -> Walked:
        try:
            kind = self.stat(path, follow=False).type
            if kind == "file":
                yield path, self.read(path)
            elif kind == "directory" and not prune(path):
                todo.append(path)
        except OSError as error:
            yield path, error


@lru_cache(maxsize=8)
def _patterns(may_block: tuple[str, ...]) -> re.Pattern[str]:
    """One group a pattern, in order."""
    words = {"/**": "(?:/.*)?", "*": "[^/]*"}
    groups = ("".join(words.get(w, re.escape(w)) for w in re.split(r"(/\*\*$|\*)", p)) for p in may_block)
    return re.compile("|".join(f"({group})" for group in groups) or r"(?!)", re.DOTALL)


def _capabilities() -> str:
    """CapEff; empty when the kernel does not tell."""
    try:
        status = syscalls.read(_STATUS)
    except OSError:
        return ""
    found = re.search(rb"^CapEff:\s*([0-9a-f]{16})$", status, re.MULTILINE)
    return found[1].decode() if found else ""
