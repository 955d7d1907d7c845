"""The commands of a line Exec*= of a unit, as systemd splits it.

systemd.service(5), "Command lines"; extract_first_word() in src/basic/extract-word.c. The first word may begin with
prefixes: - @ : + ! in any number. ' and " quote (one that opens within a word as well), a backslash escapes as in
C, a ; of its own ends a command, $$ is $ and %% is %. Other specifiers and variables stand as they are: only systemd
knows what they become.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import ParseError

_PREFIXES = "-@:+!|"
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " ", "\\": "\\",
            '"': '"', "'": "'", ";": ";"}


def commands(line: str) -> list[list[str]]:
    """The commands of a line Exec*=, each as its words, the first without prefixes. ParseError on unbalanced quotes."""
    found: list[list[str]] = [[]]
    for word, bare in _words(line):
        if word == ";" and bare:
            found.append([])
        else:
            found[-1].append(word.replace("$$", "$").replace("%%", "%"))
    return [[words[0].lstrip(_PREFIXES), *words[1:]] for words in found if words]


def _words(line: str) -> Iterator[tuple[str, bool]]:
    """Each word, and whether it was written without quotes and escapes."""
    word, bare, quote, begun = list[str](), True, "", False
    signs = iter(line)
    for sign in signs:
        if sign == "\\":
            word.append(_escaped(next(signs, "")))
            bare, begun = False, True
        elif sign == quote:
            quote = ""
        elif not quote and sign in "'\"":
            quote, bare, begun = sign, False, True
        elif not quote and sign in " \t\n\r":
            if begun:
                yield "".join(word), bare
            word, bare, begun = [], True, False
        else:
            word.append(sign)
            begun = True
    if quote:
        raise ParseError(f"a quote is not closed: {line[:80]!r}")
    if begun:
        yield "".join(word), bare


def _escaped(sign: str) -> str:
    """An escape that C does not know stays as it is, such as \\. of a regular expression."""
    return _ESCAPES.get(sign, f"\\{sign}")
