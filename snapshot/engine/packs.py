"""Rule packs read from ``rules/*.toml``: in a wheel below the package, in a checkout beside it."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from pydantic import ValidationError

from .. import tomlio
from ..errors import FormatError
from .lint import faults
from .rule import Pack, Rule

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def directory() -> str:
    """Where the shipped packs lie. FormatError when they are not there: a broken installation."""
    for path in (os.path.join(_PACKAGE, "_rules"), os.path.join(os.path.dirname(_PACKAGE), "rules")):
        if os.path.isdir(path):
            return path
    raise FormatError(f"{_PACKAGE}: the rule packs are missing: install hostsnap again")


@cache
def shipped() -> tuple[Rule, ...]:
    """Every shipped rule, by pack and in the pack's order. FormatError as for ``load``."""
    where = directory()
    packs = sorted(name for name in os.listdir(where) if name.endswith(".toml"))
    return unique(rule for name in packs for rule in load(os.path.join(where, name)))


def load(path: str) -> list[Rule]:
    """The rules of one pack. FormatError names file, rule and field when it cannot be read or is not as it must be."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from None
    return parse(tomlio.loads(data, path), path)


def parse(table: dict[str, Any], name: str) -> list[Rule]:
    """The rules of a pack's table; NAME is the file in errors and, without .toml, what its rule ids begin with."""
    try:
        rules = Pack.model_validate(table).rule
    except ValidationError as error:
        raise FormatError(_first(error, table, name)) from None
    stem = os.path.basename(name).removesuffix(".toml")
    for rule in rules:
        if rule.id.partition(".")[0] != stem:
            raise FormatError(f"{name}: {rule.id}: ids of this pack begin with {stem}.")
        for fault in faults(rule):
            raise FormatError(f"{name}: {rule.id}: {fault}")
    return rules


def unique(rules: Any) -> tuple[Rule, ...]:
    """The rules, if no id stands twice; else FormatError."""
    by_id: dict[str, Rule] = {}
    for rule in rules:
        if by_id.setdefault(rule.id, rule) is not rule:
            raise FormatError(f"rule {rule.id} stands twice")
    return tuple(by_id.values())


def _first(error: ValidationError, table: dict[str, Any], name: str) -> str:
    """The first fault: file, rule, field, what is wrong."""
    fault = error.errors(include_url=False)[0]
    where = list(fault["loc"])
    rules = table.get("rule")
    if len(where) > 1 and isinstance(rules, list) and isinstance(where[1], int):
        rule = rules[where[1]]
        where[:2] = [rule.get("id", f"rule {where[1] + 1}") if isinstance(rule, dict) else f"rule {where[1] + 1}"]
    message = fault["msg"].removeprefix("Value error, ")
    return f"{name}: {': '.join([str(where[0]), '.'.join(map(str, where[1:])), message]) if where else message}"
