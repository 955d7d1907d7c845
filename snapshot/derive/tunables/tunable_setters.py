"""What the next boot does to tunables, indexed so that each tunable finds its own: actions by target and by file.

Actions are those of ``boot_actions``: lines of units, scripts, udev, tmpfiles.d, tuned, cron and network files. A path
may be a shell's glob: in it * stays within a part (glob(7)). An action that is not understood may set whatever its
tools set, and whatever lies below the paths that it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ..actions.action import NETWORK
from ..actions.boot_actions import boot_actions
from .tunable import EARLY, LATE, Setter
from .tunable_words import Words, next_kernel, next_words

if TYPE_CHECKING:
    from ...document import Snapshot
    from ..actions.action import Action

_SIGNS = regex(r"[*?\[{$]")
_CLASS = regex(r"\[([!^]?)(\]?[^\]/]*)\]")
_ANY = regex(r"\$(?:\w+|\{\w+\}|\([^)]*\))|\{[^{}/]*\}")
_RANGE = regex(r"([ -~])(?:-([ -~]))?")
NOT_TOOLS = ("write", "target")  # what section units calls a line that writes to, or names, a path


class Setters:
    """Everything that a boot of SNAPSHOT's host does to tunables."""

    def __init__(self, snapshot: Snapshot, actions: Iterable[Action]) -> None:
        self.snapshot = snapshot
        self.words: Words = next_words(snapshot)
        self.kernel = next_kernel(snapshot)
        self._tables: dict[str, Mapping[str, Any]] = {}
        self._by_target: dict[str, list[Action]] = {}
        self._by_name: dict[str, list[tuple[re.Pattern[str], Setter]]] = {}
        self._any_name: list[tuple[re.Pattern[str], Setter]] = []
        self._starts = set[str]()  # of paths, as far as no sign of a glob stands in them
        self._below: dict[str, list[tuple[re.Pattern[str], Setter]]] = {}
        self._by_tool: dict[str, list[Setter]] = {}
        self._places: dict[int, int] = {}
        for place, action in enumerate(actions):
            self._places[id(action)] = place
            self._add(action)
        self.any_file = bool(self._by_name or self._any_name or self._below)

    def setter(self, action: Action, value: str | None, doubt: str = "") -> Setter:
        """ACTION as one that sets VALUE; DOUBT: why that may be another tunable. Its rank ends with its place."""
        rank = (EARLY if action.order < NETWORK else LATE, action.order, self._places[id(action)])
        sure, why = action.certain and not doubt, action.doubt or doubt
        return Setter(action.how, action.origin, value, sure, rank, action.unit, action.why_not, why)

    def _add(self, action: Action) -> None:
        self._by_target.setdefault(action.target, []).append(action)
        if action.target == "file" and action.where:
            self._place(action.where[0], self.setter(action, action.value))
        elif action.target == "unknown":
            for word in action.where:
                if word.startswith("/"):
                    pattern = re.compile(f"{translated(word.rstrip('/'))}(?:/.*)?", re.DOTALL)
                    folder = _SIGNS.split(word)[0].rpartition("/")[0]
                    self._below.setdefault(folder, []).append((pattern, self.setter(action, None)))
                elif word not in NOT_TOOLS:
                    self._by_tool.setdefault(word, []).append(self.setter(action, None))

    def _place(self, path: str, found: Setter) -> None:
        name = path.rpartition("/")[2]
        self._starts.add(_SIGNS.split(path)[0])
        place = self._any_name if _SIGNS.search(name) else self._by_name.setdefault(name, [])
        place.append((matcher(path), found))

    def table(self, section: str) -> Mapping[str, Any]:
        """The section's table; empty without one."""
        if section not in self._tables:
            self._tables[section] = self.snapshot.table(section)
        return self._tables[section]

    def below(self, folder: str) -> bool:
        """Whether any action writes, or may write, a file below FOLDER."""
        return any(folder.startswith(path) or path.startswith(folder) for path in (*self._starts, *self._below))

    def writes(self, *names: str) -> bool:
        """Whether any action writes, or may write, a file of one of these names: mostly none does."""
        return bool(self._any_name or self._below) or any(name in self._by_name for name in names)

    def of(self, target: str) -> list[Action]:
        """The actions that set something of TARGET."""
        return self._by_target.get(target, [])

    def tools(self, *names: str) -> list[Setter]:
        """Lines that name one of these tools and are not understood: they may set anything that it sets."""
        return [found for name in names for found in self._by_tool.get(name, ())] if self._by_tool else []

    def file(self, *paths: str) -> list[Setter]:
        """What writes, or may write, one of PATHS, which are names of one file."""
        if not self.any_file:
            return []
        near = ((path, one) for path in paths for one in self._near(path))
        return list(dict.fromkeys(found for path, (pattern, found) in near if pattern.fullmatch(path)))

    def _near(self, path: str) -> Iterator[tuple[re.Pattern[str], Setter]]:
        """What may mean PATH: by its name, or by a folder above it."""
        yield from self._by_name.get(path.rpartition("/")[2], ())
        yield from self._any_name
        for slash in re.finditer("/", path) if self._below else ():
            yield from self._below.get(path[: slash.start()], ())

    def gaps(self, *sources: tuple[str, str]) -> list[dict[str, str]]:
        """Why something of these (section, field) that sets tunables at boot may be missing."""
        asked = (source for source in sources if source[0] != "cmdline" or self.words.running)
        unread = (self.snapshot.unread(section, (name,) if name else ()) for section, name in asked)
        return [{"source": fact.source, "why": fact.why} for fact in unread if fact]


@lru_cache(maxsize=2)  # many tables ask for those of the same two snapshots
def of_boot(snapshot: Snapshot) -> Setters:
    """What the next boot of SNAPSHOT's host does."""
    return Setters(snapshot, boot_actions(snapshot))


def matcher(path: str) -> re.Pattern[str]:
    """A pattern that takes the paths that the glob PATH takes; variables and braces stand for any name."""
    return re.compile(translated(path), re.DOTALL)


def translated(path: str) -> str:
    """The regular expression of a glob."""
    found, rest = "", path
    while rest:
        sign = rest[0]
        taken, pattern = 1, re.escape(sign)
        if sign in "*?":
            pattern = "[^/]*" if sign == "*" else "[^/]"
        elif sign == "[" and (ranges := _CLASS.match(rest)):
            taken, pattern = ranges.end(), _signs(ranges[1], ranges[2])
        elif any_name := _ANY.match(rest):
            taken, pattern = any_name.end(), "[^/]*"
        found, rest = found + pattern, rest[taken:]
    return found


def _signs(negated: str, inner: str) -> str:
    """The signs of [a-z] or [!a-z] but /; a range that is upside down holds none."""
    signs = {chr(code) for first, last in _RANGE.findall(inner) for code in range(ord(first), ord(last or first) + 1)}
    return f"[{'^/' if negated else ''}{''.join(map(re.escape, sorted(signs - {'/'})))}]" if signs else "(?!)"
