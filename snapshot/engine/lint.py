"""What is wrong with a pack: form, names that do not exist, rules that cannot fail, a cure or source that is missing.

A path that leads nowhere would be a thing that no host has, and the rule would never fail.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError

from ..derive import FACTS
from ..document import Meta
from ..errors import FormatError, misspelt
from ..regexes import regex
from ..sections import NAMES
from ..sections.faults import Place
from ..sections.shape import Shape, of_model, of_section
from .example import Example, problems
from .form import misfits
from .path import EACH
from .rule import PATTERNS, Pack, Rule, RulePath, compiled
from .text import NAME

DERIVED = tuple(FACTS)
QUOTED = regex(r"""'[^']*\{[a-z]|"[^"]*\{[a-z]""")


def check(table: dict[str, Any], name: str) -> list[Rule]:
    """The rules of a pack's table; NAME is the file. FormatError with file, rule and the first thing that is wrong."""
    for fault in faults(table, name):
        raise FormatError(fault)
    return Pack.model_validate(_bare(table)).rule


def faults(table: dict[str, Any], name: str, run: bool = False) -> Iterator[str]:
    """Everything that is wrong, a line each, with file and rule; if RUN, what its examples show too."""
    try:
        rules = Pack.model_validate(_bare(table)).rule
    except ValidationError as error:
        wrong = misfits(_bare(table), error.errors(include_url=False))
        yield from (f"{name}: {_words(place, what, table.get('rule'))}" for place, what in wrong)
        return
    stem = os.path.basename(name).removesuffix(".toml")
    seen: set[tuple[str, bool]] = set()
    for rule, written in zip(rules, table["rule"], strict=True):
        found = [f"ids of this pack begin with {stem}."] if rule.id.partition(".")[0] != stem else []
        found += [f"rule {rule.id} stands twice"] if rule.key in seen else []
        seen.add(rule.key)
        yield from (f"{name}: {rule.id}: {fault}" for fault in [*found, *of_rule(rule), *_shown(rule, written, run)])


def examples(table: dict[str, Any]) -> list[list[Example]]:
    """The examples of each rule of a pack's table. ValidationError when one does not have the form."""
    return [[Example.model_validate(one) for one in rule.get("example", [])] for rule in table.get("rule", [])]


def _bare(table: dict[str, Any]) -> dict[str, Any]:
    rules = table.get("rule")
    if not isinstance(rules, list):
        return table
    without = [{k: v for k, v in rule.items() if k != "example"} if isinstance(rule, dict) else rule for rule in rules]
    return {**table, "rule": without}


def _words(place: Place, what: str, rules: Any) -> str:
    """One fault of form: rule, field, what is wrong."""
    who = str(place[0]) if place else ""
    if len(place) > 1 and isinstance(rules, list) and isinstance(place[1], int):
        rule = rules[place[1]]
        named = rule.get("id") if isinstance(rule, dict) else None
        who = named if named and isinstance(named, str) else f"rule {place[1] + 1}"
    return ": ".join(filter(None, [who, ".".join(map(str, place[2:])), what]))


def _shown(rule: Rule, written: dict[str, Any], run: bool) -> Iterator[str]:
    """What is wrong with the examples."""
    try:
        [shown] = examples({"rule": [written]})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        yield f"example: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        return
    if not {"fail", "pass"} <= {example.verdict for example in shown}:
        yield "needs an example that fails and one that passes"
    for example in shown if run else ():
        yield from (f"example {example.name!r}: {problem}" for problem in problems(rule, example))


def of_rule(rule: Rule) -> Iterator[str]:
    """What the rule names and does not exist, in words; and what it lacks."""
    yield from _each(rule)
    yield from _unknown("section", [*rule.needs, *([] if rule.each[:1] == ["derived"] else rule.each[:1])], NAMES)
    yield from _unknown("derived table", [rule.fact] if rule.fact else [], DERIVED)
    yield from _unknown("section", rule.explains.changes if rule.explains else [], NAMES)
    yield from (f"there is no path {path}" for path in rule.paths() if not _exists(rule, path))
    yield from _patterns(rule)
    if rule.severity != "info" and not (rule.now or rule.durable):
        yield "has no cure: now or durable"
    yield from _placeholders(rule)
    for line in _strings(rule.now, rule.durable, rule.verify):
        if QUOTED.search(line) and not NAME.fullmatch(line):
            yield f"a placeholder within quotes, where its own quotes would end them: {line}"
    walked = rule.each[0] if rule.each and rule.each[0] != "derived" else None
    if walked and walked not in rule.needs:
        yield f"walks {walked} and does not need it"


def _patterns(rule: Rule) -> Iterator[str]:
    for condition in rule.conditions():
        if condition.op in PATTERNS and isinstance(condition.value, str):
            try:
                compiled(condition.value)
            except ValueError as error:
                yield str(error)


def _each(rule: Rule) -> Iterator[str]:
    if not rule.each:
        return
    if rule.each[0] == "derived":
        yield from _unknown("derived table", rule.each[1:2] or [""], DERIVED)
    elif rule.each[0] in NAMES:
        table = of_section(rule.each[0]).at(rule.each[1:])
        if table is None or table.kind not in ("table", "percpu", "matrix"):
            yield f"each: {'.'.join(rule.each)} is no keyed table, per-CPU value or matrix"


def _strings(*texts: Any) -> Iterator[str]:
    """Every string of texts, lists of them and notes."""
    for one in texts:
        if isinstance(one, str):
            yield one
        else:
            yield from _strings(*(one if isinstance(one, list) else [one.text]))


def _placeholders(rule: Rule) -> Iterator[str]:
    """Names in texts for which nothing has a value; what the keys of a derived row are only its table knows."""
    if rule.fact or rule.each[:1] == ["derived"]:
        return
    item = _shape(rule.each[0], _to_item(rule)) if rule.each else None
    known = (*rule.names, *rule.limits, "subject", "count", "parts", *(item.fields if item else ()))
    told = (rule.message, rule.part, rule.group, rule.why, rule.now, rule.durable, rule.warnings, rule.verify,
            rule.subject or "")
    texts = _strings(*told, rule.asked_for, [rule.better] if rule.better else [])
    yield from _unknown("placeholder", [*dict.fromkeys(name for text in texts for name in NAME.findall(text))], known)


def _unknown(kind: str, names: list[str], known: Iterable[str]) -> Iterator[str]:
    known = tuple(known)
    for name in names:
        if name not in known:
            near = misspelt(name, known)
            yield f"there is no {kind} {name!r}: {f'{near[0]} is meant?' if near else ', '.join(known)}"


def _exists(rule: Rule, path: RulePath) -> bool:
    """Whether the models know the path; of derived rows only their table knows the keys."""
    root, keys = path[0], [str(key) for key in path[1:]]
    if root in ("before", "after") or (root in ("item", "was") and not rule.each):
        return bool(keys) and _shape(keys[0], keys[1:]) is not None
    if root == "fact":
        return rule.fact is not None
    if rule.each[:1] == ["derived"]:
        return root in ("item", "was")
    if root == "parent":
        return bool(rule.each) and _shape(rule.each[0], [*_to_item(rule)[:-1], *keys]) is not None
    return _shape(rule.each[0], [*_to_item(rule), *keys]) is not None


def _to_item(rule: Rule) -> list[str]:
    """The keys below the section that lead to an item."""
    table = of_section(rule.each[0]).at(rule.each[1:]) if rule.each[0] in NAMES else None
    return [*rule.each[1:], *([EACH] if table and table.kind == "table" else [])]


def _shape(section: str, keys: list[str]) -> Shape | None:
    if section == "meta":
        return of_model(Meta).at(keys)
    return of_section(section).at(keys) if section in NAMES else None

