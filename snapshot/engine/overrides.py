"""Rules as a user wants them: another severity, limit or wording, or none at all, without a copy of the rule.

A rule or limit that is not there is an error and not passed over: a misspelled setting would leave the shipped rule
in force, and nobody would notice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from ..errors import misspelt
from .rule import Rule
from .settings import Locate, Override, Rules, fault, nowhere

WORDING = ("title", "message", "group", "why")
MANY = 12  # names that an error does not list


def overridden(rules: Iterable[Rule], settings: Rules, locate: Locate = nowhere) -> tuple[Rule, ...]:
    """The rules as SETTINGS want them, without those that they disable.

    FormatError on a rule or limit that is not there, with the nearest that is, and on a value that it cannot take.
    """
    rules, every = tuple(rules), dict[str, list[Rule]]()  # a fault and its forecast share an id
    for rule in rules:
        every.setdefault(rule.id, []).append(rule)
    for at, pattern in enumerate(settings.disable):
        if not any(fnmatchcase(name, pattern) for name in every):
            raise fault(("rules", "disable", at), _no("rule", pattern, every), locate)
    for name, override in settings.override.items():
        if name not in every:
            raise fault(("rules", name), _no("rule", name, every), locate)
        every[name] = _changed(every[name], override, locate)
    off = disabled(every, settings)
    own = {name: iter(those) for name, those in every.items()}
    return tuple(next(own[rule.id]) for rule in rules if rule.id not in off)


def disabled(ids: Iterable[str], settings: Rules) -> tuple[str, ...]:
    """Which of the rules IDS are disabled, for reports to list."""
    alone = {name for name, override in settings.override.items() if override.disabled}
    return tuple(name for name in ids
                 if name in alone or any(fnmatchcase(name, pattern) for pattern in settings.disable))


def _changed(rules: list[Rule], override: Override, locate: Locate) -> list[Rule]:
    """The rules of one id with the settings; a limit has to be one of any of them."""
    limits = {name: value for rule in rules for name, value in rule.limits.items()}
    for name, value in override.limits.items():
        path = ("rules", rules[0].id, "limits", name)
        if name not in limits:
            raise fault(path, _no("limit", name, limits), locate)
        if isinstance(value, str) is not isinstance(limits[name], str):
            raise fault(path, f"the rule has {limits[name]!r} there and cannot take {value!r}", locate)
    try:
        return [rule.copy(**dict(_changes(rule, override)), **(_worded(override) if rule is rules[0] else {}))
                for rule in rules]
    except ValueError as error:
        raise fault(("rules", rules[0].id, *(["limits"] if override.limits else [])), str(error), locate) from None


def _changes(rule: Rule, override: Override) -> Iterator[tuple[str, Any]]:
    if limits := {name: value for name, value in override.limits.items() if name in rule.limits}:
        yield "limits", {**rule.limits, **limits}
    if override.severity:
        yield from (("severity", override.severity), ("grades", []))


def _worded(override: Override) -> dict[str, Any]:
    """The wording, which is the fault's and not its forecast's."""
    texts = {name: text for name in WORDING if (text := getattr(override, name)) is not None}
    # without a group of the user's, several alike would be said in the shipped words, and one in the user's
    return ({"group": []} if override.message is not None else {}) | texts


def _no(kind: str, name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = misspelt(name, names) or (names if len(names) <= MANY else [])
    return f"there is no {kind} {name!r}" + (f" ({', '.join(near)}?)" if near else "")
