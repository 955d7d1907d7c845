"""The errors that a user can meet: one line each, saying what, where and what to do, and which name was meant."""

from __future__ import annotations

from collections.abc import Iterable


class SnapError(Exception):
    """Something the user can act on. The command line prints it as one line and exits 2."""


class FormatError(SnapError):
    """A snapshot, rule pack or configuration file cannot be read; the text names file, line and key."""


class StoreError(SnapError):
    """A snapshot reference (path, id, label, @N) names no snapshot, or more than one."""


class ParseError(SnapError):
    """Raw text from the machine does not have the form its collector expects; quotes the bad text."""


class AbsentError(SnapError):
    """Positive evidence that this host has no such hardware, driver or software; the text is the evidence."""


def misspelt(word: str, names: Iterable[str], count: int = 1, least: float = 0.6) -> list[str]:
    """Which of NAMES a misspelled WORD is likely meant to be: at most COUNT, the nearest first.

    LEAST is how much alike they have to be, 0 to 1 (difflib.SequenceMatcher).
    """
    from difflib import get_close_matches  # only whoever makes a mistake waits for it

    return get_close_matches(word, [*names], count, least)
