"""The part of YAML that people write network configuration in, as scalars with the keys that lead to them.

https://yaml.org/spec/1.2.2: block mappings and sequences by indentation, flow collections, quotes and comments.
Anchors, aliases, tags, block scalars, scalars over several lines, several documents and tabs as indentation are
refused: what is not understood must not be guessed. An item of a sequence has the key [].
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import ParseError
from ..records import field, record
from ..regexes import regex

_QUOTED = r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'"""
_STARTS_QUOTED = regex(_QUOTED)
_TOKEN = regex(
    rf"\s*([\[\]{{}},]|:(?=[\s,\[\]{{}}]|$)|{_QUOTED}|[^\s\[\]{{}},:\"'](?:[^\[\]{{}},:]|:(?![\s,\[\]{{}}]|$))*)\s*"
)
_REFUSED = tuple("&*!|>%@`")
_ITEM = "[]"
_DEPTH = 30


@record(frozen=True)
class Fact:
    """A scalar: the keys that lead to it, its text without quotes, and the line where it (or its collection) begins."""

    path: tuple[str, ...]
    value: str
    line: int


def parse_yaml(text: str, file: str) -> list[Fact]:
    """Every scalar, in order; null has none. ParseError names file and line of what is not understood."""
    reader = _Reader()
    found: list[Fact] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found += reader.take(number, without_comment(line).rstrip())
        except ParseError as error:
            raise ParseError(f"{file}:{number}: {error}") from None  # unquoted: the line may hold a secret
    if reader.open:
        raise ParseError(f"{file}:{reader.began}: a flow collection without an end")
    return found


@record()
class _Reader:
    levels: list[tuple[int, str]] = field(default_factory=list)  # indentation and key of each open level
    tokens: list[str] = field(default_factory=list)  # of the flow collection that is being read
    open: int = 0
    began: int = 0

    def take(self, number: int, text: str) -> list[Fact]:
        body = text.lstrip(" ")
        if self.open:
            return self._flow(body)
        if not body or (body == "---" and not self.levels):
            return []
        if body[0] == "\t" or body in ("---", "..."):
            raise ParseError("not understood")
        indent = len(text) - len(body)
        while body.startswith("- ") or body == "-":
            self._close(indent, item=True)
            self.levels.append((indent, _ITEM))
            rest = body[1:].lstrip(" ")
            indent, body = indent + len(body) - len(rest), rest
        return self._body(number, indent, body) if body else []

    def _body(self, number: int, indent: int, body: str) -> list[Fact]:
        pair = None if body[0] in "[{" else _pair(body)
        if pair:
            self._close(indent)
            self.levels.append((indent, pair[0]))
            body = pair[1]
        elif not self.levels or self.levels[-1][1] != _ITEM or self.levels[-1][0] >= indent:
            raise ParseError("no key")
        if len(self.levels) > _DEPTH or body.startswith(_REFUSED):
            raise ParseError("not understood")
        self.began = number
        if body.startswith(("[", "{")):
            return self._flow(body)
        return [Fact(self._path(), unquoted(body), number)] if body else []

    def _path(self) -> tuple[str, ...]:
        return tuple(key for _, key in self.levels)

    def _close(self, indent: int, item: bool = False) -> None:
        """Ends the levels that a line at INDENT is not within; an item may stand as far left as its key."""
        while self.levels:
            at, key = self.levels[-1]
            if at < indent or (item and at == indent and key != _ITEM):
                return
            self.levels.pop()

    def _flow(self, body: str) -> list[Fact]:
        """Takes one line of a flow collection, and gives its scalars when it ends."""
        tokens = list(_tokens(body))
        self.tokens += tokens
        self.open += sum((token in ("[", "{")) - (token in ("]", "}")) for token in tokens)
        if self.open > 0:
            return []
        tokens, self.tokens, self.open = self.tokens, [], 0
        return [Fact((*self._path(), *below), value, self.began) for below, value in _scalars(tokens)]


def _scalars(tokens: list[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Keys and value of each scalar in a flow collection."""
    levels: list[tuple[str, str]] = []  # the sign that ends it, and the key within it
    word = ""
    for at, sign in enumerate(tokens):
        if sign in ("[", "{"):
            levels.append(("]", _ITEM) if sign == "[" else ("}", ""))
        elif sign == ":":
            if levels[-1] != ("}", "") or not word:
                raise ParseError("not understood")
            levels[-1] = ("}", unquoted(word))
        elif sign in (",", "]", "}"):
            if word and levels[-1][1]:
                yield tuple(key for _, key in levels), unquoted(word)
            end = levels.pop()[0]
            if sign == ",":
                levels.append((end, _ITEM if end == "]" else ""))
            elif sign != end or (not levels and at + 1 < len(tokens)):
                raise ParseError("not understood")
        elif word or sign.startswith(_REFUSED) or len(levels) > _DEPTH:
            raise ParseError("not understood")
        word = sign if sign not in ("[", "{", ":", ",", "]", "}") else ""


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise ParseError("not understood")
        yield match[1].rstrip()
        at = match.end()


def _pair(body: str) -> tuple[str, str] | None:
    """Key and value of a line; None when it is none of a mapping."""
    quoted = _STARTS_QUOTED.match(body)
    if quoted:
        rest = body[quoted.end() :].lstrip()
        return (unquoted(quoted[0]), rest[1:].strip()) if rest.startswith(":") else None
    key, found, value = body.partition(": ")
    if found or body.endswith(":"):
        return (key if found else body[:-1]).rstrip(), value.strip()
    return None


def without_comment(line: str) -> str:
    """LINE up to a # at its start or behind a blank, and in no quotes."""
    quote, escaped = "", False
    for at, sign in enumerate(line):
        if quote:
            quote = "" if sign == quote and not escaped else quote
            escaped = quote == '"' and sign == "\\" and not escaped
        elif sign in "'\"" and (at == 0 or line[at - 1] in " \t[{,:"):
            quote = sign
        elif sign == "#" and (at == 0 or line[at - 1] in " \t"):
            return line[:at]
    return line


def unquoted(text: str) -> str:
    """TEXT without the quotes around it."""
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
