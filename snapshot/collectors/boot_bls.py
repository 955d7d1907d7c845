"""Menu of systemd-boot, from loader.conf and the files in loader/entries.

loader.conf(5); Boot Loader and Version Format Specification, https://uapi-group.org/specifications/specs/; systemd's
src/boot/boot.c. An entry is a file NAME.conf of ``key value`` lines; options and initrd may stand more than once.
+LEFT-DONE at the end of NAME counts boots and is no part of the entry's id: the loader renames the file at each boot.
Entries without tries left come last; of the others those with a sort-key come first, by it, by machine-id and, newest
first, by version; then all by id, newest first.

An entry is asked for by a pattern that its id has to fit, .conf included, capitals or not. Before systemd 258 the
loader took the counters for a part of the id, and long before that .conf for none. Where such loaders would start
different entries, nothing is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase

from ..records import field, record
from ..regexes import regex
from ..sections.base import Origin
from ..sections.boot import Entry
from .boot_entries import RECOVERY, release
from .grub_default import shown, words

SAVED = "@saved"
_COUNTED = regex(r"(.+)\+([0-9]{1,10})(?:-[0-9]{1,10})?")
_PIECE = regex(r"[~^.-]|[A-Za-z]+|[0-9]+")
_RANKS = {"~": 0, "": 1, "-": 2, "^": 3, ".": 4}  # "": the end
_Keys = Mapping[str, list[tuple[int, str, str]]]


@record(frozen=True)
class Place:
    """What puts an entry into the list."""

    file: str  # its name without .conf
    id: str  # that without the counters
    exhausted: bool = False  # no tries are left
    sort_key: str | None = None
    machine: str = ""
    version: str = ""


_Form = Callable[[Place], str]


@record()
class Folder:
    """The entries of a folder and their places, by id; by file name where two have the same."""

    entries: dict[str, Entry] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)

    def add(self, file: str, text: str, path: str, variables: Mapping[str, str]) -> None:
        """Takes the file NAME.conf in; one that is no entry, or starts no Linux image, is left out."""
        entry = parse_entry(text, path, variables)
        if entry is None or file[:1] in ("", ".") or file.casefold().startswith("auto-"):
            return
        counted, keys = _COUNTED.fullmatch(file), _keys(text)
        name = counted[1] if counted else file
        key = file if name in self.entries else name
        self.entries[key] = entry
        self.places[key] = Place(
            file, name, counted is not None and not int(counted[2]), _last(keys, "sort-key"),
            _last(keys, "machine-id") or "", _last(keys, "version") or "",
        )

    def of_file(self, file: str | None) -> str | None:
        """The key of the entry in FILE.conf."""
        return next((key for key, place in self.places.items() if place.file == file), None)

    def asked(self, *patterns: str | None) -> set[str | None]:
        """What loaders take for the first of PATTERNS that an entry fits; None among them: one may find none."""
        return set(self._taken(patterns).values())

    def default(self, *patterns: str | None) -> str | None:
        """The entry that starts when PATTERNS are asked for in this order; None when loaders differ in it."""
        found = {key or order(self.places, form)[0] for form, key in self._taken(patterns).items()}
        return found.pop() if len(found) == 1 else None

    def _taken(self, patterns: Iterable[str | None]) -> dict[_Form, str | None]:
        """The entry that each age of loaders finds."""
        found: dict[_Form, str | None] = {form: self._first(patterns, form) for form in (_by_id, _by_file)}
        return found if any(found.values()) else found | {_by_stem: self._first(patterns, _by_stem)}

    def _first(self, patterns: Iterable[str | None], form: _Form) -> str | None:
        listed = [(key, form(self.places[key])) for key in order(self.places, form)]
        given = (pattern.casefold() for pattern in patterns if pattern)
        return next((key for pattern in given for key, name in listed if fnmatchcase(name, pattern)), None)


def _by_id(place: Place) -> str:
    return f"{place.id}.conf".casefold()


def _by_file(place: Place) -> str:
    return f"{place.file}.conf".casefold()


def _by_stem(place: Place) -> str:
    return place.file.casefold()


def order(places: Mapping[str, Place], form: _Form = _by_id) -> list[str]:
    """The keys of PLACES as the menu lists them."""
    def rank(key: str) -> tuple[bool, bool, str, str]:
        one = places[key]
        return one.exhausted, one.sort_key is None, one.sort_key or "", one.machine if one.sort_key is not None else ""

    def newness(key: str) -> tuple[object, ...]:
        one = places[key]
        return version_order(one.version if one.sort_key is not None else ""), version_order(form(one))

    return sorted(sorted(places, key=newness, reverse=True), key=rank)


def version_order(text: str) -> tuple[tuple[int, int, str], ...]:
    """The sort key of a version by the Version Format Specification: older is smaller. Any text has one."""
    return tuple(_piece(piece) for piece in (*_PIECE.findall(text), ""))


def _piece(piece: str) -> tuple[int, int, str]:
    if piece.isdigit():
        digits = piece.lstrip("0")
        return 6, len(digits), digits
    return _RANKS.get(piece, 5), 0, piece


def parse_entry(text: str, path: str, variables: Mapping[str, str]) -> Entry | None:
    """A loader entry; $kernelopts and the like are taken from VARIABLES. None when it starts no Linux image."""
    keys = _keys(text)
    images = keys.get("linux") or keys.get("efi") or []
    if not images or not images[-1][1]:
        return None
    options = keys.get("options", [])
    line = " ".join(value for _, value, _ in options)
    expanded = re.sub(r"\$(\w+)", lambda found: variables.get(found[1], found[0]), line)
    number, _, raw = (options or images)[-1]
    found = words(expanded)
    title, version = _last(keys, "title"), _last(keys, "version")
    return Entry(
        title=title, kernel=release(images[-1][1]) or version, linux=images[-1][1], words=found,
        initrds=[value for _, value, _ in keys.get("initrd", [])] or None,
        recovery=bool(RECOVERY.intersection(found)) or None, origin=Origin(file=path, line=number, text=shown(raw)),
    )


def _keys(text: str) -> _Keys:
    """Number of the line, value and whole line of each key's lines."""
    keys: dict[str, list[tuple[int, str, str]]] = {}
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        key, _, value = line.strip().replace("\t", " ", 1).partition(" ")
        if key and key[0] != "#":
            keys.setdefault(key, []).append((number, value.strip(), line))
    return keys


def _last(keys: _Keys, key: str) -> str | None:
    return keys[key][-1][1] or None if key in keys else None


def loader_default(text: str) -> str | None:
    """The pattern of loader.conf's last default line; None without one. Of words with @ only @saved is one."""
    values = [value for _, value, _ in _keys(text).get("default", [])]
    return next((v for v in reversed(values) if v and (v[0] != "@" or v.casefold() == SAVED)), None)
