"""A command of a remedy taken apart into words, and the text that a word stands for where nothing expands it.

POSIX.1 Shell Command Language, 2.2 Quoting, 2.6 Word Expansions. A remedy can hold a value of a snapshot, and a
snapshot can be hostile: only what is literal is given on, and it is quoted anew, so that a quote that was forgotten
elsewhere runs nothing.
"""

from __future__ import annotations

import re
import shlex

from ..errors import ParseError
from ..records import record
from ..regexes import regex
from ..sections.shell_tokens import Token, tokens

_GLOB = regex(r"[\w/.*:,+@%=-]+", re.ASCII)
_CONTROL = regex(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")  # the last eight turn text round
_ESCAPED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


@record(frozen=True)
class Piece:
    """A simple command: what joins it to the one before ("", |, && or ||), its words and redirections as written."""

    joint: str
    words: tuple[str, ...]
    redirects: tuple[tuple[str, str], ...]


def pieces(command: str) -> list[Piece] | None:
    """The simple commands of COMMAND; None where it has a comment, is no whole command, or joins by other signs."""
    try:
        found = [*tokens(command)]
    except ParseError:
        return None
    if not found or found[-1].at + len(found[-1].text) != len(command.rstrip()):
        return None
    out, start = [], 0
    for at, token in enumerate([*found, Token("operator", "", 0, 0)]):
        if token.kind == "operator":
            piece = _piece(found[start - 1].text if start else "", found[start:at])
            if piece is None or token.text not in ("|", "&&", "||", ""):
                return None
            out.append(piece)
            start = at + 1
    return out


def _piece(joint: str, found: list[Token]) -> Piece | None:
    words: list[str] = []
    redirects: list[tuple[str, str]] = []
    sign = ""
    for token in found:
        if token.kind == "redirect":
            sign = token.text
        elif sign:
            redirects.append((sign, token.text))
            sign = ""
        else:
            words.append(token.text)
    return None if sign or not words else Piece(joint, tuple(words), tuple(redirects))


def literal(word: str) -> str | None:
    """What WORD stands for; None where the shell would expand it, and for what no shell word can hold."""
    out, at, double = [], 0, False
    while at < len(word):
        sign = word[at]
        if sign in "$`\0" or (not double and (sign in "*?[" or (sign == "~" and not at))):
            return None
        if sign == "'" and not double:
            end = word.index("'", at + 1)
            out.append(word[at + 1 : end])
            at = end
        elif sign == '"':
            double = not double
        elif sign == "\\" and at + 1 < len(word) and (not double or word[at + 1] in '$`"\\'):
            at += 1
            out.append(word[at])
        else:
            out.append(sign)
        at += 1
    text = "".join(out)
    return None if "\0" in text else text


def literals(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """What all the words stand for; None where one of them is expanded."""
    found = [literal(word) for word in words]
    return None if None in found else tuple(word for word in found if word is not None)


def spelled(piece: Piece) -> str | None:
    """The command for a script, quoted anew; file name patterns stay, all other expansions make it None."""
    out = []
    for word in piece.words:
        text = literal(word)
        if text is None and not _GLOB.fullmatch(word):
            return None
        out.append(word if text is None else quote(text))
    known = (("2>", "/dev/null"), ("2>&", "1"))
    return None if set(piece.redirects) - {*known} else " ".join([*out, *(f"{s}{w}" for s, w in piece.redirects)])


def quote(text: str) -> str:
    """TEXT as one word of the shell."""
    return shlex.quote(text)


def visible(text: str) -> str:
    """TEXT on one line, without a sign that moves a terminal's cursor or turns the writing round."""
    return _CONTROL.sub(lambda found: _ESCAPED.get(found[0]) or f"\\u{ord(found[0]):04x}", text)


def comment(text: str, start: str = "# ") -> str:
    """TEXT as lines of comment, each of its own lines one."""
    return "\n".join(f"{start}{visible(line)}".rstrip() for line in text.split("\n"))
