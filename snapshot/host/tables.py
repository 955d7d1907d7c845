"""What a recording knows beyond file contents, from recorded.json.

Its form stands in ``recorder``. Hand-written ones may leave out tables, and fields of a node but its type.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar, get_args

from ..errors import SnapError
from ..records import asdict, field, record
from .base import LAST_NS, WORDS, FileType, Names, Session, Stat, moment

FORMAT = 1
NAME = "recorded.json"
_WORD = (1 << 32) - 1
_FIELDS = {  # of a node: what is usual, and the largest
    "major": (0, _WORD), "minor": (0, _WORD), "mode": (0o644, 0o7777), "uid": (0, _WORD), "gid": (0, _WORD),
    "size": (0, (1 << 63) - 1),
}  # fmt: skip
_NUMBERS = {name: number for number, name in WORDS.items()}
_V = TypeVar("_V")


@record()
class Tables:
    """The tables of recorded.json, by the paths that were asked for."""

    session: Session | None = None
    nodes: dict[str, Stat] = field(default_factory=dict)  # of stat(2)
    linknodes: dict[str, Stat] = field(default_factory=dict)  # of lstat(2), where it is a link
    links: dict[str, str] = field(default_factory=dict)
    lists: dict[str, Names] = field(default_factory=dict)
    errors: dict[str, dict[str, int]] = field(default_factory=dict)  # by read, list, readlink, stat, lstat
    unwalked: dict[str, Names] = field(default_factory=dict)
    asked: dict[str, Names] | None = None  # by section; None: all that there is

    def dumps(self) -> bytes:
        """The text of recorded.json; other bytes than ASCII are escaped, so that any name survives."""
        table: dict[str, Any] = {"format": FORMAT, "links": self.links, "lists": self.lists}
        if self.session is not None:
            table["session"] = asdict(self.session)
        table["nodes"] = {path: asdict(stat) for path, stat in self.nodes.items()}
        table["linknodes"] = {path: asdict(stat) for path, stat in self.linknodes.items()}
        table["errors"] = {
            path: {call: WORDS.get(number, "EIO") for call, number in calls.items()}
            for path, calls in self.errors.items()
        }
        table["unwalked"] = self.unwalked
        if self.asked is not None:
            table["asked"] = self.asked
        return (json.dumps(table, indent=1, sort_keys=True) + "\n").encode()


class _BadError(Exception):
    """What is wrong in recorded.json."""


def loads(data: bytes, name: str = NAME) -> Tables:
    """The tables in the text of recorded.json. SnapError says what is wrong with it, and calls it NAME."""
    try:
        return _tables(json.loads(data))
    except _BadError as error:
        raise SnapError(f"{name}: {error}") from None
    except ValueError as error:  # of json, and bytes that are no text
        raise SnapError(f"{name}: not JSON: {error}") from None
    except RecursionError:
        raise SnapError(f"{name}: nested too deeply") from None


def _tables(found: object) -> Tables:
    table = _dict(found, "the file")
    number = table.get("format", FORMAT)
    if number != FORMAT:
        raise _BadError(f"format {number!r} is not {FORMAT}: made by a newer version of this tool?")
    session, asked = table.get("session"), table.get("asked")
    return Tables(
        session=None if session is None else _session(_dict(session, "session")),
        nodes=_paths(table, "nodes", _stat),
        linknodes=_paths(table, "linknodes", _stat),
        links=_paths(table, "links", _text),
        lists=_paths(table, "lists", _names),
        errors=_paths(table, "errors", _errors),
        unwalked=_paths(table, "unwalked", _names),
        asked=None if asked is None else {n: _names(v, f"asked {n!r}") for n, v in _dict(asked, "asked").items()},
    )


def _paths(table: dict[str, Any], name: str, convert: Callable[[object, str], _V]) -> dict[str, _V]:
    entries = _dict(table.get(name, {}), name)
    for path in entries:
        if not path.startswith("/"):
            raise _BadError(f"{name}: {path!r} is no absolute path")
    return {path: convert(value, f"{name} {path!r}") for path, value in entries.items()}


def _session(table: dict[str, Any]) -> Session:
    return Session(
        _number(table.get("taken_ns", 0), "session taken_ns", LAST_NS),
        _number(table.get("uid", 0), "session uid", _WORD),
        _text(table.get("capabilities", ""), "session capabilities"),
        _text(table.get("hostname", ""), "session hostname"),
        table.get("redacted") is True,
    )


def _stat(value: object, what: str) -> Stat:
    table = _dict(value, what)
    kind: Any = table.get("type")
    if kind not in get_args(FileType):
        raise _BadError(f"{what}: type {kind!r} is none of {', '.join(get_args(FileType))}")
    numbers = [_number(table.get(k, usual), f"{what} {k}", last) for k, (usual, last) in _FIELDS.items()]
    numbers.append(moment(_whole(table.get("mtime_ns", 0), f"{what} mtime_ns")))
    return Stat(kind, *numbers)


def _errors(value: object, what: str) -> dict[str, int]:
    return {call: _errno(word, what) for call, word in _dict(value, what).items()}


def _errno(word: object, what: str) -> int:
    if not isinstance(word, str) or word not in _NUMBERS:
        raise _BadError(f"{what}: {word!r} is no errno name")
    return _NUMBERS[word]


def _dict(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _BadError(f"{what} is no table")
    return value


def _names(value: object, what: str) -> Names:
    if not isinstance(value, list):
        raise _BadError(f"{what} is no list")
    return [_text(item, what) for item in value]


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise _BadError(f"{what} is no text")
    return value


def _number(value: object, what: str, last: int) -> int:
    number = _whole(value, what)
    if not 0 <= number <= last:
        raise _BadError(f"{what} is not within 0 and {last}")
    return number


def _whole(value: object, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _BadError(f"{what} is no whole number")
    return value
