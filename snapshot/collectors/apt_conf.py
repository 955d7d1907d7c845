"""Options of apt, from /etc/apt/apt.conf.d/* and /etc/apt/apt.conf.

apt.conf(5); ReadConfigFile in apt-pkg/contrib/configuration.cc.

* ``A::B "value";`` and ``A { B "value"; };`` are the same option, whatever the case. A list is a block of bare
  values, ``A { "x"; "y"; };`` or ``A:: "x";``, and a later file adds to it.
* ``#clear A;`` throws away A with all below it. Other lines that begin with # are comments, as are // and
  /* */ outside of quotes; within quotes there is no escape.
* Of the files in apt.conf.d, in byte order, only those count that end in .conf or have no dot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import field, record
from ..regexes import regex
from ..sections.base import Origin
from .secrets import redacted

_TOKEN = regex(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|\#(?!clear\b)[^\n]*)|(?P<quoted>"[^"\n]*"?)|(?P<sign>[{};])"""
    r"""|(?P<word>[^\s"{};]+)""",
    re.DOTALL,
)
_DEEPEST = 50  # blocks within each other; real ones are 3
_COUNTS = regex(r"[A-Za-z0-9_-](?:[A-Za-z0-9_.-]*\.conf|[A-Za-z0-9_-]*)")


@record()
class Option:
    """One option: its plain value, what a list holds, and where both stand."""

    value: str | None = None
    values: list[str] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)


def counts(name: str) -> bool:
    """Whether apt reads a file of this name in apt.conf.d."""
    return _COUNTS.fullmatch(name) is not None


def parse(text: str, file: str, options: dict[str, Option]) -> None:
    """Takes FILE into OPTIONS, by name in lower case. What makes no sense to apt is skipped to the next sign."""
    scopes: list[str] = [""]
    words: list[tuple[str, bool]] = []
    lines = text.split("\n")
    for sign, number in _tokens(text):
        if sign == "{":
            deeper = words and len(scopes) < _DEEPEST
            scopes.append(_name(scopes[-1], words[0][0]) if deeper else scopes[-1])
        elif sign == "}":
            del scopes[max(1, len(scopes) - 1):]
        elif sign == ";":
            _statement(options, scopes[-1], words, Origin(file=file, line=number, text=redacted(lines[number - 1])))
        else:
            words.append((redacted(sign.strip('"')), sign.startswith('"')))
            continue
        words = []


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    number, at = 1, 0
    for match in _TOKEN.finditer(text):
        number, at = number + text.count("\n", at, match.start()), match.start()
        if match.lastgroup != "skip":
            yield match[0], number


def _name(scope: str, word: str) -> str:
    return f"{scope}::{word}".strip(":").lower()


def _statement(options: dict[str, Option], scope: str, words: list[tuple[str, bool]], origin: Origin) -> None:
    if not words:
        return
    (first, quoted), rest = words[0], words[1:]
    if first == "#clear":
        gone = _name(scope, rest[0][0]) if rest else "\0"
        for name in [n for n in options if n == gone or n.startswith(f"{gone}::")]:
            del options[name]
    elif quoted and not rest and scope:
        _add(options, scope, first, origin)
    elif len(rest) == 1 and first.endswith("::"):
        _add(options, _name(scope, first), rest[0][0], origin)
    elif len(rest) == 1:
        options[_name(scope, first)] = Option(rest[0][0], origins=[origin])


def _add(options: dict[str, Option], name: str, value: str, origin: Origin) -> None:
    option = options.setdefault(name, Option())
    option.values.append(value)
    option.origins.append(origin)
