"""What a list of path patterns covers: * is one component or a part of it, ** one component or more.

A take declares hundreds of patterns and asks about thousands of paths. A regular expression of them takes longer to
compile than all files to read; a tree by component is built as it is read, and a folder is looked up in it once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class _Node:
    """What may follow after some components."""

    __slots__ = ("deep", "ends", "names", "parts", "stays")

    def __init__(self, stays: bool = False) -> None:
        self.ends, self.stays = False, stays  # STAYS: behind **, which takes every further component as well
        self.names: dict[str, _Node] = {}
        self.parts: dict[tuple[str, ...], _Node] = {}  # by the texts between the stars of a component
        self.deep: _Node | None = None

    def add(self, component: str) -> _Node:
        """The node behind one component of a pattern."""
        if component == "**":
            self.deep = self.deep or _Node(stays=True)
            return self.deep
        if "*" in component:
            return self.parts.setdefault(tuple(component.split("*")), _Node())
        return self.names.setdefault(component, _Node())

    def after(self, name: str) -> Iterator[_Node]:
        """The nodes behind one component of a path."""
        if name in self.names:
            yield self.names[name]
        for texts, node in self.parts.items():
            if _fits(name, texts):
                yield node
        if self.deep is not None:
            yield self.deep
        if self.stays:
            yield self


def _fits(name: str, texts: tuple[str, ...]) -> bool:
    """Whether NAME is TEXTS with anything between them; the leftmost place of each is as good as any other."""
    first, *middle, last = texts
    at, end = len(first), len(name) - len(last)
    if at > end or not name.startswith(first) or not name.endswith(last):
        return False
    for text in middle:
        found = name.find(text, at, end)
        if found < 0:
            return False
        at = found + len(text)
    return True


class Patterns:
    """PATTERNS, and what they cover."""

    def __init__(self, patterns: Iterable[str]) -> None:
        top = _Node()
        for pattern in patterns:
            node = top
            for component in pattern.split("/")[1:]:
                node = node.add(component)
            node.ends = True
        self._folders: dict[str, list[_Node]] = {"": [top]}

    def cover(self, path: str) -> bool:
        """Whether one of them covers the absolute PATH, which may itself be a pattern."""
        folder, _, name = path.rpartition("/")
        nodes = self._folders.get(folder) or self._enter(folder)
        for node in nodes:
            named = node.names.get(name)
            if named is not None and named.ends:  # as of nearly all
                return True
        return any(found.ends for node in nodes for found in node.after(name))

    def _enter(self, folder: str) -> list[_Node]:
        """The nodes behind FOLDER, reached from the nearest folder above that was seen before."""
        names: list[str] = []
        while folder not in self._folders:
            folder, _, name = folder.rpartition("/")
            names.append(name)
        nodes = self._folders[folder]
        for name in reversed(names):
            folder = f"{folder}/{name}"
            nodes = self._folders[folder] = list({found: None for node in nodes for found in node.after(name)})
        return nodes
