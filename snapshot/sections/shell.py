"""The commands of a shell script, and what decides whether each of them runs, from its text alone.

POSIX.1 Shell Command Language, 2.9 and 2.10; of bash also ``[[``, ``((`` and ``function``. Nothing is expanded or run.
Both arms read scripts: the one knows the whole file and keeps what a line stands in, the other has the line.

A word that closes what was never opened is passed over, because a single line of a script has to be readable. A command
behind ``&&`` depends on the one before, unless that one is SURE to succeed; one behind ``||`` always does. What stands
behind an ``exit`` depends on what that depends on, or never runs. ``set -e`` and ``trap`` are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import ParseError
from ..records import field, record, replace
from ..regexes import regex
from .shell_frames import Condition as Condition
from .shell_frames import Frame
from .shell_frames import Loop as Loop
from .shell_tokens import Token, tokens

SURE = frozenset((
    "true", ":", "echo", "printf", "sleep", "sync", "export", "cd", "tee", "logger", "udevadm", "sysctl", "setpci",
    "nvidia-smi", "nvidia-modprobe", "cpupower", "cpufreq-set", "modprobe", "ethtool", "ip", "swapoff", "swapon",
))
"""Commands that fail only where the host is broken: what follows them behind && is taken to run."""

_DEEPEST, _EXITS = 50, 8  # compound commands within each other; exits that are remembered
_NAME = regex(r"[A-Za-z_]\w*")
_ASSIGNED = regex(r"([A-Za-z_]\w*)(\+?)=(.*)", re.DOTALL)
_DECLARING = ("export", "readonly", "local", "declare", "typeset")
_READING = ("read", "mapfile", "readarray", "getopts", "unset")
_EMPTY = regex(r"\(\s*\)")
_HEADS = {"if": "condition", "while": "condition", "until": "condition", "for": "name", "select": "name",
          "case": "subject"}
_ENDS = {"fi": ("if",), "done": ("while", "until", "for", "select"), "esac": ("case",), "}": ("group", "function"),
         ")": ("subshell", "function")}


@record(frozen=True)
class Redirect:
    """A redirection: its sign (>, 2>, <<<) and its word as written."""

    sign: str
    word: str


@record(frozen=True)
class Step:
    """A simple command: its words as written, its first and last line, and what it stands in, outermost first."""

    words: tuple[str, ...]
    redirects: tuple[Redirect, ...]
    line: int
    end: int
    within: tuple[Loop | Condition, ...]
    piped: Step | None  # the command whose output it reads
    function: str  # the function that it is part of


def steps(text: str) -> list[Step]:
    """The commands of TEXT in order. A function that is surely called is no condition. ParseError on an open quote."""
    parser = _Parser(text)
    for token in tokens(text):
        parser.take(token)
    return parser.finished()


def assigned(step: Step) -> Iterator[tuple[str, str | None]]:
    """The variables that STEP sets, each with its word as written, or None where its text does not tell."""
    first = step.words[0] if step.words else ""
    words = step.words[1:] if first in (*_DECLARING, *_READING) else step.words
    if first in _READING:
        yield from ((word, None) for word in words if _NAME.fullmatch(word))
        return
    found = [match for word in words if (match := _ASSIGNED.fullmatch(word))]
    if len(found) == len(words) or first in _DECLARING:  # else they are set for that one command
        yield from ((match[1], None if match[2] else match[3]) for match in found)


@record()
class _Parser:
    """Takes tokens one by one."""

    source: str
    frames: list[Frame] = field(default_factory=lambda: [Frame("group")])
    words: list[Token] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    sign: str = ""  # of a redirection that waits for its word
    naming: str = ""  # a function whose body is to come; "?" before its name
    found: list[Step] = field(default_factory=list)
    piped: Step | None = None
    exiting: set[str] = field(default_factory=lambda: {"exit"})
    functions: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)

    def take(self, token: Token) -> None:
        """Goes on with TOKEN."""
        frame = self.frames[-1]
        if self.sign and token.kind == "word":
            self.redirects.append(Redirect(self.sign, token.text))
            self.sign = ""
        elif frame.stage in ("name", "in", "words", "do"):
            self._loop(frame, token)
        elif frame.stage in ("subject", "pattern"):
            self._case(frame, token)
        elif self.words and self.words[0].text == "[[" != self.words[-1].text != "]]" and token.text != ";":
            self.words.append(token)
        elif token.kind == "redirect":
            self.sign = token.text
        elif token.kind == "operator":
            self._operator(token)
        elif self.naming == "?":
            self.naming = token.text
        elif self.words or self.redirects or not self._reserved(token):
            self.words.append(token)

    def finished(self) -> list[Step]:
        """All commands."""
        self._end(";")
        gone = {f"{name}()" for name in self.called}
        return [replace(s, within=tuple(b for b in s.within if b.text not in gone)) for s in self.found]

    def _loop(self, frame: Frame, token: Token) -> None:
        if token.kind == "operator":
            frame.stage = "do" if frame.stage != "name" else "name"
        elif token.text == "do" and frame.stage != "words":
            frame.stage = "body"
        elif frame.stage == "name":
            frame.name, frame.stage = token.text, "in"
        elif frame.stage == "in" and token.text == "in":
            frame.words, frame.stage = [], "words"
        elif frame.words is not None:
            frame.words.append(token.text)

    def _case(self, frame: Frame, token: Token) -> None:
        if frame.stage == "subject" and token.text == "in":
            frame.head, frame.stage = self._head(frame, token), "pattern"
        elif frame.stage == "pattern" and token.text == ")":
            frame.stage = "body"
        elif frame.stage == "pattern" and token.text == "esac":
            self._close(token)

    def _operator(self, token: Token) -> None:
        if token.text == "(":
            if not _EMPTY.match(self.source, token.at):
                self._push("subshell", token)
            elif self.words:
                self.naming = self.words.pop().text
        elif token.text == ")":
            if not self.naming:
                self._close(token)
        elif not (self.naming and token.text == "\n"):
            self._end(token.text)

    def _reserved(self, token: Token) -> bool:
        """Whether TOKEN, the first word of a command, belongs to the grammar."""
        frame, word = self.frames[-1], token.text
        if word in _HEADS or word == "{":
            self._push("group" if word == "{" else word, token)
        elif word in _ENDS:
            self._close(token)
        elif word in ("then", "do", "else", "elif"):
            if frame.stage in ("condition", "elif") and word in ("then", "do"):
                frame.head, frame.stage = self._head(frame, token), "body"
            elif frame.kind == "if" and word[0] == "e":
                frame.stage, frame.at = word, token.at + len(word)
        elif word == "function":
            self.naming = "?"
        else:
            return False
        return True

    def _head(self, frame: Frame, token: Token) -> str:
        return " ".join(self.source[frame.at : token.at].split()).rstrip("; ")

    def _push(self, kind: str, token: Token) -> None:
        if len(self.frames) > _DEEPEST:
            raise ParseError(f"line {token.line}: {_DEEPEST} compound commands within each other")
        kind, name = ("function", self.naming) if self.naming else (kind, "")
        outer = self.frames[-1].chained() if kind != "function" else []
        stage = _HEADS.get(kind, "body")
        self.frames.append(Frame(kind, token.at + len(token.text), token.line, stage, name=name, outer=outer))
        self.functions.update({name} - {""})
        self.naming, self.piped, self.words = "", None, []

    def _close(self, token: Token) -> None:
        self._end(";")
        kinds = _ENDS[token.text]
        while any(frame.kind in kinds for frame in self.frames[1:]):
            frame = self.frames.pop()
            if frame.kind in kinds:
                text = f"{frame.kind} {frame.head or frame.name}".strip()
                return self.frames[-1].follows(text, frame.line, sure=False)
        return None

    def _end(self, sign: str) -> None:
        """The command that was gathered, if any, ends with SIGN."""
        frame = self.frames[-1]
        if self.words or self.redirects:
            step = self._step()
            self.found.append(step)
            self.piped = step if sign in ("|", "|&") else None
            if not self.piped:
                frame.follows(" ".join(step.words), step.line, step.words[:1] != () and step.words[0] in SURE)
                self._calls(step)
        elif sign not in ("\n", "&&", "||"):
            frame.joined, self.piped = "", None
        if sign in ("&&", "||"):
            frame.joined = sign
        if sign.startswith(";;") or sign == ";&":
            frame.stage = "pattern" if frame.kind == "case" else frame.stage

    def _step(self) -> Step:
        within = [block for frame in self.frames for block in frame.within()] + self.frames[-1].chained()
        function = next((f.name for f in reversed(self.frames) if f.kind == "function"), "")
        texts = tuple(token.text for token in self.words)
        line = self.words[0].line if self.words else self.frames[-1].prior_line
        end = self.words[-1].line + self.words[-1].text.count("\n") if self.words else line
        step = Step(texts, tuple(self.redirects), line, end, tuple(within), self.piped, function)
        self.words, self.redirects, self.sign = [], [], ""
        return step

    def _calls(self, step: Step) -> None:
        """Notes what STEP means for those behind it: it may end the script, or a function runs."""
        name = step.words[0] if step.words else ""
        if name in self.functions and not step.within:
            self.called.add(name)
        ends = name in self.exiting or (name == "exec" and len(step.words) > 1) or (name == "return" and step.function)
        place = next(f for f in reversed(self.frames) if f.kind in ("function", "subshell") or f is self.frames[0])
        if place.kind == "function" and name != "return":
            self.exiting.add(place.name)
        if not ends or len(place.exits) == _EXITS:
            return
        text, own = " ".join(step.words), f"{step.function}()"
        causes = [b for b in step.within if b.text != own and b not in place.exits]
        why = f"{causes[-1].text}{'' if causes[-1].text.endswith(('&&', '||')) else ':'} {text}" if causes else text
        never = not causes and name not in self.functions
        place.exits.append(Condition(why if causes or never else f"{text} may exit", step.line, never))
