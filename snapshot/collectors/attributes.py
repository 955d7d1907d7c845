"""The files of one folder of /sys, each a fact of one item.

Documentation/filesystems/sysfs.rst. A file that is not there is a fact that does not exist; one that says an error
makes its fact unread, and so does one whose content is not what it should be.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import TypeVar

from ..errors import ParseError
from ..records import record
from ..regexes import regex
from .base import Reading, decode, why

T = TypeVar("T")
_INTEGER = regex("-?[0-9]{1,18}")
_MARKED = regex(r"\[([^\[\]\s]+)\]")


@record(frozen=True)
class Attributes:
    """FOLDER's files as facts below the path FACT. NONE are the errnos that say: there is no such thing."""

    reading: Reading
    folder: str
    fact: tuple[str, ...]
    none: tuple[int, ...] = ()

    def text(self, file: str, fact: str) -> str | None:
        """The content without blanks and NUL at its ends; None when there is none, or it is empty."""
        path = f"{self.folder}/{file}"
        content = self.reading.attempt(path)
        if not isinstance(content, OSError):
            return decode(content).strip(" \t\r\n\0") or None
        if content.errno not in (errno.ENOENT, errno.ENOTDIR, *self.none):
            self.reading.unread((*self.fact, fact), path, why(content))
        return None

    def parsed(self, file: str, fact: str, parse: Callable[[str], T]) -> T | None:
        """What PARSE makes of the content; a ParseError makes the fact unread."""
        text = self.text(file, fact)
        try:
            return None if text is None else parse(text)
        except ParseError as error:
            self.reading.unread((*self.fact, fact), f"{self.folder}/{file}", str(error))
            return None

    def integer(self, file: str, fact: str) -> int | None:
        """The content as a decimal number."""
        return self.parsed(file, fact, integer)

    def flag(self, file: str, fact: str) -> bool | None:
        """The content as 0 or 1."""
        return self.parsed(file, fact, flag)

    def link(self, file: str, fact: str) -> str | None:
        """The last component of what a link names."""
        target = self.reading.readlink(f"{self.folder}/{file}", *self.fact, fact)
        return target.rpartition("/")[2] if target else None


def integer(text: str) -> int:
    """A decimal number of up to 18 digits. ParseError when TEXT is none."""
    if not _INTEGER.fullmatch(text):
        raise ParseError(f"no number: {text[:80]!r}")
    return int(text)


def flag(text: str) -> bool:
    """0 or 1. ParseError when TEXT is neither; a mode beyond 1 is switched on too."""
    number = integer(text)
    if number < 0:
        raise ParseError(f"neither 0 nor 1: {text[:80]!r}")
    return number > 0


def first_word(text: str) -> str:
    """The word of a choice written with its number: 802.3ad of "802.3ad 4"."""
    return text.split(maxsplit=1)[0]


def marked(text: str) -> str:
    """The word in brackets, none of "[none] mq-deadline"; a word alone is it. ParseError where neither is."""
    found = _MARKED.search(text)
    if not found and len(text.split()) != 1:
        raise ParseError(f"no word is marked: {text[:80]!r}")
    return found[1] if found else text
