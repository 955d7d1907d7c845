"""Lines of text for a terminal: wrapped prose, exact command lines, control characters shown instead of obeyed."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

COLORS = {"red": "1;31", "yellow": "1;33", "green": "32", "dim": "2", "bold": "1"}
LABEL = 10  # columns of the word that begins a finding
GLUE = "\N{NO-BREAK SPACE}"  # within what is not to be broken; shown() lets no text have it


def shown(text: str) -> str:
    """TEXT with what a terminal would obey or hide, and bytes that are no UTF-8, as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def plural(count: int, one: str, many: str | None = None) -> str:
    """A number with its noun: 1 GPU, 8 GPUs, 6,214 facts."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


class Paper:
    """Collects lines. Prose is wrapped at WIDTH; what may be pasted never is."""

    def __init__(self, width: int = 80, color: bool = False) -> None:
        self.width = max(width, 40)
        self._color = color
        self._lines: list[str] = []

    def text(self) -> str:
        """Everything written, ending in a newline, with no two empty lines in a row."""
        kept = (line for at, line in enumerate(self._lines) if line or (at and self._lines[at - 1]))
        return "\n".join(kept).rstrip("\n") + "\n"

    def blank(self) -> None:
        """An empty line."""
        self._lines.append("")

    def exact(self, text: str, indent: str = "") -> None:
        """One line that is not wrapped."""
        self._lines.append((indent + shown(text)).rstrip())

    def prose(self, text: str, indent: str = "", hang: str | None = None, color: str = "") -> None:
        """A wrapped paragraph that breaks between its clauses where these are short."""
        clauses = re.split("(?<=[,;]) ", text)
        short = self.width // 2
        pieces = (piece for clause in clauses for piece in ([clause] if len(clause) <= short else clause.split(" ")))
        self.pieces(pieces, " ", indent, hang, color)

    def pieces(
        self, pieces: Iterable[str], between: str, indent: str = "", hang: str | None = None, color: str = ""
    ) -> None:
        """A wrapped paragraph that breaks BETWEEN the pieces: those that fit a line stay whole, as do single words."""
        hang = indent if hang is None else hang
        room = self.width - len(hang)
        whole = (shown(piece).replace(" ", GLUE if len(piece) <= room else " ") for piece in pieces)
        lines = textwrap.wrap(
            between.join(whole), self.width, initial_indent=indent, subsequent_indent=hang,
            break_long_words=False, break_on_hyphens=False,
        )
        self._lines += [self.paint(line.replace(GLUE, " "), color) for line in lines]

    def head(self, word: str, text: str, end: str = "", color: str = "bold") -> None:
        """WORD, the text, and END at the right margin of its last line, or below where it does not fit."""
        lines = textwrap.wrap(shown(text), self.width - LABEL, break_long_words=False, break_on_hyphens=False) or [""]
        room, below = self.width - LABEL - len(lines[-1]), [end.rjust(self.width)] if end else []
        if len(end) + 2 <= room:
            lines[-1], below = (lines[-1] + end.rjust(room)).rstrip(), []
        painted = self.paint(f"{word:<{LABEL - 2}}", color)
        self._lines += [painted + "  " + lines[0], *(" " * LABEL + line for line in lines[1:]), *below]

    def paint(self, text: str, color: str) -> str:
        """TEXT in a colour, where colour is wanted."""
        return f"\x1b[{COLORS[color]}m{text}\x1b[0m" if self._color and color else text

    def labelled(self, label: str, lines: list[str]) -> None:
        """Commands beside their label. One of several lines (a here document) must not be indented: then none is."""
        if any("\n" in line for line in lines):
            self._lines.append(f"  {label}")
            for line in lines:
                self._lines += map(shown, line.split("\n"))
            return
        for at, line in enumerate(lines):
            self._lines.append(f"  {label if at == 0 else '':<11}{shown(line)}".rstrip())

    def block(self, title: str, lines: Iterable[str], hang: str = "    ") -> None:
        """A title and paragraphs below it, apart from what follows; nothing when there are none."""
        for at, line in enumerate(lines):
            if not at:
                self.prose(f"{title}:")
            self.prose(line, "  ", hang)
        self.blank()

    def beside(self, label: str, texts: Iterable[str]) -> None:
        """Wrapped paragraphs beside their label, as commands stand beside theirs."""
        for at, text in enumerate(texts):
            self.prose(text, f"  {'' if at else label:<11}", " " * 13)
