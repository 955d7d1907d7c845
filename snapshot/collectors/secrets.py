"""Secrets in free text, from command lines, configuration files and values of /proc/sys.

RFC 3986, 3.2.1 (a login in an address); dracut.cmdline(7), netroot=iscsi:USER:PASSWORD@HOST.

A secret is known by the name before it, or by the place where it stands, never by its looks. What a name does not
tell from a secret is dropped as well: better a fact too few. The text can be hostile: every pattern here is tried
once a place and never goes back, so that the time is that of reading the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

from ..regexes import regex
from ..sections import secret_names

REDACTED = "<redacted>"

_PERHAPS = regex(r"token(?!iz)|(?<![^\W_])key(?![^\W_])")
_REST = {'"': regex(r'(?>(?:[^"\\]|\\.)*)'), "'": regex("[^']*+")}  # of a value within quotes
_SCRIPT = regex(r"\s-[a-z]*c\s*\Z")  # sh -c 'NAME=value command'
# Without one of these no name is that of a secret.
HINTS = ("pass", "secret", "token", "credential", "auth", "key", "psk", "pw", "cookie", "communit")
_NAME = regex(r"(?<![\w.-])([\w.-]++)(?:[\"'}]?\s?[=:]\s?|(?<=\w)[\"'],\s*+|(?<=\w)\s++)")
_QUOTED = {'"': r'"(?>(?:[^"\\]|\\.)*)["\\]?', "'": "'[^']*+'?"}


@cache
def _value(opened: str) -> re.Pattern[str]:
    """A value where the quotes OPENED stand open: one of these can begin it, but behind its beginning ends it."""
    first = "|".join((*_QUOTED.values(), r"[^\s,\"']"))
    more = "|".join((*(quoted for quote, quoted in _QUOTED.items() if quote not in opened), r"[^\s,\"']"))
    return re.compile(rf"(?:(?:basic|bearer|digest)\s++)?(?:{first})(?>(?:{more})*)", re.IGNORECASE | re.DOTALL)


_LOGIN = regex(r"(//|iscsi:)((?>(?:(?!//)[^/\s])+))")
# bob:secret@nas:/x
_MOUNTED = regex(r"(?<![^\s\"'=,#])([A-Za-z_][\w.+-]*+:)[^\s@/:\"']++@(?!sha256:)(?=[A-Za-z0-9\[])")
_SETTING = regex(r"\s*+(?>(?:-\s++)?)(?>(?:export\s++)?)([\"']?)([\w.-]++)\1\s*+[:=]\s*+(?=\S)")
# Arguments of programs, behind which no name stands.
_TOOLS = ("-u", "--login", "|", "<<<", "curl", "mysql", "wsrep", "ipmitool", "sshpass", "redis", "snmp", "%")
_ARGUMENTS = (
    (regex(r"(\s(?:-u|--user|--proxy-user|--login)[\s=]*+[\"']?[^\s:\"']*+:)[^\s\"']++"), rf"\1{REDACTED}"),
    (regex(r"\b(?:echo|printf)\s++[^|]*+(\|\s*+(?:/\S*/)?(?:sudo\s++-\S*S|(?:cryptsetup|chpasswd|passwd|smbpasswd)\b))"),
     rf"echo {REDACTED} \1"),
    (regex(r"<<<\s*+(?:\"[^\"]*+\"|'[^']*+'|\S++)"), f"<<< {REDACTED}"),
    (regex(r"(\b(?:(?:sshpass|mysql|ipmitool|wsrep)\b.*?\s-[pP]|curl\b.*?\s-b|redis-cli\b.*?\s-a|snmp\w+\b.*?\s-c)\s?+)"
           r"[^\s\"';|&]++"), rf"\1{REDACTED}"),
    (regex(r"(?<![^\s,\"'=])(user(?:name)?=[^\s,%]++%)[^\s,]++"), rf"\1{REDACTED}"),  # mount.cifs(8)
)


def is_secret(name: str) -> bool:
    """Whether what bears this NAME is, or can be, a password, a key or a token; a name is words parted by any sign."""
    return secret_names.is_secret(name) or _PERHAPS.search(name.lower()) is not None


def redacted(text: str) -> str:
    """TEXT without what a name, an option such as --token, the login part of an address or a program that takes
    secrets as arguments shows to be one."""
    lower = text.lower()
    if " " in text or "%" in text:
        text = _without_arguments(text, lower)
    if "@" not in text:
        for hint in HINTS:
            if hint in lower:
                break
        else:  # as nearly all texts are
            return text
    text = _MOUNTED.sub(rf"\1{REDACTED}@", _LOGIN.sub(_without_login, text))
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
            before = text[found.start() - 1 : found.start()]
            if pair and opened.get(before) and not _SCRIPT.search(text[: found.start() - 1]):  # "NAME=a value"
                value = _REST[before].match(text, at)
            else:
                value = _value("".join(q for q, is_open in opened.items() if is_open)).match(text, at)
            if value and value[0]:
                kept.append(REDACTED)
                at = done = value.end()
    return "".join((*kept, text[done:]))


def _without_arguments(text: str, lower: str) -> str:
    for tool in _TOOLS:
        if tool in lower:
            for form, kept in _ARGUMENTS:
                text = form.sub(kept, text)
            break
    return text


def redacted_line(line: str, other: Callable[[str], str] = redacted) -> str:
    """LINE of a file of settings: without all that stands behind the name of a secret and its = or colon; if it does
    not begin with one, as OTHER gives it."""
    found = _SETTING.match(line)
    return f"{found[0]}{REDACTED}" if found and is_secret(found[2]) else other(line)


def redacted_words(words: Iterable[str], one: Callable[[str], str] = redacted) -> list[str]:
    """The words of a command, each as ONE gives it; what follows a word such as --password is a secret too."""
    shown = []
    secret = False
    for word in words:
        shown.append(REDACTED if secret and not word.startswith("-") else one(word))
        secret = word.startswith("-") and "=" not in word and is_secret(word)
    return shown


def _without_login(found: re.Match[str]) -> str:
    login, at, host = found[2].rpartition("@")
    return f"{found[1]}{REDACTED}@{host}" if at and login else found[0]
