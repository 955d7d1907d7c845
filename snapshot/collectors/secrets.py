"""Secrets in free text, from command lines, configuration files and values of /proc/sys.

RFC 3986, 3.2.1 (a login in an address); dracut.cmdline(7), netroot=iscsi:USER:PASSWORD@HOST.

A secret is known by the name before it, or by the place where it stands, never by its looks. What a name does not
tell from a secret is dropped as well: better a fact too few. The text can be hostile: every pattern here is tried
once a place and never goes back, so that the time is that of reading the text.
"""

from __future__ import annotations

import re
from functools import cache

from ..regexes import regex
from ..sections import secret_names

REDACTED = "<redacted>"

_PERHAPS = regex(r"token(?!iz)|(?<![^\W_])key(?![^\W_])")
HINTS = ("pass", "secret", "token", "credential", "auth", "key", "psk", "pw")  # without one of these no name is secret
_NAME = regex(r"(?<![\w.-])([\w.-]++)(?:[\"'}]?\s?[=:]\s?|(?<=\w)\s++)")
_QUOTED = {'"': r'"(?:[^"\\]|\\.)*+["\\]?', "'": "'[^']*+'?"}


@cache
def _value(opened: str) -> re.Pattern[str]:
    """A value where the quotes OPENED stand open: one of these can begin it, but behind its beginning ends it."""
    first = "|".join((*_QUOTED.values(), r"[^\s,\"']"))
    more = "|".join((*(quoted for quote, quoted in _QUOTED.items() if quote not in opened), r"[^\s,\"']"))
    return re.compile(rf"(?:(?:basic|bearer|digest)\s++)?(?:{first})(?:{more})*+", re.IGNORECASE | re.DOTALL)


_LOGIN = regex(r"(//|iscsi:)((?:(?!//)[^/\s])++)")


def is_secret(name: str) -> bool:
    """Whether what bears this NAME is, or can be, a password, a key or a token; a name is words parted by any sign."""
    return secret_names.is_secret(name) or _PERHAPS.search(name.lower()) is not None


def redacted(text: str) -> str:
    """TEXT without what a name, an option such as --token or the login part of an address shows to be a secret."""
    lower = text.lower()
    if "@" not in text:
        for hint in HINTS:
            if hint in lower:
                break
        else:  # as nearly all texts are
            return text
    text = _LOGIN.sub(_without_login, text)
    kept: list[str] = []
    at = done = 0
    opened = {'"': False, "'": False}
    while found := _NAME.search(text, at):
        at = found.end()
        pair = found[0].rstrip()[-1] in "=:"
        if (pair or found[1].startswith("--")) and is_secret(found[1]):
            for quote in opened:
                opened[quote] ^= text.count(quote, done, at) % 2 == 1
            kept.append(text[done:at])
            done = at
            if value := _value("".join(q for q, is_open in opened.items() if is_open)).match(text, at):
                kept.append(REDACTED)
                at = done = value.end()
    return "".join((*kept, text[done:]))


def _without_login(found: re.Match[str]) -> str:
    login, at, host = found[2].rpartition("@")
    return f"{found[1]}{REDACTED}@{host}" if at and login else found[0]
