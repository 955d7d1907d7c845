"""Command lines of benchmarks, without what is nobody's business: secrets, users, hosts.

A secret is known by the name before it, as an option, a variable, a header or a part of an address (RFC 3986, 3.2.1
and 3.4). Numbers of tokens are none: ``--max-tokens 128`` is what a benchmark of a model is about.
"""

from __future__ import annotations

import re

from ...regexes import regex
from ...sections import secret_names

REDACTED = "<redacted>"
_BESIDES = regex(r"\A-*user(?:name)?\Z|cookie", re.IGNORECASE)
_WORD = regex(r"""(?>(?:[^\s"'\\]|\\[^\n]?|"(?>(?:[^"\\]|\\.)*)"|'[^']*+'|["'])+)""", re.DOTALL)
_QUOTED = regex(r"""(["'])(.*\s.*)\1""", re.DOTALL)
_PAIR = regex(r"""(["']?)((?:-{1,2})?[A-Za-z_][\w.-]*+)(=|:\s*+)(.*)""", re.DOTALL)
_URL = regex(r"(?<!\w)(\w++://)(?>(?:[^/\s@]*+@)*)(\[[^\]\s]*+\]|[^/\s:?#\"']++)")
_QUERY = regex(r"([?&])([^=&?\s]++)=([^&\s\"']*+)")
_HOME = regex(r"(?<![\w/])/(?:(?:home|Users)/[^/\s\"':]++|root(?![\w.-]))")
_LOGIN = regex(r"(?<![\w@])[\w.+-]++@[\w-][\w.-]*+")
_REMOTE = regex(r"(?:\A|[\s/])(?:ssh|scp|sftp|rsync|mosh)(?=\s)")
_HOST = regex(r"--?(?:host|hostname|server)")
_LOCAL = ("localhost", "127.0.0.1", "[::1]", "0.0.0.0")  # noqa: S104 - read, not bound to
_DEEPEST = 5  # quotes within quotes


def is_secret(name: str) -> bool:
    """Whether what bears this NAME is a password, a key, a token or a user."""
    return secret_names.is_secret(name) or _BESIDES.search(name) is not None


def shown(command: str, depth: int = 0) -> str:
    """COMMAND without secrets, logins, names of hosts but this one, and home directories."""
    command = _HOME.sub("~", command)
    if _REMOTE.search(command):
        command = _LOGIN.sub("<login>", command)
    kept, at, before = [], 0, ""
    for found in _WORD.finditer(command):
        kept += [command[at:found.start()], _word(found[0], before, depth)]
        at, before = found.end(), found[0]
    return "".join((*kept, command[at:]))


def _word(word: str, before: str, depth: int) -> str:
    """One WORD, by the one BEFORE it."""
    if _announced(before) and not word.startswith("-"):
        return REDACTED
    if before == "-u" and ":" in word:  # curl(1)
        return REDACTED
    if _HOST.fullmatch(before) and not word.startswith("-"):
        return word if word in _LOCAL else "<host>"
    pair, quoted = _PAIR.fullmatch(word), _QUOTED.fullmatch(word)
    if pair and pair[4].strip("\"'") and is_secret(pair[2]) and not (quoted and pair[3] == "="):
        return f"{pair[1]}{pair[2]}{pair[3]}{REDACTED}{pair[1]}"
    if pair and _HOST.fullmatch(pair[2]) and pair[4] not in _LOCAL:
        return f"{pair[2]}{pair[3]}<host>"
    if quoted:
        return f"{quoted[1]}{shown(quoted[2], depth + 1) if depth < _DEEPEST else REDACTED}{quoted[1]}"
    word = _URL.sub(lambda url: f"{url[1]}{url[2] if url[2] in _LOCAL else '<host>'}", word)
    return _QUERY.sub(lambda part: f"{part[1]}{part[2]}={REDACTED if is_secret(part[2]) else part[3]}", word)


def _announced(before: str) -> bool:
    """Whether BEFORE is an option, or a name with a colon, behind which a secret stands."""
    name = before.strip("\"'")
    opens = name.endswith(":") or (name.startswith("-") and "=" not in name)
    return opens and is_secret(name.strip("-:"))
