"""One part of a snapshot, by path: as a table of names and values, as TOML, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .. import tomlio
from ..document import Snapshot
from ..errors import SnapError
from ..sections import NAMES
from .paper import shown

PARTS = ("meta", "outcomes", "files", *NAMES)


def is_path(text: str) -> bool:
    """Whether TEXT begins with the name of a part: pci, sysctl.values.vm.swappiness."""
    return text.split(".", 1)[0] in PARTS


def part(snapshot: Snapshot, name: str) -> Any:
    """A whole part as a plain table."""
    if name == "meta":
        return snapshot.meta.table()
    if name == "outcomes":
        return {k: v.table() for k, v in snapshot.outcomes.items()}
    if name == "files":
        return {k: v.table() for k, v in snapshot.files.items()}
    return snapshot.table(name)


def whole(snapshot: Snapshot) -> list[tuple[tuple[str, ...], Any]]:
    """Every part that the file has, also one without facts."""
    return [((name,), part(snapshot, name)) for name in PARTS if name not in NAMES or snapshot.text(name)]


def find(snapshot: Snapshot, path: str) -> tuple[tuple[str, ...], Any]:
    """The keys and the value of a path written with dots, though keys may hold dots themselves.

    SnapError says whether the path does not exist or could not be read when the snapshot was taken.
    """
    name, _, rest = path.partition(".")
    if name not in PARTS:
        raise SnapError(f"no part {name!r}; parts are {', '.join(PARTS)}")
    for keys, value in _matches(part(snapshot, name), rest):
        return (name, *keys), value
    raise SnapError(f"{path}: {_missing(snapshot, name, rest)}")


def _matches(value: Any, rest: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not rest:
        yield (), value
    elif isinstance(value, Mapping):
        for key in sorted(value, key=len, reverse=True):
            if rest == key or rest.startswith(key + "."):
                for keys, found in _matches(value[key], rest[len(key) + 1:]):
                    yield (key, *keys), found
    elif isinstance(value, list):
        index, _, more = rest.partition(".")
        if index.isdecimal() and int(index) < len(value):
            for keys, found in _matches(value[int(index)], more):
                yield (index, *keys), found


def _missing(snapshot: Snapshot, name: str, rest: str) -> str:
    if name in NAMES:
        outcome, whole = snapshot.outcomes.get(name), snapshot.unread(name, ())
        facts = [whole] if whole else (outcome.unread or []) if outcome else []
        for fact in facts:
            if (rest + ".").startswith(".".join((*fact.path, ""))):
                return f"could not be read when the snapshot was taken ({fact.source}: {fact.why})"
        if outcome and outcome.state == "absent":
            return f"not on this host: {outcome.why}"
    return "not in the snapshot"


def render_table(keys: tuple[str, ...], value: Any) -> str:
    """Every leaf below as "name = value", one a line, names in the order of the file."""
    return "".join(f"{shown('.'.join(path))} = {_scalar(leaf)}\n" for path, leaf in _leaves(keys, value))


def render_toml(found: list[tuple[tuple[str, ...], Any]]) -> str:
    """The found values under their own names, as TOML."""
    return tomlio.dumps(_nest(found))


def render_json(found: list[tuple[tuple[str, ...], Any]]) -> str:
    """The found values under their own names, as JSON."""
    return json.dumps(_nest(found), indent=2, sort_keys=True) + "\n"


def _nest(found: list[tuple[tuple[str, ...], Any]]) -> dict[str, Any]:
    root: dict[str, Any] = {}
    for keys, value in found:
        table = root
        for key in keys[:-1]:
            table = table.setdefault(key, {})
        table[keys[-1]] = value
    return root


def _leaves(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping) and value:
        for key, below in value.items():
            yield from _leaves((*path, str(key)), below)
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        for index, item in enumerate(value):
            yield from _leaves((*path, str(index)), item)
    else:
        yield path, value


def _scalar(value: Any) -> str:
    return shown(value) if isinstance(value, str) else json.dumps(value)
