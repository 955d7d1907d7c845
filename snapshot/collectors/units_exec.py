"""What the command line of a unit, or a line of a shell, runs: programs and scripts by name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from ..regexes import regex
from ..sections.exec_line import commands as commands

_SHELLS = frozenset(("sh", "bash", "dash", "ash", "zsh", "ksh"))
WRAPPERS = _SHELLS | {
    "env", "nice", "ionice", "nohup", "sudo", "timeout", "setsid", "exec", "time", "flock", "chrt", "taskset",
    "numactl", "python", "python3", "python2", "perl", "systemd-cat", "systemd-inhibit", "if", "then", "do", "!",
    "{", "(",
}
_NO_PROGRAM = frozenset(("test", "[", "[[", "cd", "echo", "printf", "export", "set", "exit", "for", "done", "fi", "#"))
_OPTIONS = ("-u", "-g", "-n", "-k", "-c", "-e", "-p")  # of the wrappers, that have a value
_VALUE = regex(r"[\d.,:x-]+[smhd]?|/(?:run|tmp|dev|var/lock|var/run)/.*", re.DOTALL)
_INLINE = regex(r"-[a-z]*c")
_SEGMENT = regex(r"[;\n]|&&?|\|\|?")


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
