"""Where each top-level table of a TOML text lies, from its lines alone.

Parsing costs most of reading a snapshot, and few readers want every section. A text of the form that
``tomlio.dumps`` writes is therefore cut without parsing it. Only lines are accepted after which no string,
array or inline table can be open (or only with a fault that stands in the same part), so that a ``[`` in the
first column always begins a table: to parse the parts one by one then says the same as to parse the whole.
"""

from __future__ import annotations

import re

from ..regexes import regex

_KEY = r'(?:[A-Za-z0-9_-]++|"(?>(?:[^"\\\n]++|\\[^\n])*)")'
_KEYS = rf"[A-Za-z0-9_-]++(?>(?:\.{_KEY})*)"
_STRING = r'"(?>(?:[^"\\\n]++|\\[^\n])*)"'
_SCALAR = rf"(?:{_STRING}|[-+0-9a-z][-+.:_0-9A-Za-z]*+)"
_INLINE = rf"""\{{(?>(?:[^"'\[\]#\n]++|{_STRING}|\[\])*)"""
_ROW = rf"\[\n(?>(?: {{8}}{_SCALAR},\n)*) {{4}}\],"
_ARRAY = rf"\[\n(?>(?: {{4}}(?:{_SCALAR},|\[\],|{_INLINE}|{_ROW})\n)*)\]"
_PAIR = rf'{_KEY} = (?:[-+"0-9a-z][^\n]*+|\[\]|{_ARRAY})\n'
_TOP = regex(r"(?>(?:#[^\n]*+\n|\n)*)")
_TABLE = regex(rf"(?:\[{_KEYS}\]|\[\[{_KEYS}\]\])\n(?>(?:{_PAIR}|\n)*)")
_HEAD = regex(r"^\[\[?([A-Za-z0-9_-]++)", re.MULTILINE)


def cut(text: str) -> dict[str, tuple[int, int]]:
    """First key -> start and end in TEXT of all that stands below it; empty when only a full parse can tell.

    The first part begins at 0: the comments above it are read with it, and may be what is wrong.
    """
    starts: dict[str, int] = {}
    if "\r" in text or '"""' in text or not _is_plain(text):
        return {}
    last = ""
    for head in _HEAD.finditer(text):
        if head[1] != last and head[1] in starts:
            return {}
        last = head[1]
        starts.setdefault(last, head.start() if starts else 0)
    ends = [*starts.values(), len(text)][1:]
    return {key: (start, end) for (key, start), end in zip(starts.items(), ends, strict=True)}


def _is_plain(text: str) -> bool:
    """Whether TEXT is comments and tables of that form; table by table, as one expression would remember every line."""
    found = _TOP.match(text)
    while found and found.end() < len(text):
        found = _TABLE.match(text, found.end())
    return found is not None
