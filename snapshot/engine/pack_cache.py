"""The shipped rules as they were read last time, beside the bytecode and under the terms of bytecode.

Reading and checking the packs is an eighth of a small diff, and they change when hostsnap does. What is kept counts as
long as no file that it was made from has another size or time, as of source files (PEP 3147; py_compile, TIMESTAMP);
where bytecode cannot or must not be written, nothing is kept.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Sequence
from importlib.util import cache_from_source

from .. import __version__
from ..sections import base
from . import rule as language
from .rule import Rule

Stamp = tuple[str, tuple[tuple[str, int, int], ...]]


def stamp(packs: Sequence[str]) -> Stamp:
    """What the rules of PACKS depend on: the tool's version, and name, time and size of the packs and their models."""
    def of(path: str) -> tuple[str, int, int]:
        found = os.stat(path)
        return path, found.st_mtime_ns, found.st_size

    return __version__, tuple(of(path) for path in (*packs, language.__file__, base.__file__) if os.path.exists(path))


def kept(now: Stamp) -> tuple[Rule, ...] | None:
    """The rules that were kept under the stamp NOW; None when there are none such."""
    try:
        with open(_path(), "rb") as file:
            then, rules = pickle.load(file)  # noqa: S301 - beside the bytecode, and no less ours
    except (OSError, ValueError, TypeError, EOFError, AttributeError, ImportError, IndexError, pickle.PickleError):
        return None
    return rules if then == now else None


def keep(now: Stamp, rules: tuple[Rule, ...]) -> None:
    """Keeps the rules, where bytecode would be kept."""
    if sys.dont_write_bytecode:
        return
    path = _path()
    part = f"{path}.{os.getpid()}"
    try:
        with open(part, "wb") as file:
            pickle.dump((now, rules), file, pickle.HIGHEST_PROTOCOL)
        os.replace(part, path)
    except OSError:
        return


def _path() -> str:
    return cache_from_source(os.path.join(os.path.dirname(__file__), "packs.py"))[: -len(".pyc")] + ".rules"
