"""A take where /proc or /sys is not mounted, as in a rescue chroot: what they would tell is unknown, and not gone."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from snapshot.capture import take
from snapshot.host.base import LIMIT, Command, Host, Names, Prune, Result, Stat, Walked, failure
from snapshot.host.recorded import open_host
from snapshot.host.recorder import Recorder
from snapshot.report.review import review

from .recordings import FIXTURES, taken


class Without(Host):
    """A recorded host as it is seen while TOP is an empty folder."""

    def __init__(self, name: str, top: str) -> None:
        self.host, self.top = open_host(str(FIXTURES / "hosts" / name)), f"{top}/"
        self.source, self.session = self.host.source, self.host.session

    def seen(self, path: str) -> str:
        """PATH, if it is not below the top."""
        if path.startswith(self.top):
            raise failure(errno.ENOENT, path)
        return path

    def read(self, path: str, limit: int = LIMIT) -> bytes:
        return self.host.read(self.seen(path), limit)

    def list(self, path: str) -> Names:
        return self.host.list(self.seen(path))

    def readlink(self, path: str) -> str:
        return self.host.readlink(self.seen(path))

    def stat(self, path: str, follow: bool = True) -> Stat:
        return self.host.stat(self.seen(path), follow)

    def lister(self, pattern: str) -> Callable[[str], Names]:
        ask = self.host.lister(pattern)
        return lambda path: ask(self.seen(path))

    def walk(self, top: str, skip: frozenset[str] = frozenset(), prune: Prune = lambda _: False) -> Walked:
        if f"{top}/".startswith(self.top):
            return iter([(top, failure(errno.ENOENT, top))])
        return self.host.walk(top, skip, prune)

    def run(self, commands: Sequence[Command]) -> Mapping[Command, Result]:
        return self.host.run(commands)

    def asks(self, section: str, paths: Sequence[str]) -> bool:
        return self.host.asks(section, paths)


@pytest.mark.parametrize("top", ["/proc", "/sys"])
def test_nothing_is_gone(top: str, tmp_path: Path) -> None:
    name = "pve-epyc-after.tar.xz"
    whole = taken(name)
    recorder = Recorder(Without(name, top), f"{tmp_path}/r.tar")
    seen = take(recorder)
    recorder.close()
    assert [name for name, one in seen.outcomes.items() if one.state not in ("ok", "partial", "absent")] == []
    assert sum(u.why == "not-mounted" for one in seen.outcomes.values() for u in one.unread or ()) > 50
    said = review(whole, seen)
    assert said.diff and said.diff.changes == []
    assert {f.rule for f in said.judgement.findings} <= {f.rule for f in review(whole, whole).judgement.findings}
    assert take(open_host(f"{tmp_path}/r.tar")).dumps() == seen.dumps()
