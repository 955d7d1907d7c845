"""The words of a command line of a unit, and which script it runs.

systemd.service(5), "Command lines"; extract_first_word() in src/basic/extract-word.c. The first word may begin with
prefixes: - @ : + ! in any number. ' and " quote (one that opens within a word as well), a backslash escapes as in
C, a ; of its own ends a command, $$ is $ and %% is %. Other specifiers and variables stand as they are: only systemd
knows what they become.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from ..errors import ParseError

_PREFIXES = "-@:+!|"
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " ", "\\": "\\",
            '"': '"', "'": "'", ";": ";"}
_SHELLS = frozenset(("sh", "bash", "dash", "ash", "zsh", "ksh"))
WRAPPERS = _SHELLS | {
    "env", "nice", "ionice", "nohup", "sudo", "timeout", "setsid", "exec", "time", "flock", "chrt", "taskset",
    "numactl", "python", "python3", "python2", "perl", "systemd-cat", "systemd-inhibit", "if", "then", "do", "!",
    "{", "(",
}
_NO_PROGRAM = frozenset(("test", "[", "[[", "cd", "echo", "printf", "export", "set", "exit", "for", "done", "fi", "#"))
_OPTIONS = ("-u", "-g", "-n", "-k", "-c", "-e", "-p")  # of the wrappers, that have a value
_VALUE = re.compile(r"[\d.,:x-]+[smhd]?|/(?:run|tmp|dev|var/lock|var/run)/.*", re.DOTALL)
_INLINE = re.compile(r"-[a-z]*c")
_SEGMENT = re.compile(r"[;\n]|&&?|\|\|?")


def commands(line: str) -> list[list[str]]:
    """The commands of a line Exec*=, each as its words, the first without prefixes. ParseError on unbalanced quotes."""
    found: list[list[str]] = [[]]
    for word, bare in _words(line):
        if word == ";" and bare:
            found.append([])
        else:
            found[-1].append(word.replace("$$", "$").replace("%%", "%"))
    return [[words[0].lstrip(_PREFIXES), *words[1:]] for words in found if words]


def _words(line: str) -> Iterator[tuple[str, bool]]:
    """Each word, and whether it was written without quotes and escapes."""
    word, bare, quote, begun = list[str](), True, "", False
    signs = iter(line)
    for sign in signs:
        if sign == "\\":
            word.append(_escaped(next(signs, "")))
            bare, begun = False, True
        elif sign == quote:
            quote = ""
        elif not quote and sign in "'\"":
            quote, bare, begun = sign, False, True
        elif not quote and sign in " \t\n\r":
            if begun:
                yield "".join(word), bare
            word, bare, begun = [], True, False
        else:
            word.append(sign)
            begun = True
    if quote:
        raise ParseError(f"a quote is not closed: {line[:80]!r}")
    if begun:
        yield "".join(word), bare


def _escaped(sign: str) -> str:
    """An escape that C does not know stays as it is, such as \\. of a regular expression."""
    return _ESCAPES.get(sign, f"\\{sign}")


def programs(words: Sequence[str]) -> list[str]:
    """The programs or scripts that a command runs, as named: behind env, sudo or an interpreter, or within sh -c."""
    name = posixpath.basename(words[0]) if words else ""
    inline = next((i for i, word in enumerate(words) if _INLINE.fullmatch(word)), len(words))
    if name in _SHELLS and inline + 1 < len(words):
        return shell_programs(words[inline + 1])
    program = _program(words)
    return [program] if program else []


def shell_programs(text: str) -> list[str]:
    """The programs that the commands of a shell line run; quotes round a program's name are dropped."""
    found = []
    for segment in _SEGMENT.split(text):
        program = _program([word.strip("'\"(){}") for word in segment.split()])
        if program:
            found.append(program)
    return list(dict.fromkeys(found))


def _program(words: Sequence[str]) -> str:
    if words and words[0] in _NO_PROGRAM:
        return ""
    before = ""
    for word in words:
        skipped = posixpath.basename(word) in WRAPPERS or word[:1] in ("-", "") or "=" in word
        if not (skipped or _VALUE.fullmatch(word) or (before in _OPTIONS and word[0] != "/")):
            return word
        before = word
    return ""
