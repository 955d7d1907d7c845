"""Text for Markdown as GitHub, GitLab and Gitea read it, from which nothing breaks out. https://github.github.com/gfm/

A word that could mean anything there (emphasis, HTML, a link, @mention, #1, :emoji:, a commit) becomes a code span, in
which nothing means anything; plain words and punctuation stay as they are.
"""

from __future__ import annotations

import re

from ..engine.text import cut
from ..regexes import regex
from .paper import shown

_PLAIN = regex(r"[A-Za-z0-9/%+='\"()-](?:[A-Za-z0-9/.,;%+='\"()-]*[A-Za-z0-9/.,;:%+='\"()-])?|->")
_OPENING = regex(r"[-+=].*|[0-9]+[.)]")  # makes a list, a line or a heading where a line begins
_LINKED = regex(r"www\.|[0-9a-f]{7}|\b[A-Z]+-[0-9]", re.IGNORECASE)  # a link, a commit, GH-1 as an issue


def inline(text: str, limit: int = 1000) -> str:
    """The text on one line, which it may begin; after LIMIT characters it says how many more there are."""
    first, *rest = clipped(text, limit).strip(" ").split(" ")
    return " ".join([code(first) if _OPENING.fullmatch(first) else _word(first), *map(_word, rest)])


def clipped(text: str, limit: int) -> str:
    """The text with what a terminal would obey as escapes; after LIMIT characters it says how many more there are."""
    return cut(shown(text), limit)


def _word(word: str) -> str:
    bare = word.strip("(),;:.")
    if not bare or (_PLAIN.fullmatch(word) and not _LINKED.search(word)):
        return word
    begin, _, end = word.partition(bare)
    return f"{begin}{code(bare)}{end}"


def code(text: str) -> str:
    """The text, one line, as a code span."""
    ticks = "`" * (_longest_run(text) + 1)
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{blank}{text}{blank}{ticks}"


def fenced(lines: list[str], language: str = "") -> str:
    """Lines as a code block, one that holds several too; nothing in it can end it."""
    text = "\n".join(shown(part) for line in lines for part in line.split("\n"))
    ticks = "`" * max(3, _longest_run(text) + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def folded(summary: str, text: str) -> str:
    """Text that a reader opens by its SUMMARY, which has to be plain words."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
