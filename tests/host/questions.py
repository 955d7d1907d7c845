"""The same questions to any host, and its answers in a form that compares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec

from snapshot.host.base import Command, Host

P = ParamSpec("P")
COMMANDS = (
    Command(("sh", "-c", "echo out; echo err >&2; exit 3")),
    Command(("sh", "-c", "echo out  echo err >&2  exit 3")),  # the same id
    Command(("hostsnap-no-such-program",)),
    Command(("sh", "-c", "kill -9 $$")),
    Command(("sh", "-c", "echo early; sleep 9"), timeout_s=0.2),
)


def answer(ask: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> object:
    """What comes back, or the errno."""
    try:
        return ask(*args, **kwargs)
    except OSError as error:
        return error.errno


def walked(host: Host, top: str, skip: frozenset[str] = frozenset(), pruned: str = "") -> dict[str, object]:
    """A walk as a table, errors as their numbers."""
    found = host.walk(top, skip, lambda path: path == pruned)
    return {path: content.errno if isinstance(content, OSError) else content for path, content in found}


def answers(host: Host, paths: Sequence[str], patterns: Sequence[str], tops: Sequence[str]) -> list[object]:
    """All that can be asked of PATHS, PATTERNS and TOPS, in an order that mixes the calls."""
    found: list[object] = [(pattern, answer(host.glob, pattern)) for pattern in patterns]
    for path in paths:
        found += [
            (path, "stat", answer(host.stat, path)),
            (path, "read", answer(host.read, path)),
            (path, "read 3", answer(host.read, path, 3)),
            (path, "list", answer(host.list, path)),
            (path, "readlink", answer(host.readlink, path)),
            (path, "lstat", answer(host.stat, path, follow=False)),
        ]
    found += [(top, answer(walked, host, top)) for top in tops]
    found.append(dict(host.run(COMMANDS)))
    return found
