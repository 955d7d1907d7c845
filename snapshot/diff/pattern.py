"""Patterns of facts, as users write them: a path with dots, as reports and ``snap show`` have it.

``*`` is one key and ``**`` any number of keys; within a key ``*``, ``?`` and ``[...]`` are those of fnmatch(3). What
stands below a match is meant too. Keys have dots of their own (net.core.rmem_max, 0000:01:00.0), so a dot of a pattern
may be one within a key or the one between two: pci.functions.*.driver is the driver of each function,
sysctl.values.net.* each key that begins with net. A key in double quotes, written as JSON has it, is just that key.
A path that begins with / is that of a configuration file.

A sign in front is a direction: + means only what was added, - only what was removed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Final, Self

from ..document import Meta
from ..errors import misspelt
from ..records import record
from ..regexes import regex
from ..sections import NAMES
from ..sections.shape import LEAF, Path, Shape, of_model, of_section
from .change import State

HEADS = (*NAMES, "meta", "files")
MANY = 40  # names that an error does not list
_DIRECTIONS: Final[dict[str, State]] = {"+": "added", "-": "removed"}
_PIECE = regex(r'(?:"((?:[^"\\]|\\.)*)"|([^".][^.]*))(?:\.(?=.)|\Z)', re.DOTALL)
_GLOB = regex(r"[*?[]")
_SIMPLE = regex(r"[A-Za-z0-9_:/@,=+-]+(?:\.[A-Za-z0-9_:/@,=+-]+)*")
_Faults = list[tuple[int, str, tuple[str, ...]]]  # how many pieces were left, the one that fits nothing, what would fit


@record(frozen=True)
class Piece:
    """What stands between two dots. An exact one was quoted."""

    text: str
    exact: bool = False

    @property
    def deep(self) -> bool:
        """Whether it stands for any number of keys."""
        return self.text == "**" and not self.exact

    @property
    def literal(self) -> bool:
        """Whether it stands for itself alone."""
        return self.exact or not _GLOB.search(self.text)


@record(frozen=True)
class Pattern:
    """A pattern, made by ``parse``."""

    text: str
    direction: State | None
    pieces: tuple[Piece, ...]
    word: str = ""  # stands in a key of every path that is covered: cheaper to look for than ``covers`` is

    @classmethod
    def parse(cls, text: str) -> Self:
        """The pattern that TEXT is. ValueError, with what may have been meant, where no fact can be called so."""
        bare = text.strip()
        direction = _DIRECTIONS.get(bare[:1])
        path = bare[1:] if direction else bare
        pieces = tuple(_pieces(f"files.{path}" if path.startswith("/") else path, text))
        known = [pieces[0].text] if pieces[0].literal else HEADS
        faults: _Faults = []
        if not _fits(pieces, Shape("model", {name: _shape(name) for name in known if name in HEADS}), faults):
            raise ValueError(_fault(text, len(pieces), faults))
        return cls(bare, direction, pieces, max((p.text for p in pieces if p.literal), key=len, default=""))

    def covers(self, path: Path) -> bool:
        """Whether PATH, section first, is meant with all below it; of either direction."""
        return len(self.pieces) in self._after(path)

    def reaches(self, path: Path) -> bool:
        """Whether something below PATH may be meant."""
        return any(at < len(self.pieces) for at in self._after(path))

    def _after(self, path: Path) -> set[int]:
        """How many pieces the keys can have used up, in every reading; all of them once they are."""
        places = self._skipped({0})
        for key in path:
            places = self._skipped({end for at in places for end in self._used(at, key)})
            if not places:
                break
        return places

    def _used(self, at: int, key: str) -> Iterator[int]:
        if at == len(self.pieces) or self.pieces[at].deep:
            yield at
        else:
            yield from (end for end in _ends(self.pieces, at, key.count(".")) if _takes(self.pieces[at:end], key))

    def _skipped(self, places: set[int]) -> set[int]:
        """A ** can stand for no key at all."""
        for at in sorted(places):
            while at < len(self.pieces) and self.pieces[at].deep:
                at += 1
                places.add(at)
        return places


def written(path: Iterable[str | None]) -> str:
    """The pattern of PATH, section first, in ASCII; None is any key."""
    return ".".join("*" if key is None else key if _SIMPLE.fullmatch(key) else _quoted(key) for key in path)


def _quoted(key: str) -> str:
    return json.dumps(key).replace("\x7f", "\\u007f")


def _pieces(path: str, text: str) -> Iterator[Piece]:
    at = 0
    while found := _PIECE.match(path, at):
        at = found.end()
        try:
            yield Piece(found[2]) if found[1] is None else Piece(json.loads(f'"{found[1]}"', strict=False), exact=True)
        except ValueError:
            raise ValueError(f'{text}: "{found[1]}" is no key as JSON has it') from None
        if at == len(path):
            return
    raise ValueError(f"{text!r}: a key is missing at {path[at:]!r}: a pattern is SECTION.KEY.KEY, and a key in double "
                     "quotes is taken as it is")


def _ends(pieces: tuple[Piece, ...], at: int, dots: int) -> range:
    """Up to where a key can go on that begins with the piece AT and has DOTS."""
    end = at + 1
    while end < len(pieces) and end - at <= dots and not (pieces[at].exact or pieces[end].exact or pieces[end].deep):
        end += 1
    return range(at + 1, end + 1)


def _takes(pieces: tuple[Piece, ...], key: str) -> bool:
    """Whether the pieces, with the dots between them, are the KEY."""
    text = pieces[0].text if len(pieces) == 1 else ".".join([piece.text for piece in pieces])
    if text == key or pieces[0].exact:
        return text == key
    return fnmatchcase(key, text) if _GLOB.search(text) else False


def _shape(head: str) -> Shape:
    if head == "meta":
        return of_model(Meta)
    return Shape("table", item=LEAF) if head == "files" else of_section(head)


def _fits(pieces: tuple[Piece, ...], shape: Shape, faults: _Faults) -> bool:
    """Whether the models have, or keys may make, something below SHAPE that the pieces stand for."""
    if not pieces:
        return True
    inner = _inner(shape)
    if pieces[0].deep:
        return _fits(pieces[1:], shape, faults) or any(_fits(pieces, part, faults) for part in inner.values())
    if shape.kind == "model":
        taken = [part for name, part in inner.items() if _takes(pieces[:1], str(name))]
        if not taken:
            faults.append((len(pieces), pieces[0].text, tuple(shape.fields)))
        return any(_fits(pieces[1:], part, faults) for part in taken)
    if not inner:
        faults.append((len(pieces), pieces[0].text, ()))
    whole = pieces[0].text == "*" and shape.item is not None and shape.item.kind == "model"
    ends = _ends(pieces, 0, 0 if whole else len(pieces))  # a * before facts of the items will be all of the key
    return any(_fits(pieces[end:], part, faults) for part in inner.values() for end in ends)


def _inner(shape: Shape) -> dict[str | None, Shape]:
    """What stands below, by name; None is any key."""
    if shape.kind == "matrix":
        return {None: Shape("table", item=LEAF)}
    return {None: shape.item} if shape.item else dict(shape.fields.items())


def _fault(text: str, pieces: int, faults: _Faults) -> str:
    """What is wrong at the place that the pieces came furthest to."""
    left = min(fault[0] for fault in faults)
    word = next(fault[1] for fault in faults if fault[0] == left)
    names = HEADS if left == pieces else sorted({name for fault in faults if fault[0] == left for name in fault[2]})
    if not names:
        return f"{text}: nothing stands below the value before {word!r}"
    near = misspelt(word, names, 3)
    meant = f": {', '.join(near)}?" if near else f": one of {', '.join(names)}" if len(names) <= MANY else ""
    return f"{text}: there is no {'section' if left == pieces else 'fact'} {word!r}{meant}"
