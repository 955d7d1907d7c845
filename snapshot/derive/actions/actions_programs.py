"""Which program a command runs: behind env, nice, timeout, sudo and the like, or within ``sh -c``."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from ...regexes import regex
from .actions_words import Word

SHELLS = ("sh", "bash", "dash", "ash", "zsh", "ksh")
HARMLESS = frozenset((
    "which", "type", "hash", "test", "[", "[[", "echo", "printf", "pgrep", "pidof", "logger", "cat", "grep", "egrep",
    "lsmod", "modinfo", "dpkg", "rpm", "ls", "exit", "return", "true", ":", "sleep",
))
"""Programs that set nothing, whatever tool their words name; where they write to is another matter."""

_WRAPPERS: dict[str, tuple[str, int]] = {  # name -> its options that take a value, and how many words follow them
    "env": ("uCS", 0), "nice": ("n", 0), "ionice": ("cn", 0), "nohup": ("", 0), "sudo": ("ugphC", 0), "setsid": ("", 0),
    "timeout": ("ks", 1), "exec": ("a", 0), "time": ("fo", 0), "taskset": ("", 1), "chrt": ("TPD", 1),
    "flock": ("wE", 1), "numactl": ("NmiplCc", 0), "stdbuf": ("ioe", 0), "systemd-cat": ("tp", 0), "builtin": ("", 0),
    "command": ("", 0), "doas": ("u", 0), "busybox": ("", 0),
}
_ASSIGNED = regex(r"[A-Za-z_]\w*=.*", re.DOTALL)
_INLINE = regex(r"-[a-z]*c")


def program(argv: list[Word]) -> tuple[Word | None, list[Word]]:
    """(program, its arguments); None when there is none, as of an assignment."""
    rest = list(argv)
    while rest:
        base = posixpath.basename(rest[0].text)
        if _ASSIGNED.fullmatch(rest[0].text):
            rest = rest[1:]
        elif base not in _WRAPPERS or (base == "command" and rest[1:2] and rest[1].text[:2].lower() == "-v"):
            return rest[0], rest[1:]
        else:
            rest = _behind(rest[1:], *_WRAPPERS[base])
    return None, []


def _behind(rest: list[Word], with_value: str, words: int) -> list[Word]:
    while rest and rest[0].text.startswith("-"):
        text = rest[0].text
        takes = len(text) == 2 and text[1] in with_value
        rest = rest[1 + takes :]
    return rest[words:]


def inline(argv: Sequence[str]) -> str:
    """The command behind -c of a shell's arguments, or of a command that is a shell; empty when there is none."""
    at = next((i for i, text in enumerate(argv) if _INLINE.fullmatch(text)), -1)
    before = argv[:at] if at >= 0 else ()
    plain = [text for text in before if text[:1] not in "-+" and posixpath.basename(text) not in SHELLS]
    return argv[at + 1] if at >= 0 and at + 1 < len(argv) and not plain else ""
