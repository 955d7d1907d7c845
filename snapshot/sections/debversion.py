"""Debian's order of version numbers, as a sort key; kernel releases are ordered by it too.

See deb-version(7). Digits compare as numbers, ``~`` sorts before the end, letters before other signs.
"""

from __future__ import annotations

import re

from ..regexes import regex

Key = tuple[int, str] | tuple[int, ...]
Order = tuple[Key, tuple[Key, ...], tuple[Key, ...]]

_PAIR = regex(r"([^0-9]*)([0-9]*)")
_END = (0,)
_NOTHING: tuple[Key, Key] = (_END, (0, ""))


def order(version: str) -> Order:
    """The sort key of VERSION ([epoch:]upstream[-revision]): older is smaller. Any text has one."""
    epoch, colon, rest = version.partition(":")
    if not (colon and re.fullmatch("[0-9]+", epoch)):
        epoch, rest = "", version
    upstream, hyphen, revision = rest.rpartition("-")
    if not hyphen:
        upstream, revision = rest, ""
    return _number(epoch), _part(upstream), _part(revision)


def release_order(release: str) -> Order:
    """The sort key of a kernel release: as Debian versions, with -rc before the release it leads to."""
    return order(re.sub(r"-(?=rc[0-9])", "~", release))


def _part(text: str) -> tuple[Key, ...]:
    """Signs and number by turns, and at the end what comes when the text is over: no signs, number 0.

    That stands there twice, because a text can begin with it: "0~" is older than "0", which equals "".
    """
    keys: list[Key] = []
    for signs, digits in _PAIR.findall(text):
        keys += (tuple(map(_sign, signs)) + _END, _number(digits))
    while keys[-2:] == [*_NOTHING]:
        del keys[-2:]
    return (*keys, *_NOTHING, *_NOTHING)


def _sign(sign: str) -> int:
    """Letters before all other signs, the tilde before the end of the part (which is 0)."""
    if sign == "~":
        return -1
    return ord(sign) if sign.isalpha() and sign.isascii() else ord(sign) + 256


def _number(digits: str) -> tuple[int, str]:
    """Decimal digits of any length as a key; int() refuses more than 4300 of them."""
    significant = digits.lstrip("0")
    return len(significant), significant
