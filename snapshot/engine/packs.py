"""Rule packs read from ``rules/*.toml``: in a wheel below the package, in a checkout beside it.

Of the shipped packs, which the tests check, only the rules are read: their examples are most of the text, and are cut
out before it is parsed. A pack from elsewhere is read, and checked, in full by ``pack_file``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from typing import Any

from .. import tomlio
from ..errors import FormatError
from ..sections.fitting import MisfitError, fit
from .rule import Pack, Rule

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NO_PACKS = ("causes.toml", "defaults.toml", "noise.toml", "undetected.toml")  # other knowledge, beside the packs
_RULE, _EXAMPLE = b"\n[[rule]]", b"\n[[rule.example"


def directory() -> str:
    """Where the shipped packs lie. FormatError when they are not there: a broken installation."""
    for path in (os.path.join(_PACKAGE, "_rules"), os.path.join(os.path.dirname(_PACKAGE), "rules")):
        if os.path.isdir(path):
            return path
    raise FormatError(f"{_PACKAGE}: the rule packs are missing: install hostsnap again")


def files(where: str) -> list[str]:
    """The packs in a directory, sorted; a file stands for itself. FormatError when there is no such place."""
    if os.path.isfile(where):
        return [where]
    try:
        names = sorted(os.listdir(where))
    except OSError as error:
        raise FormatError(f"{where}: cannot be read: {error.strerror}") from None
    found = [os.path.join(where, name) for name in names if name.endswith(".toml") and name not in NO_PACKS]
    if not found:
        raise FormatError(f"{where}: there is no rule pack (NAME.toml)")
    return found


@cache
def shipped() -> tuple[Rule, ...]:
    """Every shipped rule, by pack and in the pack's order. FormatError when a pack cannot be read."""
    from . import pack_cache

    packs = files(directory())
    now = pack_cache.stamp(packs)
    rules = pack_cache.kept(now)
    if rules is None:
        rules = unique(rule for path in packs for rule in _rules(tomlio.loads(_short(read(path)), path), path))
        pack_cache.keep(now, rules)
    return rules


def read(path: str) -> bytes:
    """The pack's bytes. FormatError when they cannot be had."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from None


def _short(data: bytes) -> bytes:
    """A pack without its examples, each of which follows its rule."""
    first, *rules = data.split(_RULE)
    return _RULE.join([first, *(rule.partition(_EXAMPLE)[0] for rule in rules)])


def _rules(table: dict[str, Any], path: str) -> list[Rule]:
    """The rules of a table; where one does not fit, it is read again to say what is wrong with it."""
    try:
        return fit(Pack, table).rule
    except MisfitError:
        from .pack_file import PackFile

        return [rule for rule, _ in PackFile.open(path).cases]


def unique(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules, if no key stands twice; else FormatError."""
    by_key: dict[tuple[str, bool], Rule] = {}
    for rule in rules:
        if by_key.setdefault(rule.key, rule) is not rule:
            raise FormatError(f"rule {rule.id} stands twice")
    return tuple(by_key.values())
