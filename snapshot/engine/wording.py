"""A ruling put into words: the finding that reports show."""

from __future__ import annotations

from typing import Any

from ..diff.change import MISSING
from .finding import Class, Evidence, Finding
from .items import Ruling, holds
from .path import Gap, Scope
from .rule import Note, Rule, RulePath, Text
from .text import Lookup, fill, lines


def failed(rule: Rule, ruling: Ruling, class_: Class, note: str = "") -> Finding:
    """The finding for an item that fails; of a resolved one, what was wrong and nothing to do."""
    scope, lookup = ruling.scope, _lookup(rule, ruling.scope)
    asked = class_ == "new" and rule.expected and _true(rule.expected, scope)
    mend = class_ != "resolved"
    return Finding(
        rule=rule.id, severity=rule.severity, subject=scope.key,
        verdict="fail" if mend else "pass", class_="expected" if asked else class_,
        message=fill(rule.message, lookup) or f"{rule.title}: {scope.key}",
        part=fill(rule.part, lookup) or scope.key, group=fill(rule.group, lookup, keep=("count", "parts")),
        why=[*_why(rule, scope, lookup), *([note] if note else [])],
        before=_plain(scope, rule.before), after=_plain(scope, rule.after),
        evidence=[found for path in rule.evidence for found in _evidence(scope, path)],
        now=lines(rule.now, lookup) if mend else [], durable=lines(rule.durable, lookup) if mend else [],
        warnings=lines(rule.warnings, lookup) if mend else [], verify=lines(rule.verify, lookup) if mend else [],
        references=rule.references,
        explained_by=fill(rule.expected.text, lookup) if asked and rule.expected else None,
    )


def unknown(rule: Rule, key: str, ruling: Ruling) -> Finding:
    """The finding for an item, or a whole rule, that cannot be judged: what is missing, on which side, and why."""
    gaps = dict.fromkeys(ruling.gaps)
    missing = [Evidence(side=gap.side, path=list(gap.path), file=gap.source or None, why=gap.why) for gap in gaps]
    return Finding(
        rule=rule.id, severity=rule.severity, verdict="unknown", class_=None, subject=key,
        message=f"{rule.title}: {key}" if key else rule.title, part=key or None, group=rule.title,
        why=list(map(_reason, gaps)), evidence=missing, references=rule.references,
    )


def _reason(gap: Gap) -> str:
    source = f" ({gap.source})" if gap.source else ""
    return f"{gap.side or 'after'}: {gap.what or '.'.join(map(str, gap.path))}: {gap.why}{source}"


def _lookup(rule: Rule, scope: Scope) -> Lookup:
    def lookup(name: str) -> Any:
        if name in rule.names:
            return scope.value(rule.names[name])
        if name == "subject":
            return scope.key
        value = scope.value(["item", name])
        return scope.value(["fact", name]) if value is MISSING else value

    return lookup


def _why(rule: Rule, scope: Scope, lookup: Lookup) -> list[str]:
    texts: list[Text] = [
        entry.text if isinstance(entry, Note) else entry
        for entry in rule.why if not isinstance(entry, Note) or _true(entry, scope)
    ]
    return [filled for text in texts if (filled := fill(text, lookup)) is not None]


def _true(note: Note, scope: Scope) -> bool:
    return all(holds(condition, scope) is True for condition in note.when)


def _plain(scope: Scope, path: RulePath | None) -> Any:
    value = scope.value(path) if path else None
    return None if value is MISSING or isinstance(value, Gap) else value


def _evidence(scope: Scope, path: RulePath) -> list[Evidence]:
    """One a value, or one a configuration line where the value is such lines."""
    value, (side, where) = _plain(scope, path), scope.where(path)
    if value is None:
        return []
    parts = value if isinstance(value, list) else [value]
    if not all(isinstance(part, dict) and "file" in part for part in parts):
        return [Evidence(side=side, path=where, value=value)]
    return [
        Evidence(side=side, path=where, file=part["file"], line=part.get("line"), text=part.get("text"))
        for part in parts
    ]
