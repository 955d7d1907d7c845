"""The compound commands of a shell script that are open, and what they make the commands within depend on.

POSIX.1 Shell Command Language, 2.9.3 Lists and 2.9.4 Compound Commands. && and || have one rank and are read from left
to right.
"""

from __future__ import annotations

from ..records import field, record

_ALWAYS = ("while true", "while :", "until false")


@record(frozen=True)
class Loop:
    """A ``for`` that a command stands in. WORDS as written; None: it has no list of words."""

    name: str
    words: tuple[str, ...] | None
    text: str
    line: int


@record(frozen=True)
class Condition:
    """What decides whether a command runs, and the line where that begins. NEVER: the command surely does not."""

    text: str
    line: int
    never: bool = False


@record()
class Frame:
    """A compound command that is open: what those within depend on, and how they are chained."""

    kind: str
    at: int = 0
    line: int = 1
    stage: str = "body"
    head: str = ""
    name: str = ""
    words: list[str] | None = None
    outer: list[Loop | Condition] = field(default_factory=list)  # what it depends on by its own chain
    exits: list[Loop | Condition] = field(default_factory=list)
    prior: str = ""  # the command before, and its line
    prior_line: int = 0
    joined: str = ""
    sure: bool = True

    def within(self) -> list[Loop | Condition]:
        """What a command within depends on because of this frame."""
        return [*self.outer, *self._own(), *self.exits]

    def _own(self) -> list[Loop | Condition]:
        if self.kind in ("for", "select"):
            words = tuple(self.words) if self.words is not None and self.kind == "for" else None
            text = f"{self.kind} {self.name}" + (f" in {' '.join(words)}" if words is not None else "")
            return [Loop(self.name, words, text, self.line)]
        if self.kind in ("group", "subshell") or self.stage == "condition" or f"{self.kind} {self.head}" in _ALWAYS:
            return []
        if self.kind == "function":
            return [Condition(f"{self.name}()", self.line)]
        return [Condition(f"{'else of ' if self.stage in ('else', 'elif') else ''}{self.kind} {self.head}", self.line)]

    def chained(self) -> list[Loop | Condition]:
        """What the next command depends on because of the one before."""
        unsure = self.joined == "||" or (self.joined == "&&" and not self.sure)
        return [Condition(f"{self.prior} {self.joined}", self.prior_line)] if unsure else []

    def follows(self, text: str, line: int, sure: bool) -> None:
        """Notes that a command ended."""
        self.sure = (self.sure or sure) if self.joined == "||" else sure and (self.sure or not self.joined)
        self.prior, self.prior_line, self.joined = text, line, ""
