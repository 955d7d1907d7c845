"""What a user set for a host, from snap.toml: ``--config``, else $SNAP_CONFIG, ./snap.toml, /etc/hostsnap/snap.toml.

The only reader of that file. The first one that is there counts, alone; without any, or with /dev/null, all is as
shipped. What it may hold stands in ``tables``, its JSON Schema in ``schema``. Paths in it are relative to it, and ``~``
is the home directory.

What was learned about volatile facts and noise has a file of its own, which ``diff --null`` writes and can write anew:
a volatile.toml beside snap.toml, or the files that ``[volatile] file`` names. Its tables [volatile] and [noise] are
added to those of snap.toml, whose bands count where both have one.
"""

from __future__ import annotations

import os
import stat
from collections import ChainMap
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, TypeVar

from .. import tomlio
from ..errors import FormatError
from ..sections.base import Model, Origin, field
from ..sections.fitting import MisfitError, fit
from ..tomlio import Path
from .tables import Learned, Patterns, Tables, Volatile

M = TypeVar("M", bound=Model)
VARIABLE = "SNAP_CONFIG"
PLACES = ("snap.toml", "/etc/hostsnap/snap.toml")
BESIDE = "volatile.toml"
LIMIT_BYTES = 4 << 20


class Config(Tables):
    """The settings, with where they come from."""

    file: str | None = field(description="the file that was read; missing: there is none", default=None)
    text: str = field(description="its text", default="")
    learned: dict[str, str] = field(
        description="the files that add to [volatile] and [noise] -> their text", default={})
    distrust: str | None = field(description="why its commands must not be run", default=None)

    @property
    def trusted(self) -> bool:
        """Whether its commands may be run: the file is the caller's or root's, and nobody else can write it."""
        return self.distrust is None

    def origin(self, *path: str | int) -> Origin | None:
        """Where the setting at PATH, or the table that has it, stands. None when no file has it."""
        file, text, path = self._source(path)
        line = tomlio.line_of(text, path)
        if file is None or line is None:
            return None
        return Origin(file=file, line=line, text=text.split("\n")[line - 1].strip())

    def _source(self, path: Path) -> tuple[str | None, str, Path]:
        """File, its text and path there, of a pattern of [volatile] that a file of its own has added."""
        if len(path) == 3 and path[:2] in (("volatile", "add"), ("volatile", "keep")):
            pattern = getattr(self.volatile, str(path[1]))[path[2]]
            for file, text in ((self.file, self.text), *self.learned.items()):
                here = tomlio.loads(text, str(file)).get("volatile", {}).get(path[1], [])
                if pattern in here:
                    return file, text, (*path[:2], here.index(pattern))
        return self.file, self.text, path


def load(path: str | None = None) -> Config:
    """The settings in PATH, or in the file that is found; all defaults when there is none.

    FormatError, with file, line and key, when a file that is named is not there or one does not hold what it may.
    """
    named = path if path is not None else os.environ.get(VARIABLE) or None
    for place in PLACES if named is None else (named,):
        try:
            data, distrust = _read(place)
        except (FileNotFoundError, NotADirectoryError):
            continue
        return _config(place, data, distrust)
    if named is not None:
        raise FormatError(f"{named or repr(named)}: no such file" + (f" (${VARIABLE})" if path is None else ""))
    return Config()


def _read(path: str) -> tuple[bytes, str | None]:
    """What the file holds, and why commands in it must not be run; of the file that was opened, not of its name."""
    try:
        with open(path, "rb") as file:
            data, status = file.read(LIMIT_BYTES + 1), os.fstat(file.fileno())
    except (FileNotFoundError, NotADirectoryError):
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        name = path if path.isprintable() else repr(path)
        raise FormatError(f"{name}: cannot be read: {getattr(error, 'strerror', error)}") from None
    if len(data) > LIMIT_BYTES:
        raise FormatError(f"{path}: larger than {LIMIT_BYTES >> 20} MiB")
    return data, _distrust(status)


def _distrust(status: os.stat_result) -> str | None:
    if not stat.S_ISREG(status.st_mode):
        return "it is no regular file"
    if status.st_uid not in (0, os.geteuid()):
        return f"it belongs to user {status.st_uid}, neither to you nor to root"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"mode {stat.S_IMODE(status.st_mode):04o} lets others write it: chmod go-w it"
    return None


def _config(path: str, data: bytes, distrust: str | None) -> Config:
    text = tomlio.decode(data, path)
    table = tomlio.loads(text, path)
    tables = _fitted(Tables, _prepared(table, path, text), path, text)
    for where, what in _contradictions(tables):
        raise _fault(path, text, where, what)
    folder = os.path.dirname(os.path.abspath(path))
    store, rules, learned = tables.store, tables.rules, dict(_learned(tables.volatile, folder))
    taught = [_taught(name, text) for name, text in learned.items()]
    return Config(**vars(tables) | {
        "volatile": _merged(tables.volatile, taught),
        "noise": dict(ChainMap(tables.noise, *(one.noise for one in reversed(taught)))),
        "rules": rules.copy(packs=[_beside(folder, pack) for pack in rules.packs]),
        "store": store.copy(directory=store.directory and _beside(folder, store.directory)),
    }, file=path, text=text, learned=learned, distrust=distrust)


def _prepared(table: dict[str, Any], path: str, text: str) -> dict[str, Any]:
    """The table as the models have it: dates as text, and what stands right below [rules] by rule id apart."""
    waivers, rules = table.get("waiver"), table.get("rules")
    for waiver in waivers if isinstance(waivers, list) else ():
        if isinstance(waiver, dict) and isinstance(expires := waiver.get("expires"), date):
            waiver["expires"] = expires.isoformat()
    if not isinstance(rules, dict):
        return table
    if "override" in rules:
        raise _fault(path, text, ("rules", "override"), 'there is no such key: a rule\'s own table is [rules."ID"]')
    own = {key: value for key, value in rules.items() if "." in key}
    rest = {key: value for key, value in rules.items() if key not in own}
    return {**table, "rules": {**rest, "override": own}}


def _fitted(model: type[M], table: dict[str, Any], name: str, text: str) -> M:
    try:
        return fit(model, table)
    except MisfitError:
        from .fault import checked

        return checked(model, table, name, text)


def _fault(name: str, text: str, path: Path, what: str) -> FormatError:
    from .fault import fault

    return fault(name, text, path, what)


def _contradictions(tables: Tables) -> Iterator[tuple[Path, str]]:
    """What is wrong beyond a single table."""
    names = [bench.name for bench in tables.bench]
    yield from ((("bench", at, "name"), "another bench has this name")
                for at, name in enumerate(names) if name in names[:at])
    yield from _no_bands(tables.noise)


def _no_bands(noise: dict[str, float]) -> Iterator[tuple[Path, str]]:
    yield from ((("noise", pattern), f"{percent} is no percentage")
                for pattern, percent in noise.items() if not 0 <= percent < float("inf"))


def _learned(own: Volatile, folder: str) -> Iterator[tuple[str, str]]:
    """The files that add to [volatile], with their text: those that it names, else the one beside snap.toml."""
    for path in (_beside(folder, name) for name in ([BESIDE] if own.file is None else own.file)):
        try:
            yield path, tomlio.decode(_read(path)[0], path)
        except (FileNotFoundError, NotADirectoryError):
            if own.file is not None:
                raise FormatError(f"{path}: no such file ([volatile] file names it)") from None


def _taught(path: str, text: str) -> Learned:
    """What a file teaches that diff --null wrote."""
    found = _fitted(Learned, tomlio.loads(text, path), path, text)
    for where, what in _no_bands(found.noise):
        raise _fault(path, text, where, what)
    return found


def _merged(own: Volatile, taught: Sequence[Learned]) -> Volatile:
    """The patterns of snap.toml and of the files that add to them, each once."""
    parts: list[Patterns] = [own, *(one.volatile for one in taught)]
    add, keep = ([*dict.fromkeys(one for part in parts for one in getattr(part, name))] for name in ("add", "keep"))
    return own.copy(add=add, keep=keep)


def _beside(folder: str, path: str) -> str:
    return os.path.join(folder, os.path.expanduser(path))
