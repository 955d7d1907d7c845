"""A rule's own examples, run: what the rule says is compared with what the example says it has to say.

A pack shows them as ``[[rule.example]]`` behind the rule. Judging does without: ``packs`` does not even parse them.
"""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin

from pydantic import Field

from .. import __version__, sections
from ..derive import Derived, derived
from ..diff import compare
from ..document import FORMAT, Meta, Outcome, Snapshot, UnreadFact
from ..sections.base import Model, types
from ..sections.checker import Strict
from .finding import Class, Finding, Severity, Verdict
from .judge import Judgement, judge
from .rule import Rule

_META = {"format": FORMAT, "tool": __version__, "host": "example", "taken": "2026-01-01T00:00:00Z", "uid": 0,
         "capabilities": "000001ffffffffff", "source": "live"}


class Unread(Strict):
    """A fact that a side could not read."""

    path: list[str] = Field(description="section and keys")
    why: str = Field("EACCES", description="errno name, timeout, or a few words")


class Side(Strict):
    """What one snapshot holds."""

    meta: dict[str, Any] = Field(default={}, description="what of meta matters")
    sections: dict[str, dict[str, Any]] = Field(default={}, description="section tables")
    absent: list[str] = Field(default=[], description="sections of which the side shows that there is no such thing")
    derived: dict[str, dict[str, dict[str, Any]]] = Field(default={}, description="tables that stand for derive's own")
    unread: list[Unread] = Field(default=[], description="unknown facts")


class Example(Strict):
    """A case of which the verdict is known; the tests run it."""

    name: str = Field(description="what it shows")
    verdict: Verdict = Field(description="what the rule has to say")
    class_: Class | None = Field(default=None, alias="class", description="of a failing one, or better and resolved")
    severity: Severity | None = Field(default=None, description="of the first finding, where a grade changes it")
    message: str | None = Field(default=None, description="the whole message of the first finding")
    says: list[str] = Field(default=[], description="what its why, commands or warnings have to contain")
    silent: list[str] = Field(default=[], description="what they must not contain")
    before: Side | None = Field(default=None, description="the snapshot before; missing when there is only one")
    after: Side = Field(description="the snapshot after")


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
    if example.severity and (first is None or first.severity != example.severity):
        out.append(f"severity {first and first.severity}, not {example.severity}")
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

    diff = compare(before, after) if before else None
    return judge(before, after, diff, [rule], derive, [rule.scope])


def verdict(judgement: Judgement) -> str:
    """The verdict on the example as a whole: the worst of any item."""
    if any(finding.verdict == "fail" for finding in judgement.findings):
        return "fail"
    return "unknown" if judgement.unknown else "pass" if judgement.passed else "not-applicable"


def texts(finding: Finding) -> list[str]:
    """Every line that a report would show of a finding."""
    lines = [f"{e.file}:{e.line} {e.text}" if e.text else f"{e.path} {e.value} {e.why}" for e in finding.evidence]
    told = [*finding.now, *finding.durable, *finding.warnings, *finding.verify]
    return [finding.message, *finding.why, *lines, *told, *filter(None, [finding.explained_by])]


def snapshot(rule: Rule, side: Side) -> Snapshot:
    """The side as a snapshot. Sections that the rule needs and the example does not show are there and empty."""
    unread: dict[str, list[UnreadFact]] = {}
    for fact in side.unread:
        unread.setdefault(fact.path[0], []).append(UnreadFact(path=fact.path[1:], source="example", why=fact.why))
    lost = {name for name, facts in unread.items() if any(not fact.path for fact in facts)}
    left_out = {*lost, *side.absent}
    tables = {name: _empty(name) for name in rule.needs if name not in left_out} | side.sections
    models: dict[str, Model] = {name: sections.model(name).model_validate(table) for name, table in tables.items()}
    outcomes = {name: Outcome(state="ok", facts=0, unread=unread.get(name)) for name in models}
    outcomes |= {name: Outcome(state="failed", facts=0, why=unread[name][0].why, unread=None) for name in lost}
    outcomes |= {name: Outcome(state="absent", facts=0, why="there is none") for name in side.absent}
    return Snapshot.build(Meta.model_validate(_META | side.meta), outcomes, {}, models)


def _empty(section: str) -> dict[str, Any]:
    """The tables and lists without which the section does not fit its model, with nothing in them."""
    model = sections.model(section)
    bare = {name: get_args(kind)[0] if get_origin(kind) is Annotated else kind for name, kind in types(model).items()}
    lists = {name for name, kind in bare.items() if get_origin(kind) is list}
    return {name: [] if name in lists else {} for name, field in model.fields.items() if field.required}
