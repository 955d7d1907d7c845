"""The words, operators and redirections of a shell script, as they are written.

POSIX.1 Shell Command Language, 2.3 Token Recognition; of bash also ``<<<``, ``&>``, ``((`` and arrays. Quotes and
substitutions stay in the word that holds them; comments and here-documents are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import ParseError
from ..records import record
from ..regexes import regex

_DEEPEST = 30  # quotes and brackets within each other
_REDIRECT = regex(r"\d*(?:<<<|<<-|<<|<>|<&|>>|>\||>&|<(?!\()|>(?!\())|&>>?")
_OPERATOR = regex(r"&&|\|\||;;&|;;|;&|\|&|[;&|()\n]")
_PLAIN = regex(r"[^ \t\r\n;&|<>()'\"`$\\]+")
_BLANKS = regex(r"[ \t]*")


@record(frozen=True)
class Token:
    """A word, an operator or a redirection (its sign), and where it stands."""

    kind: str
    text: str
    at: int
    line: int


def tokens(text: str) -> Iterator[Token]:
    """The tokens of TEXT in order. ParseError where a quote or bracket is not closed."""
    at, line = 0, 1
    documents: list[str] = []
    while at < len(text):
        kind, end = _token(text, at)
        found = text[at:end]
        if kind == "redirect" and found.lstrip("0123456789") in ("<<", "<<-"):
            start = next(_BLANKS.finditer(text, end)).end()
            end, kind = _word(text, start), ""
            documents.append(re.sub(r"[\"'\\]", "", text[start:end]))
        if kind:
            yield Token(kind, found, at, line)
        if found == "\n" and documents:
            end, documents = _behind(text, end, documents), []
        line += text.count("\n", at, end)
        at = end


def substitutions(word: str) -> Iterator[str]:
    """The commands within $( ) and backticks of WORD, but for those within single quotes. ParseError as of tokens."""
    at, double = 0, False
    while at < len(word):
        sign = word[at]
        double = double != (sign == '"')
        if sign == "\\":
            at += 2
        elif sign == "'" and not double:
            at = _closed(word, at)
        elif sign == "`" or word.startswith("$(", at):
            start = at + (sign == "$")
            at = _closed(word, start)
            if word[start : start + 2] != "((":
                yield word[start + 1 : at - 1]
        else:
            at += 1


def _token(text: str, at: int) -> tuple[str, int]:
    """Kind ("" of what is no token) and end of what begins at AT."""
    sign = text[at]
    if sign in " \t\r" or text.startswith("\\\n", at):
        return "", at + 1 + (sign == "\\")
    if sign == "#":
        end = text.find("\n", at)
        return "", end if end >= 0 else len(text)
    if text.startswith("((", at):
        return "word", _closed(text, at)
    for kind, form in (("redirect", _REDIRECT), ("operator", _OPERATOR)):
        if match := form.match(text, at):
            return kind, match.end()
    return "word", _word(text, at)


def _word(text: str, at: int) -> int:
    """The end of the word that begins at AT."""
    start = at
    while at < len(text):
        if match := _PLAIN.match(text, at):
            at = match.end()
        elif text[at] == "\\":
            at += 2
        elif text[at] in "'\"`":
            at = _closed(text, at)
        elif text.startswith(("$(", "${", "<(", ">("), at):
            at = _closed(text, at + 1)
        elif text[at] == "(" and text[at - 1 : at] == "=" and at > start:
            at = _closed(text, at)
        elif text[at] == "$":
            at += 1
        else:
            break
    return min(max(at, start + 1), len(text))


def _closed(text: str, at: int, depth: int = 0) -> int:
    """The end of the quote or bracket that opens at AT."""
    start, opening = at, text[at]
    closing = {"(": ")", "{": "}"}.get(opening, opening)
    plain = opening == "'" and text[at - 1 : at] != "$"
    at += 1
    while at < len(text) and depth < _DEEPEST:
        if text[at] == closing:
            return at + 1
        if text[at] == "\\" and not plain:
            at += 2
        elif _nests(text, at, opening):
            at = _closed(text, at, depth + 1)
        else:
            at += 1
    raise ParseError(f"{opening} is not closed: {text[start:start + 60]!r}")


def _nests(text: str, at: int, within: str) -> bool:
    """Whether something opens at AT that has to be closed before WITHIN is."""
    sign = text[at]
    if within in "'`":
        return False
    if sign in "({" and text[at - 1] == "$":
        return True
    return sign == "`" or (within != '"' and sign in "'\"") or (within == sign == "(")


def _behind(text: str, at: int, documents: list[str]) -> int:
    """Where the here-documents end of which the first begins at AT."""
    for name in documents:
        line = ""
        while at < len(text) and line != name:
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            line, at = text[at:end].strip("\t"), end + 1
    return min(at, len(text))
