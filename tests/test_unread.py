"""A file that cannot be read is no news: whatever is unreadable, nothing is found that was not found before.

Of each recorded host below every path that a take reads or lists is made unreadable once, one of each shape (paths that
differ in numbers and addresses alone are of one), and what is then taken is held against the intact host. Many are lost
at a time, neighbours never: files in some takes, folders, which hide more, in others. A finding of such a pair says of
something that was not read that it changed or is gone, and would be a false alarm.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable

import pytest

from snapshot.capture import take
from snapshot.diff import compare
from snapshot.document import Snapshot
from snapshot.engine.finding import Finding
from snapshot.engine.judge import judge
from snapshot.engine.packs import shipped
from snapshot.host import archive
from snapshot.host.asked import Asked
from snapshot.host.base import LIMIT, Names, Prune, Walked
from snapshot.host.recorded import Recorded
from snapshot.host.tables import NAME, Tables, loads
from snapshot.host.tree import Tree, rooted
from snapshot.records import replace
from tests.recordings import FIXTURES

HOSTS = ("pve-epyc-before.tar.xz", "rdma-ib.tar.xz", "vm-tuned.tar.xz")
TAKES = {"files": 30, "folders": 20}  # of each host
ABOUT = "meta.capture-incomplete"  # says just that: something could not be read
NUMBERS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}(:[0-9a-f]{2}\.[0-7])?|[0-9]+")


class Watched(Recorded):
    """A recorded host that notes which files and folders are there and asked for."""

    def __init__(self, tree: Tree, tables: Tables) -> None:
        super().__init__(tree, tables)
        self.kinds: dict[str, str] = {}

    def read(self, path: str, limit: int = LIMIT) -> bytes:
        """As Host.read."""
        data = super().read(path, limit)
        self.kinds[path] = "files"
        return data

    def list(self, path: str) -> Names:
        """As Host.list."""
        names = super().list(path)
        self.kinds[path] = "folders"
        return names

    def walk(self, top: str, skip: frozenset[str] = frozenset(), prune: Prune = lambda _: False) -> Walked:
        """As Host.walk."""
        for path, content in super().walk(top, skip, prune):
            if isinstance(content, bytes):
                self.kinds[path] = "files"
            yield path, content


class Machine:
    """A recorded host that lies in memory, and what there is on it."""

    def __init__(self, name: str) -> None:
        tree = rooted(archive.load(str(FIXTURES / "hosts" / name)))
        assert tree
        self.tree, self.tables = tree, loads(tree.data(f"/{NAME}", LIMIT), NAME)
        watched = Watched(self.tree, self.tables)
        self.intact, self.kinds = self._taken(watched), watched.kinds
        self.known = {(found.rule, found.subject) for found in judged(self.intact, self.intact)}

    def _taken(self, host: Recorded) -> Snapshot:
        return take(host if self.tables.asked is None else Asked(host, self.tables.asked))

    def without(self, paths: Iterable[str]) -> Snapshot:
        """What a take makes of it while PATHS cannot be read."""
        errors = {path: {**self.tables.errors.get(path, {}), "read": errno.EACCES, "list": errno.EACCES}
                  for path in paths}
        return self._taken(Recorded(self.tree, replace(self.tables, errors={**self.tables.errors, **errors})))

    def shapes(self, kind: str) -> list[str]:
        """A path of each shape, from the middle of those of the shape."""
        found: dict[str, list[str]] = {}
        for path in sorted(path for path, one in self.kinds.items() if one == kind):
            found.setdefault(NUMBERS.sub("N", path), []).append(path)
        return [paths[len(paths) // 2] for paths in found.values()]


def judged(before: Snapshot, after: Snapshot) -> list[Finding]:
    found = judge(before, after, compare(before, after), shipped()).findings
    return [one for one in found if one.rule != ABOUT]


@pytest.mark.parametrize("host", HOSTS)
def test_nothing_is_found_that_an_unreadable_file_explains(host: str) -> None:
    machine = Machine(host)
    for kind, takes in TAKES.items():
        shapes = machine.shapes(kind)
        assert len(shapes) > takes
        for first in range(takes):
            lost = shapes[first::takes]
            found = judged(machine.intact, machine.without(lost))
            news = [(one.rule, one.subject, one.class_) for one in found
                    if (one.rule, one.subject) not in machine.known]
            assert not news, (news, lost)
