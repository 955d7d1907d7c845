"""The recorded roots and pairs in fixtures/, found by folder, and what a take makes of them.

A pair is what happened between two snapshots: two recorded hosts, and edits that make the event out of them.
fixtures/README.md describes its form. An edit has to do something: one that meets nothing, or leaves all as it is, is
a fault of the pair, so that none outlives the fact that it was about.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from snapshot.capture import take
from snapshot.document import FileFact, Meta, Outcome, Snapshot
from snapshot.host.recorded import open_host
from snapshot.sections import model

FIXTURES = Path(__file__).parents[1] / "fixtures"
HOSTS = tuple(sorted(p.name for p in (FIXTURES / "hosts").iterdir() if not p.name.endswith(".md")))
EVENTS = tuple(sorted(p.parent.name for p in FIXTURES.glob("pairs/*/pair.toml")))
SIDES = {"before": ("before",), "after": ("after",), "both": ("before", "after")}
EDITS = {"like", "meta", "outcome", "rename", "edit", "unread"}
KEYS = {"title", "before", "after", "config", "options", "says", "silent"} | EDITS
HEAD = ("meta", "outcomes", "files")  # what stands beside the sections
GLOB = frozenset("*?[")


def form(name: str) -> dict[str, Any]:
    """What fixtures/pairs/NAME/pair.toml says."""
    return tomllib.loads((FIXTURES / "pairs" / name / "pair.toml").read_text())


PAIRS = tuple(name for name in EVENTS if not form(name).keys() & EDITS)  # of which both sides are as recorded


@dataclass(frozen=True)
class Event:
    """A pair and what has to be said of it."""

    title: str
    before: Snapshot
    after: Snapshot
    config: Path | None
    options: tuple[str, ...]
    says: tuple[str, ...]
    silent: tuple[str, ...]


@cache
def taken(host: str) -> Snapshot:
    """The snapshot of fixtures/hosts/HOST."""
    machine = open_host(str(FIXTURES / "hosts" / host))
    try:
        return take(machine)
    finally:
        machine.close()


def pair(name: str) -> tuple[Snapshot, Snapshot]:
    """Both snapshots of fixtures/pairs/NAME."""
    return event(name).before, event(name).after


@cache
def event(name: str) -> Event:
    """The event of fixtures/pairs/NAME. ValueError where the file does not have its form, or an edit does nothing."""
    table = form(name)
    if unknown := table.keys() - KEYS:
        raise ValueError(f"{name}: {', '.join(sorted(unknown))}")
    like = pair(table["like"]) if "like" in table else (taken(table["before"]), taken(table["after"]))
    drafts = dict(zip(SIDES["both"], map(Draft, like), strict=True))
    try:
        edit(drafts, table)
        before, after = (draft.snapshot() for draft in drafts.values())
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error
    config = FIXTURES / "pairs" / name / table["config"] if "config" in table else None
    lists = (tuple(table.get(key, ())) for key in ("options", "says", "silent"))
    return Event(table["title"], before, after, config, *lists)


class Draft:
    """A snapshot in the making: tables of OF, copied when they are asked for."""

    def __init__(self, of: Snapshot) -> None:
        self.of = of
        self.tables: dict[str, Any] = {}

    def table(self, name: str) -> Any:
        """A section, meta, outcomes or files, to be changed in place."""
        if name not in self.tables:
            if name == "meta":
                plain = self.of.meta.table()
            elif name in HEAD:
                plain = {key: part.table() for key, part in getattr(self.of, name).items()}
            else:
                plain = self.of.table(name)
            self.tables[name] = deepcopy(plain)
        return self.tables[name]

    def lose(self, section: str, path: list[str], why: str, source: str) -> None:
        """What stood at PATH is unknown; of a section as a whole that is an outcome."""
        for holder, *place in _spots(self.table(section), path, new=True):
            holder.pop(place[-1], None)
            self.unknown(section, place, [])
            fact = {"path": place, "why": why, "source": source}
            outcome = self.table("outcomes")[section]
            outcome.setdefault("unread", []).append(fact)
            outcome["state"] = "partial" if outcome["state"] == "ok" else outcome["state"]

    def unknown(self, section: str, place: list[Any], now: list[Any]) -> None:
        """What was unknown at PLACE and below it is so at the place NOW; nowhere if that is empty."""
        outcome = self.table("outcomes").get(section, {})
        for fact in outcome.pop("unread", ()):
            path = fact["path"]
            if path[: len(place)] == place:
                path = now and [*now, *path[len(place) :]]
            if path:
                outcome.setdefault("unread", []).append(fact | {"path": path})
        if outcome.get("state") == "partial" and "unread" not in outcome:
            outcome["state"] = "ok"

    def end(self, section: str, outcome: dict[str, Any]) -> None:
        """The section ended with OUTCOME: it has no facts, or those that edits give it."""
        self.tables[section] = {} if outcome["state"] in ("ok", "partial") else None
        self.table("outcomes")[section] = {"facts": 0} | outcome

    def snapshot(self) -> Snapshot:
        """The snapshot, facts counted anew."""
        if not self.tables:
            return self.of
        outcomes = {name: Outcome.model_validate(table) for name, table in self.table("outcomes").items()}
        files = {name: FileFact.model_validate(table) for name, table in self.table("files").items()}
        edited = {name: table for name, table in self.tables.items() if name not in HEAD}
        models = {name: found for name in outcomes if name not in edited and (found := self.of.section(name))}
        models |= {name: model(name).model_validate(table) for name, table in edited.items() if table is not None}
        return Snapshot.build(Meta.model_validate(self.table("meta")), outcomes, files, models)


def edit(drafts: Mapping[str, Draft], table: dict[str, Any]) -> None:
    """Everything that the pair's TABLE does to the two sides. Edits speak of the new names and sections."""
    for side, values in table.get("meta", {}).items():
        drafts[side].table("meta").update(values)
    for draft, row in _rows(drafts, table, "outcome"):
        draft.end(row.pop("section"), row)
    for draft, row in _rows(drafts, table, "rename"):
        _rename(draft, row["names"], row["sections"])
    for draft, row in _rows(drafts, table, "edit"):
        _change(draft, **row)
    for draft, row in _rows(drafts, table, "unread"):
        section, *path = row["path"]
        draft.lose(section, path, row["why"], row["source"])


def _rows(drafts: Mapping[str, Draft], table: dict[str, Any], kind: str) -> Iterator[tuple[Draft, dict[str, Any]]]:
    for row in table.get(kind, ()):
        for side in SIDES[row.get("side", "after")]:
            yield drafts[side], {key: value for key, value in row.items() if key != "side"}


def _change(draft: Draft, path: list[str | int], **what: Any) -> None:
    """One edit: VALUE is set, the item goes (REMOVE), or it gets another KEY."""
    if len(what) != 1 or what.keys() - {"value", "remove", "key"} or what.get("remove") is False:
        raise ValueError(f"{path}: an edit has one of value, remove and key, not {', '.join(what) or 'none'}")
    (verb, to), (section, *keys) = *what.items(), path
    for holder, *place in _spots(draft.table(str(section)), keys, new=verb == "value"):
        key = place[-1]
        if verb == "value":
            _put(holder, key, to, path)
        elif verb == "key" and to in holder:
            raise ValueError(f"{path}: there is a {to} already")
        else:
            item = holder.pop(key)
            if verb == "key":
                holder[to] = item
            draft.unknown(str(section), place, [*place[:-1], to] if verb == "key" else [])


def _put(holder: Any, key: Any, value: Any, path: list[str | int]) -> None:
    if isinstance(holder, list) and key == len(holder):
        holder.append(value)
    elif key in (holder if isinstance(holder, dict) else range(len(holder))) and repr(holder[key]) == repr(value):
        raise ValueError(f"{path}: it is {value!r} already")
    else:
        holder[key] = deepcopy(value)


def _spots(table: Any, path: Iterable[str | int], new: bool) -> list[tuple[Any, *tuple[Any, ...]]]:
    """The table or list that holds what PATH leads to, then its path; one for each match where keys have * ? or [.

    With NEW the last key may be one that is not there yet. LookupError where the path leads nowhere.
    """
    first, *rest = path
    keys = _keys(table, first) or ([first] if new and not rest and not GLOB & {*str(first)} else [])
    found: list[tuple[Any, *tuple[Any, ...]]] = []
    for key in keys:
        try:
            below = _spots(table[key], rest, new) if rest else []
        except LookupError:
            if keys == [first]:
                raise
            continue
        found += [(holder, key, *place) for holder, *place in below] if rest else [(table, key)]
    if not found:
        raise LookupError(f"there is no {first!r} among {', '.join(map(str, [*table][:5]))}")
    return found


def _keys(table: Any, wanted: str | int) -> list[Any]:
    keys = [*(range(len(table)) if isinstance(table, list) else table)]
    return [wanted] if wanted in keys else [key for key in keys if fnmatchcase(str(key), str(wanted))]


def _rename(draft: Draft, names: Mapping[str, str], sections: Iterable[str]) -> None:
    """Every name by its new one, all at a time, wherever it stands as a word in keys and texts of SECTIONS."""
    words = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")
    met: list[str] = []

    def new(match: re.Match[str]) -> str:
        met.append(match[0])
        return names[match[0]]

    for section in sections:
        draft.tables[section] = _walk(draft.table(section), lambda text: words.sub(new, text))
        for fact in draft.table("outcomes")[section].get("unread", ()):
            fact["path"] = [words.sub(new, key) for key in fact["path"]]
    if missed := names.keys() - {*met}:
        raise ValueError(f"no {', '.join(sorted(missed))} to rename")


def _walk(value: Any, text: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {text(key): _walk(part, text) for key, part in value.items()}
    if isinstance(value, list):
        return [_walk(part, text) for part in value]
    return text(value) if isinstance(value, str) else value
