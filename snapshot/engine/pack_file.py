"""A pack as the file that its author edits: its rules with their examples, and what is wrong with it, line by line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Self

from pydantic import ValidationError

from .. import tomlio
from ..errors import FormatError, SnapError
from ..records import record
from ..sections import NAMES
from .example import Example, Side, problems
from .lint import DERIVED, check, examples, faults
from .packs import directory, files, read, shipped
from .rule import Rule

NO_PATH = "there is no path "  # as lint says it, before the path


@record(frozen=True)
class PackFile:
    """A file of rules; TABLE is what it holds."""

    path: str
    text: str
    table: dict[str, Any]

    @classmethod
    def open(cls, path: str) -> Self:
        """The pack at PATH. FormatError, with the line, when it cannot be read or is no TOML."""
        text = tomlio.decode(read(path), path)
        return cls(path, text, tomlio.loads(text, path))

    def __len__(self) -> int:
        """How many rules it has, well made or not."""
        return len(self._ids)

    @property
    def shown(self) -> int:
        """How many examples it has."""
        rules = self.table.get("rule")
        found = [rule.get("example") for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else []
        return sum(len(examples) for examples in found if isinstance(examples, list))

    @cached_property
    def cases(self) -> list[tuple[Rule, list[Example]]]:
        """The rules with their examples. FormatError, with the line, when something is wrong with the pack."""
        for fault in faults(self.table, self.path):
            raise FormatError(self._placed(fault))
        return list(zip(check(self.table, self.path), examples(self.table), strict=True))

    def faults(self) -> list[str]:
        """Everything that is wrong, a line each; of a pack that is well made, what its examples show to be wrong."""
        return [self._placed(fault) for fault in faults(self.table, self.path)] or [*self.differences()]

    def differences(self) -> Iterator[str]:
        """What does not come out as the examples say, a line each. FormatError as for ``cases``."""
        for at, (rule, shown) in enumerate(self.cases):
            for number, example in enumerate(shown):
                for what in _wrong(rule, example):
                    place = self._place(("rule", at, "example", number))
                    yield f"{place}: {rule.id}: example {example.name!r}: {what}"

    def clashes(self, taken: dict[str, str]) -> Iterator[str]:
        """Rules whose ids are TAKEN, id -> by whom, a line each; the others are taken from now on."""
        for at, name in enumerate(self._ids):
            if name and taken.setdefault(name, self.path) != self.path:
                yield f"{self._place(('rule', at))}: {name}: {taken[name]} has a rule of this id"

    def _placed(self, fault: str) -> str:
        """A fault as lint words it, "FILE: RULE: KEY: what", with the line after the file."""
        words = fault.removeprefix(f"{self.path}: ")
        who, _, rest = words.partition(": ")
        return f"{self._place(self._keys(who, rest))}: {words}"

    def _keys(self, who: str, rest: str) -> tuple[str | int, ...]:
        """Where the rule, or of it the key that a fault begins with, stands; as near as that can be told."""
        number = re.fullmatch(r"rule (\d+)", who)
        if who not in self._ids and not number:
            return tuple(who.split("."))
        at = int(number[1]) - 1 if number else self._ids.index(who)
        if rest.startswith(NO_PATH):
            return ("rule", at, *_found(rest.removeprefix(NO_PATH), self.table["rule"][at]))
        key = rest.replace("example: ", "example.", 1).partition(": ")[0]
        return ("rule", at, *(int(word) if word.isdecimal() else word for word in key.split(".")))

    @property
    def _ids(self) -> list[str]:
        """The id of each rule; empty where it has none."""
        rules = self.table.get("rule")
        found = [rule.get("id") if isinstance(rule, dict) else "" for rule in rules] if isinstance(rules, list) else []
        return [name if isinstance(name, str) else "" for name in found]

    def _place(self, keys: tuple[str | int, ...]) -> str:
        line = tomlio.line_of(self.text, keys)
        return f"{self.path}:{line}" if line else self.path


def _found(shown: str, value: Any) -> tuple[str | int, ...]:
    """Where below VALUE stands what reads as SHOWN; empty when it is not there."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        if repr(part) == shown:
            return (key,)
        if rest := _found(shown, part):
            return (key, *rest)
    return ()


def _strange(side: Side) -> Iterator[str]:
    """The sections and derived tables that it names and that do not exist, in words."""
    named = [*side.sections, *side.absent, *(fact.path[0] if fact.path else "" for fact in side.unread)]
    yield from (f"there is no section {name!r}" for name in named if name not in NAMES)
    yield from (f"there is no derived table {name!r}" for name in side.derived if name not in DERIVED)


def _wrong(rule: Rule, example: Example) -> list[str]:
    """What does not come out, or why the example cannot be run."""
    if strange := [word for side in (example.before, example.after) if side for word in _strange(side)]:
        return strange
    try:
        return problems(rule, example)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        model = error.title.rpartition(" ")[2].rstrip("]")
        return [f"{model}: {'.'.join(map(str, first['loc']))}: {first['msg']}"]
    except SnapError as error:
        return [str(error)]


def packs(places: Iterable[str], stem: str = "") -> Iterator[PackFile]:
    """The packs in some places, files or directories of them; those called STEM.toml alone if it is given.

    FormatError when there is no such place, or a pack cannot be read.
    """
    for path in _files(places):
        if not stem or os.path.basename(path) == f"{stem}.toml":
            yield PackFile.open(path)


def added(places: Iterable[str]) -> list[Rule]:
    """The rules of packs besides the shipped ones.

    FormatError, with file and line, when a pack is not well made or one of its ids is taken.
    """
    found, taken = [], {rule.id: "hostsnap" for rule in shipped()}
    for pack in packs(places):
        found += [rule for rule, _ in pack.cases]
        for clash in pack.clashes(taken):
            raise FormatError(clash)
    return found


def _files(places: Iterable[str]) -> list[str]:
    """The packs in some places, each once, though two places may hold it."""
    found: dict[str, str] = {}
    for path in (path for place in places for path in files(place)):
        found.setdefault(os.path.realpath(path), path)
    return [*found.values()]


def wrong(places: Iterable[str]) -> tuple[list[PackFile], list[str]]:
    """The packs in some places, and what is wrong with each and with all together, a line each.

    FormatError when there is no such place.
    """
    found, lines = [], []
    first = {rule.id: "hostsnap" for rule in shipped()}
    for path in _files(places):
        try:
            found.append(PackFile.open(path))
        except FormatError as error:
            lines.append(str(error))
            continue
        lines += found[-1].faults()
        ours = os.path.realpath(os.path.dirname(path)) == os.path.realpath(directory())
        lines += [] if ours else found[-1].clashes(first)
    return found, lines
