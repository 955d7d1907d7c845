"""The paper of the page: titles, labelled lines that wrap, aligned tables. Everything on it is shown, never obeyed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..paper import Paper, shown

WIDTH = 100
LABEL = 16  # columns of a label, its blanks included


class Sheet(Paper):
    """Paper of 100 columns. What is None or empty is left out, and a line of nothing is no line."""

    def __init__(self) -> None:
        super().__init__(WIDTH)
        self._title: str | None = None

    def chapter(self, title: str) -> None:
        """TITLE stands above what comes next; a chapter without a line has none."""
        self._title = title

    def _begin(self) -> None:
        if self._title is not None:
            self.blank()
            self.exact(self._title)
            self._title = None

    def line(self, text: str, indent: int = 2) -> None:
        """One line, not wrapped."""
        self._begin()
        self.exact(text, " " * indent)

    def facts(self, label: str, facts: Iterable[str | None], between: str = ", ", indent: int = 2) -> None:
        """LABEL and the facts behind it, wrapped between them."""
        said = [fact for fact in facts if fact]
        if not said:
            return
        self._begin()
        hang = " " * (indent + LABEL)
        head = f"{' ' * indent}{shown(label):<{LABEL}}"
        ends = [*(fact + between.rstrip() for fact in said[:-1]), said[-1]]
        self.pieces(ends, " ", head if head.endswith(" ") else head + " ", hang)

    def sourced(self, label: str, value: str, sources: Sequence[str], indent: int = 2) -> None:
        """A value, and behind an arrow what sets it: beside it where there is one and it fits, else below, whole."""
        beside = f"{value} <- {sources[0]}" if len(sources) == 1 else ""
        if beside and indent + LABEL + len(beside) <= WIDTH:
            self.facts(label, [beside], indent=indent)
            return
        self.facts(label, [value], indent=indent)
        for source in sources:
            self.line(f"<- {source}", indent + LABEL)

    def table(
        self, rows: Iterable[Sequence[str | None]], indent: int = 2, heads: Sequence[str] | None = None
    ) -> None:
        """ROWS in aligned columns below HEADS, the last one ragged; a column that is empty in every row is left out."""
        columns = [[cell or "" for cell in column] for column in zip(*rows, strict=True)]
        kept = [([head] if heads else []) + column
                for head, column in zip(heads or [""] * len(columns), columns, strict=True) if any(column)]
        if not kept:
            return
        self._begin()
        widths = [max(map(len, column)) for column in kept[:-1]] + [0]
        for row in zip(*kept, strict=True):
            self.exact("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)), " " * indent)
