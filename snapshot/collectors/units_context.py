"""What the lines of a shell script that touch tuning stand in, and the variables they use, from the whole text.

Only these lines are recorded, and ``setpci -s $d ...`` says little without the ``for`` and the ``if`` round it.
A variable has a known word when the script sets it once, above the line, and under no condition that the line is not
under as well, and sources no other file in between.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from ..errors import ParseError
from ..regexes import regex
from ..sections.shell import Loop, Step, assigned, steps
from ..sections.shell_tokens import tokens
from ..sections.units import TuningLine
from .units_lines import logical_lines, redacted

SHELLS = ("sh", "bash", "dash", "ash", "zsh", "ksh")
_LONGEST, _LONGEST_LOOP, _MOST = 200, 1000, 12  # signs of a condition or word, of a loop's head; conditions of a line
_USED = regex(r"\$\{?([A-Za-z_]\w*)")
_ARGUMENT = regex(r"\$\{?[1-9@*]")
_ELSEWHERE = (".", "source", "eval")
Within = tuple[object, ...]


def interpreter(text: str) -> str:
    """The name of the program of the line #!, behind env; empty when there is none."""
    words = text.partition("\n")[0].removeprefix("#!").split() if text.startswith("#!") else []
    names = [posixpath.basename(word) for word in words if "=" not in word and word[0] != "-"]
    return next((name for name in names if name != "env"), "")


def in_context(text: str, lines: list[TuningLine]) -> list[TuningLine]:
    """LINES of the shell script TEXT with what they depend on and the words of their variables."""
    try:
        found, read = steps(text), {token.line for token in tokens(text)}
    except ParseError as error:
        return [line.copy(depends=[f"not understood: {redacted(str(error))}"]) for line in lines]
    context = _Context(found, read, [number for number, _ in logical_lines(text)])
    return [context.told(line) for line in lines]


class _Context:
    """The commands of a script, by line."""

    def __init__(self, found: list[Step], read: set[int], starts: list[int]) -> None:
        self.read, self.starts = read, starts  # lines where a word begins, and where a logical line does
        self.by_line: dict[int, list[Step]] = {}
        self.inside: set[int] = set()  # lines within a quoted text
        self.sets: dict[str, list[tuple[int, str | None, Within]]] = {}
        self.sources = [step.line for step in found if step.words[:1] and step.words[0] in _ELSEWHERE]
        self.shifts = [(step.line, " ".join(step.words)) for step in found if _shifts(step)]
        for step in found:
            self.by_line.setdefault(step.line, []).append(step)
            self.inside.update(range(step.line + 1, step.end + 1))
            for name, word in assigned(step):
                self.sets.setdefault(name, []).append((step.line, word, step.within))

    def told(self, line: TuningLine) -> TuningLine:
        """LINE with what is known of it."""
        number = line.origin.line
        at = bisect_right(self.starts, number)
        last = self.starts[at] - 1 if at < len(self.starts) else max(self.by_line, default=0)
        step = next((s for n in range(number, last + 1) for s in self.by_line.get(n, ())), None)
        if step is None:
            head = number in self.read and number not in self.inside  # of a loop, say
            return line if head else line.copy(depends=["within a here-document or a quoted text"])
        depends = [block for block in step.within if block.line < number]
        loops = [block.text for block in depends if isinstance(block, Loop)]
        values = dict(self._values([line.text, *loops], number, step.within))
        texts = [*(_shown(block) for block in depends), *self._arguments([line.text, *values.values()], step)]
        return line.copy(depends=list(dict.fromkeys(texts))[:_MOST] or None, values=values or None)

    def _values(self, texts: Iterable[str], number: int, within: Within) -> Iterator[tuple[str, str]]:
        wanted = [name for text in texts for name in _USED.findall(text)]
        seen: set[str] = set()
        while wanted:
            name = wanted.pop()
            word = self._word(name, number, within) if name not in seen else None
            seen.add(name)
            if word is not None and len(word) <= _LONGEST and redacted(f"{name}={word}") == f"{name}={word}":
                yield name, word
                wanted += _USED.findall(word)

    def _word(self, name: str, number: int, within: Within) -> str | None:
        found = self.sets.get(name, [])
        line, word, conditions = found[0] if len(found) == 1 else (number, None, ())
        known = line < number and set(conditions) <= set(within)
        return word if known and not any(line < source < number for source in self.sources) else None

    def _arguments(self, texts: Iterable[str], step: Step) -> Iterator[str]:
        """What makes the script's arguments others than those it was called with, where the line uses them."""
        if any(_ARGUMENT.search(text) for text in texts):
            yield from (text for line, text in self.shifts if line < step.line)
            if step.function:
                yield f"{step.function}()"


def _shifts(step: Step) -> bool:
    return step.words[:1] == ("shift",) or (step.words[:1] == ("set",) and step.words[1:2] not in ((), ("-e",), ("-x",))
                                            and not re.fullmatch(r"[-+][a-zA-Z]+", step.words[1]))


def _shown(block: object) -> str:
    text = redacted(str(getattr(block, "text", "")))
    return " ".join(text.split())[: _LONGEST_LOOP if isinstance(block, Loop) else _LONGEST]
