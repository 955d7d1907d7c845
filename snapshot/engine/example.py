"""A rule's own examples, run: what the rule says is compared with what the example says it has to say."""

from __future__ import annotations

from typing import Any

from .. import __version__, sections
from ..derive import Derived, derived
from ..diff import compare
from ..document import FORMAT, Meta, Outcome, Snapshot, UnreadFact
from ..sections.base import Model
from .finding import Finding
from .judge import Judgement, judge
from .rule import Example, Rule, Side

_META = {"format": FORMAT, "tool": __version__, "host": "example", "taken": "2026-01-01T00:00:00Z", "uid": 0,
         "capabilities": "000001ffffffffff", "source": "live"}


def problems(rule: Rule, example: Example) -> list[str]:
    """What of the example does not come out; empty when all does."""
    judgement = run(rule, example)
    found = [*judgement.findings, *judgement.unknown]
    first = found[0] if found else None
    said = "\n".join(text for finding in found for text in texts(finding))
    out = [f"verdict {v}, not {example.verdict}" for v in [verdict(judgement)] if v != example.verdict]
    if first and first.class_ != example.class_:
        out.append(f"class {first.class_}, not {example.class_}")
    if example.message and (first is None or first.message != example.message):
        out.append(f"message {first and first.message!r}, not {example.message!r}")
    out += [f"does not say {text!r}" for text in example.says if text not in said]
    return out + [f"says {text!r}" for text in example.silent if text in said]


def run(rule: Rule, example: Example) -> Judgement:
    """What RULE says of the example's snapshots."""
    after = snapshot(rule, example.after)
    before = snapshot(rule, example.before) if example.before else None
    sides = {id(after): example.after, id(before): example.before}

    def derive(name: str, of: Snapshot, with_before: Snapshot | None) -> Derived:
        side = sides[id(of)]
        return Derived(side.derived[name]) if side and name in side.derived else derived(name, of, with_before)

    return judge(before, after, compare(before, after) if before else None, [rule], derive)


def verdict(judgement: Judgement) -> str:
    """The verdict on the example as a whole: the worst of any item."""
    if any(finding.verdict == "fail" for finding in judgement.findings):
        return "fail"
    return "unknown" if judgement.unknown else "pass" if judgement.passed else "not-applicable"


def texts(finding: Finding) -> list[str]:
    """Every line that a report would show of a finding."""
    lines = [f"{e.file}:{e.line} {e.text}" if e.text else f"{e.path} {e.value} {e.why}" for e in finding.evidence]
    asked = [finding.explained_by] if finding.explained_by else []
    return [finding.message, *finding.why, *lines, *finding.now, *finding.durable, *finding.warnings, *asked]


def snapshot(rule: Rule, side: Side) -> Snapshot:
    """The side as a snapshot. Sections that the rule needs and the example does not show are there and empty."""
    unread: dict[str, list[UnreadFact]] = {}
    for fact in side.unread:
        unread.setdefault(fact.path[0], []).append(UnreadFact(path=fact.path[1:], source="example", why=fact.why))
    lost = {name for name, facts in unread.items() if any(not fact.path for fact in facts)}
    tables = {name: _empty(name) for name in rule.needs if name not in lost} | side.sections
    models: dict[str, Model] = {name: sections.model(name).model_validate(table) for name, table in tables.items()}
    outcomes = {name: Outcome(state="ok", facts=0, unread=unread.get(name)) for name in models}
    outcomes |= {name: Outcome(state="failed", facts=0, why=unread[name][0].why, unread=None) for name in lost}
    return Snapshot.build(Meta.model_validate(_META | side.meta), outcomes, {}, models)


def _empty(section: str) -> dict[str, Any]:
    return {name: {} for name, field in sections.model(section).fields.items() if field.required}
