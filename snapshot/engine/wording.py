"""A ruling put into words: the finding that reports show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..diff.change import MISSING
from .conditions import told, true
from .finding import SEVERITIES, Class, Evidence, Finding, Severity
from .path import Gap, Scope
from .rule import Note, Rule, RulePath, Said, Text
from .text import Lookup, Value, commands, fill, prose, said


def failed(rule: Rule, scope: Scope, class_: Class, note: str = "") -> Finding:
    """The finding for an item that fails; of one that is resolved or better, what it was about and nothing to do."""
    lookup, about = _lookup(rule, scope), subject(rule, scope)
    asked = next((n for n in rule.asked_for if told(n, scope, rule)), None) if class_ == "new" else None
    mend = class_ not in ("resolved", "better")
    message = _said(rule.better.text if class_ == "better" and rule.better else rule.message, scope, rule)
    return Finding(
        rule=rule.id, severity=_severity(rule, scope), subject=scope.key if about is None else about,
        verdict="fail" if mend else "pass", class_="expected" if asked else class_,
        message=fill(message, lookup) or f"{rule.title}: {scope.key}".removesuffix(": "),
        part=fill(rule.part, lookup) or scope.key,
        group=fill(_said(rule.group, scope, rule), lookup, keep=("count", "parts")) if class_ != "better" else None,
        why=[*_texts(rule.why, scope, rule), *([note] if note else [])] if class_ != "better" else [],
        before=_plain(scope, rule.before), after=_plain(scope, rule.after),
        evidence=[found for path in rule.evidence for found in _evidence(scope, path)],
        now=commands(_true(rule.now, scope, rule), lookup) if mend else [],
        durable=commands(_true(rule.durable, scope, rule), lookup) if mend else [],
        warnings=prose(_true(rule.warnings, scope, rule), lookup) if mend else [],
        verify=commands(_true(rule.verify, scope, rule), lookup) if mend else [],
        references=rule.references, explained_by=fill(asked.text, lookup) if asked else None,
    )


def subject(rule: Rule, scope: Scope) -> str | None:
    """What a finding is about, empty for the host; None where the rule's own text for it has no value."""
    if rule.subject is None or rule.scope != "forecast":
        return scope.key
    return fill(rule.subject, _lookup(rule, scope), say=lambda value: said(value.value))


def joined(findings: Iterable[Finding]) -> list[Finding]:
    """Those with one key as one: the gravest of them, which says and does what the others would."""
    found: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.key(), []).append(finding)
    return [same[0] if len(same) == 1 else _one(same) for same in found.values()]


def _one(findings: list[Finding]) -> Finding:
    first, *others = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
    lists = {name: [*dict.fromkeys(line for one in (first, *others) for line in getattr(one, name))]
             for name in ("now", "durable", "warnings", "verify")}
    why = [*first.why, *(other.message for other in others)]
    evidence = [*first.evidence, *(e for other in others for e in other.evidence if e not in first.evidence)]
    return first.copy(why=[*dict.fromkeys(why)], evidence=evidence, **lists)


def unknown(rule: Rule, key: str, gaps: Iterable[Gap], scope: Scope | None = None) -> Finding:
    """The finding for an item, or a whole rule, that cannot be judged: what is missing, on which side, and why.

    Its subject may be any where the rule has its own text for that and SCOPE, which sees the item, no value.
    """
    gaps = dict.fromkeys(gaps)
    missing = [Evidence(side=gap.side, path=list(gap.path), file=gap.source or None, why=gap.why) for gap in gaps]
    return Finding(
        rule=rule.id, severity=rule.severity, verdict="unknown", class_=None,
        subject=(subject(rule, scope) or "") if scope else key,
        message=f"{rule.title}: {key}" if key else rule.title, part=key or None, group=rule.title,
        why=list(map(_reason, gaps)), evidence=missing, references=rule.references,
    )


def _severity(rule: Rule, scope: Scope) -> Severity:
    return next((grade.severity for grade in rule.grades if true(grade.when, scope, rule)), rule.severity)


def _reason(gap: Gap) -> str:
    source = f" ({gap.source})" if gap.source else ""
    return f"{gap.side or 'after'}: {gap.what or '.'.join(map(str, gap.path))}: {gap.why}{source}"


def _lookup(rule: Rule, scope: Scope) -> Lookup:
    def lookup(name: str) -> Value:
        if name in rule.names:
            path = rule.names[name]
            return Value(scope.value(path), str(path[-1]))
        if name in rule.limits:
            return Value(rule.limits[name], name)
        if name == "subject":
            return Value(scope.key)
        value = scope.value(["item", name]) if rule.each else MISSING
        return Value(scope.value(["fact", name]) if value is MISSING else value, name)

    return lookup


def _true(texts: Iterable[str | Note], scope: Scope, rule: Rule) -> list[str]:
    """The texts without those that are not true here."""
    out: list[str] = []
    for one in texts:
        if isinstance(one, str):
            out.append(one)
        elif told(one, scope, rule):
            out += [one.text] if isinstance(one.text, str) else one.text
    return out


def _said(texts: Said | list[str], scope: Scope, rule: Rule) -> list[str]:
    return _true([texts] if isinstance(texts, str) else [*texts], scope, rule)


def _texts(texts: Iterable[Text | Note], scope: Scope, rule: Rule) -> list[str]:
    lookup = _lookup(rule, scope)
    kept = [one.text if isinstance(one, Note) else one
            for one in texts if not isinstance(one, Note) or told(one, scope, rule)]
    return [filled for text in kept if (filled := fill(text, lookup)) is not None]


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
