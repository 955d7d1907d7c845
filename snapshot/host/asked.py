"""A recording of a part of the questions: what it was never asked is unknown, and never absent.

A recorder keeps, for each section that was taken, the patterns of what it may read. Here a path that none of
them covers fails with NOT_RECORDED, and a section that is not among them was not taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from .base import LIMIT, NOT_RECORDED, Command, Host, Names, Prune, Result, Stat, Walked, checked, failure
from .patterns import Patterns
from .tops import PATHS


class Asked(Host):
    """HOST as far as ASKED goes, which is a list of patterns a section."""

    def __init__(self, host: Host, asked: Mapping[str, Names]) -> None:
        self._host, self._asked = host, asked
        self.source, self.session = host.source, host.session
        patterns = [pattern for patterns in asked.values() for pattern in patterns]
        self._all = Patterns([*patterns, *PATHS])  # of these, those that it has tell enough
        self._trees = Patterns(pattern for pattern in patterns if pattern.endswith("/**"))

    def asks(self, section: str, paths: Sequence[str]) -> bool:
        """As Host.asks."""
        return section in self._asked and self._host.asks(section, paths)

    def answerable(self, paths: Sequence[str]) -> Names:
        """As Host.answerable: what both cover."""
        asked = dict.fromkeys(pattern for patterns in self._asked.values() for pattern in patterns)
        both, narrower = _within(paths, asked), _within(asked, paths)
        known = frozenset(_within(narrower, both))
        return both + [pattern for pattern in narrower if pattern not in known]

    def read(self, path: str, limit: int = LIMIT) -> bytes:
        """As Host.read."""
        return self._host.read(self._covered(path), limit)

    def list(self, path: str) -> Names:
        """As Host.list."""
        return self._host.list(self._covered(path))

    def readlink(self, path: str) -> str:
        """As Host.readlink."""
        return self._host.readlink(self._covered(path))

    def stat(self, path: str, follow: bool = True) -> Stat:
        """As Host.stat."""
        return self._host.stat(self._covered(path), follow)

    def glob(self, pattern: str) -> Names:
        """As Host.glob: the pattern itself has to be covered."""
        return self._host.glob(self._covered(pattern))

    def lister(self, pattern: str) -> Callable[[str], Names]:
        """As Host.lister: that the pattern is covered is enough, the directories themselves need not be."""
        return self._host.lister(self._covered(pattern))

    def walk(self, top: str, skip: frozenset[str] = frozenset(), prune: Prune = lambda _: False) -> Walked:
        """As Host.walk: all that lies below TOP has to be covered."""
        top = checked(top)
        if not self._trees.cover(f"{top.rstrip('/')}/**"):
            return iter([(top, failure(NOT_RECORDED, top))])
        return self._host.walk(top, skip, prune)

    def run(self, commands: Sequence[Command]) -> Mapping[Command, Result]:
        """As Host.run."""
        return self._host.run(commands)

    def close(self) -> None:
        """As Host.close."""
        self._host.close()

    def _covered(self, path: str) -> str:
        plain = checked(path)
        if not self._all.cover(plain):
            raise failure(NOT_RECORDED, path)
        return plain


def _within(paths: Iterable[str], others: Iterable[str]) -> Names:
    """Those of PATHS, patterns, of which all that they cover is covered by one of OTHERS; * and ** stand for a name."""
    some = Patterns(others)
    deep = Patterns(other for other in others if "**" in other)
    return [path for path in paths if (deep if "**" in path else some).cover(path)]
