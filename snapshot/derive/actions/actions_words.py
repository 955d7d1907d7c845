"""The words of a shell command with their variables put in, as far as the text alone tells.

POSIX.1 Shell Command Language, 2.6 Word Expansions; of bash also ``{0..7}``. What is unknown (a command substitution,
an argument, a variable from elsewhere) stays as it is written, and as * where a path is wanted.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

from ...records import field, record, replace
from ...regexes import regex
from ...sections.shell import Loop

_PART = regex(
    r"\$?'(?P<single>[^']*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\"|\\(?P<escaped>.)|\$\{(?P<brace>[^{}]*)\}"
    r"|\$(?P<name>[A-Za-z_]\w*|[0-9@*#?$!])|(?P<plain>[^'\"\\$]+|.)", re.DOTALL)
_INSIDE = regex(
    r"\\(?P<escaped>[$`\"\\])|\$\{(?P<brace>[^{}]*)\}|\$(?P<name>[A-Za-z_]\w*|[0-9@*#?$!])|(?P<plain>[^\\$]+|.)",
    re.DOTALL)
_DEFAULT = regex(r"(\w+):?-(.*)", re.DOTALL)
_BRACES = regex(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_RANGE = regex(r"\{(\d{1,4})\.\.(\d{1,4})\}")
_SEQUENCE = regex(r"seq\s+(?:(\d{1,4})\s+)?(\d{1,4})")
_GPUS = regex(r"nvidia-smi\s+--query-gpu=(?:index|uuid|gpu_uuid|pci\.bus_id|gpu_bus_id)\s+--format=csv,noheader")
_FIRST_COLUMN = regex(r"cut\s+-d\s*(?:' '|\" \"|\\ )\s+-f\s*1|awk\s+'\{\s*print \$1;?\s*\}'|sort|uniq")
_OPTIONS = regex(r"-[Dnmk]*(?:([ds])(.*))?")


@record(frozen=True)
class Word:
    """A word. GLOB has * for what is unknown; PATTERN: it holds an unquoted * ? or [; EACH: the same in the list of a
    loop, so that it is one file after the other; DEVICES: it stands for devices, and TEXT is what selects them."""

    text: str
    glob: str
    known: bool = True
    pattern: bool = False
    each: bool = False
    devices: bool = False

    @property
    def value(self) -> str | None:
        """Its text; None when a part of it is unknown."""
        return self.text if self.known else None


def literal(text: str) -> Word:
    """TEXT as a word that needs no expansion."""
    return Word(text, text)


def unknown(text: str) -> Word:
    """A word of which nothing is known but how it is written."""
    return Word(text, "*", known=False)


@record(frozen=True)
class Scope:
    """What a command can see: variables, the script's arguments (None: unknown), and whether bash reads it."""

    values: Mapping[str, Word] = field(default_factory=dict)
    arguments: tuple[Word, ...] | None = None
    bash: bool = True

    def having(self, name: str, word: Word) -> Scope:
        """The same with a variable."""
        return replace(self, values={**self.values, name: word})

    def variable(self, name: str) -> Word | None:
        """A variable or argument; None when it is unknown."""
        if name.isdecimal():
            found = self.arguments or ()
            return found[int(name) - 1] if 0 < int(name) <= len(found) else None
        return self.values.get(name)

    def unset(self, name: str) -> bool:
        """Whether it is an argument that was surely not given."""
        return name.isdecimal() and self.arguments is not None and int(name) > len(self.arguments)


def expand(raw: str, scope: Scope) -> Word:
    """The word that is written RAW."""
    if "$(" in raw or "`" in raw:
        return unknown(raw) if raw[:1] != "'" or raw.count("'") > 2 else literal(raw.strip("'"))
    parts = [part for match in _PART.finditer(raw) for part in _parts(match, scope)]
    if len(parts) == 1 and parts[0].devices:
        return parts[0]
    return _joined(parts)


def words(raw: Iterable[str], scope: Scope) -> list[Word]:
    """The words of a command; a variable without quotes becomes as many words as it holds."""
    found: list[Word] = []
    for one in raw:
        word = expand(one, scope)
        split = word.known and not word.devices and one.startswith("$") and " " in word.text
        found += [replace(word, text=part, glob=part) for part in word.text.split()] if split else [word]
    return found


def loop_words(loop: Loop, scope: Scope) -> list[Word] | None:
    """What the variable of LOOP becomes, one after the other; None when that is not known."""
    found: list[Word] = []
    for raw in loop.words or ():
        some = _listed(raw, scope)
        if some is None:
            return None
        found += some
    return found or None


def _parts(match: re.Match[str], scope: Scope) -> Iterable[Word]:
    if match["single"] is not None:
        escapes = match[0][0] == "$" and "\\" in match[0]
        return [unknown(match[0]) if escapes else literal(match["single"])]
    if match["double"] is not None:
        inner = [_inner(found, scope) for found in _INSIDE.finditer(match["double"])]
        return [replace(word, pattern=False) for word in inner] or [literal("")]
    return [_inner(match, scope)]


def _inner(match: re.Match[str], scope: Scope) -> Word:
    if match["escaped"] is not None:
        return literal(match["escaped"])
    if match["plain"] is not None:
        braces = _BRACES.search(match[0])
        pattern = any(sign in match[0] for sign in "*?[")
        return Word(match[0], _BRACES.sub("*", match[0]), not braces, pattern)
    name = match["brace"] if match["brace"] is not None else match["name"]
    default = _DEFAULT.fullmatch(name)
    if default and scope.unset(default[1]):
        return expand(default[2], scope)
    return scope.variable(default[1] if default else name) or unknown(match[0])


def _joined(parts: list[Word]) -> Word:
    return Word(
        "".join("*" if part.devices else part.text for part in parts), "".join(part.glob for part in parts),
        all(part.known and not part.devices for part in parts), any(part.pattern for part in parts),
        any(part.each for part in parts),
    )


def _listed(raw: str, scope: Scope) -> list[Word] | None:
    command = raw[2:-1] if raw.startswith("$(") else raw[1:-1] if raw[:1] == raw[-1:] == "`" else ""
    if command:
        return _output(command.strip())
    numbers = _RANGE.fullmatch(raw) if scope.bash else None
    if numbers:
        return _numbers(numbers[1], numbers[2])
    found = words([raw], scope)
    return [replace(w, pattern=False, each=w.pattern) for w in found] if all(w.known for w in found) else None


def _output(command: str) -> list[Word] | None:
    if numbers := _SEQUENCE.fullmatch(command):
        return _numbers(numbers[1] or "1", numbers[2])
    if _GPUS.fullmatch(command):
        return [Word("all", "*", devices=True)]
    lister, *filters = (part.strip() for part in command.split("|"))
    selector = _selector(lister) if all(_FIRST_COLUMN.fullmatch(part) for part in filters) and filters else None
    return [Word(selector, "*", devices=True)] if selector else None


def _selector(command: str) -> str | None:
    """What the only -d or -s of an lspci command selects."""
    try:
        program, *rest = shlex.split(command)
    except ValueError:
        return None
    taken = iter(rest if program.rpartition("/")[2] == "lspci" else ["?"])
    found: list[str] = []
    for word in taken:
        option = _OPTIONS.fullmatch(word)
        if not option:
            return None
        if option[1]:
            found.append(option[2] or next(taken, ""))
    return found[0].lower() if len(found) == 1 and found[0] else None


def _numbers(first: str, last: str) -> list[Word]:
    return [literal(str(number)) for number in range(int(first), int(last) + 1)][:256]
