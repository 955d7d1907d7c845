"""Rules applied to one snapshot or a pair: findings, what could not be judged and why, and how many passed.

State rules are judged on each side: fails after only is new, on both sides existing, before only resolved. Change
rules are judged on the pair. Items pair as the diff pairs them. Missing evidence is never a pass: a guard or check
that meets an unknown fact makes the verdict unknown, unless another guard shows that the rule does not apply, or
another check that it fails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..derive import derived
from ..derive.hardware.expectations import expectations, expected_mounts
from ..diff import Diff, silent
from ..diff.change import Side
from ..records import field, record
from ..regexes import regex
from .causes import explained
from .conditions import true
from .finding import SEVERITIES, Class, Finding, Verdict
from .items import Case, Derive, Item, items
from .path import Gap, Scope
from .rule import Rule
from .settings import Locate, nowhere
from .sight import NOT_APPLICABLE, Sight
from .wording import failed, joined, unknown

if TYPE_CHECKING:
    from ..derive.facts import Derived
    from ..document import Snapshot

NOT_JUDGED_BEFORE = "Whether it was so before is not known: the evidence is missing there."
_NUMBER = regex(r"([0-9]{1,18})")
STARTING = ("initializing", "starting")  # systemctl(1), is-system-running
SCOPES = ("state", "change")
EXPECTED = {"expectations": expectations, "expected_mounts": expected_mounts}


@record()
class Judgement:
    """What the rules say. NEEDS has the sections of each rule, NOT_APPLICABLE why a rule applies to no item."""

    findings: list[Finding] = field(default_factory=list)
    unknown: list[Finding] = field(default_factory=list)
    passed: int = 0  # items, over all rules
    not_applicable: dict[str, str] = field(default_factory=dict)
    needs: dict[str, list[str]] = field(default_factory=dict)
    items: dict[str, int] = field(default_factory=dict)  # how many each rule walked

    def measures(self, rule: str) -> bool:
        """Whether what RULE finds is in benchmarks, and not in the state of the host that they measure."""
        return self.needs.get(rule) == ["bench"]


def judge(
    before: Snapshot | None, after: Snapshot, diff: Diff | None, rules: Iterable[Rule], derive: Derive = derived,
    scopes: Collection[str] = SCOPES,
) -> Judgement:
    """Apply RULES of SCOPES to a pair and its DIFF, or, with both None, those that need only one snapshot to it.

    Findings come by severity and rule, then as the lines that they blame stand in their files. FormatError when a
    section does not fit its model.
    """
    out, case = Judgement(), Case(after, before, diff, _once(derive))
    rules = tuple(rule.forecast() if rule.foresees and "forecast" in scopes else rule for rule in rules)
    for rule in rules:
        if rule.scope in scopes and (diff or rule.scope != "change"):
            out.needs[rule.id] = rule.needs
            _Bench(rule, case, out).hear()
    out.findings = explained(out.findings, rules)
    measured = {rule.id for rule in rules if rule.causes}
    if any(finding.rule in measured for finding in out.findings):
        from .benchmark_causes import beneath

        out.findings = beneath(out.findings, measured)
    for findings in (out.findings, out.unknown):
        findings.sort(key=_order)
    return out


def expecting(expect: Mapping[str, Any], locate: Locate = nowhere) -> Derive:
    """What ``derived`` works out, of a host that has to have what EXPECT says; LOCATE knows the lines that say so."""
    def derive(name: str, of: Snapshot, before: Snapshot | None) -> Derived:
        return EXPECTED[name](of, before, expect, locate) if name in EXPECTED else derived(name, of, before)

    return derive


def _once(derive: Derive) -> Derive:
    """DERIVE, which works each table out once: many rules read one."""
    tables: dict[tuple[str, int, int], Derived] = {}

    def once(name: str, of: Snapshot, before: Snapshot | None) -> Derived:
        key = (name, id(of), id(before))
        if key not in tables:
            tables[key] = derive(name, of, before)
        return tables[key]

    return once


def _order(found: Finding) -> tuple[Any, ...]:
    file, line = next(((e.file, e.line) for e in found.evidence if e.file and e.line), ("", 0))
    own = found.part in (None, found.subject)  # as it stands: PCI addresses are no decimal numbers
    said = [(-1, found.subject)] if own else _natural(found.part or "")
    return SEVERITIES.index(found.severity), found.rule, file or "", line or 0, said, found.subject


def _natural(text: str) -> list[tuple[int, str]]:
    """What to sort TEXT by, so that concurrency 2 comes before 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _NUMBER.split(text)]


class _Bench:
    """One rule at work on one case; what it finds goes into OUT."""

    def __init__(self, rule: Rule, case: Case, out: Judgement) -> None:
        self.rule, self.case, self.out, self.sight = rule, case, out, Sight(rule, case)
        self.pair = rule.scope == "change"
        self.both = case.before is not None and rule.scope == "state"
        self.applied = False

    def hear(self) -> None:
        """Judge every item, or say why none can be."""
        rule, case = self.rule, self.case
        if why := self._not_here():
            self.out.not_applicable[rule.id] = why
            self.out.items[rule.id] = 1
            return
        gaps = [*self._unusable("after", case.after), *(self._unusable("before", case.before) if self.pair else ())]
        if gaps:
            self.out.items[rule.id] = 1
            self.out.unknown.append(unknown(rule, "", gaps))
            return
        lost = [*self._unusable("before", case.before)] if self.both else []
        walked = [*items(rule, case)]
        self.out.items[rule.id] = len(walked)
        told = len(self.out.findings)
        for item in walked:
            self._item(Item(item.key, item.after, lost[0], item.was_key) if lost else item)
        if rule.subject is not None and rule.scope == "forecast":
            self.out.findings[told:] = joined(self.out.findings[told:])
        if not self.applied:
            self.out.not_applicable[rule.id] = "it applies to nothing here" if walked else "there is no such thing here"

    def _not_here(self) -> str:
        """Why the rule as a whole has nothing to do with this host or pair."""
        rule, case = self.rule, self.case
        if self.pair and rule.boot and case.diff and case.diff.same_boot is (rule.boot == "new"):
            return "both were taken in one boot" if rule.boot == "new" else "there was a boot between"
        sides = [case.after, *([case.before] if self.pair and case.before else [])]
        for name in rule.needs:
            absent = [side for side in sides if name in side.outcomes and side.outcomes[name].state == "absent"]
            if absent and not (self.pair and set(rule.items) - {"kept"} and len(absent) == 1):
                return f"{name}: {absent[0].outcomes[name].why or 'absent'}"
        return ""

    def _unusable(self, side: Side, snapshot: Snapshot | None) -> Iterator[Gap]:
        """Why the rule cannot be judged on a side at all."""
        if snapshot is None:
            return
        for name in self.rule.needs:
            if why := silent(snapshot, name):
                yield Gap((name,), "", why, side)
        state = snapshot.meta.system_state
        if self.rule.settles and side == "after" and state in STARTING:
            yield Gap(("meta", "system_state"), "systemctl is-system-running", f"taken while systemd was {state}", side)
        if self.pair and self.rule.boot and side == "after" and self.case.diff and self.case.diff.same_boot is None:
            yield Gap(("meta", "boot_id"), "", "whether there was a boot between is not known", side)

    def _item(self, item: Item) -> None:
        sight = self.sight
        if not sight.watched(item):
            return
        now, then = sight.after(item), sight.before(item) if self.both else None
        verdict, gaps = sight.verdict(now) if now else NOT_APPLICABLE
        old, _ = sight.verdict(then) if then else NOT_APPLICABLE
        if verdict == old == "not-applicable":
            return
        self.applied = True
        if now and verdict == "unknown":
            self.out.unknown.append(unknown(self.rule, item.key, gaps, now))
        elif now and verdict == "fail":
            self._fails(now, old)
        else:
            self._holds(now, verdict == "pass", then if old == "fail" else None)

    def _fails(self, now: Scope, old: Verdict) -> None:
        class_: Class = "existing" if old == "fail" or not (self.pair or self.both) else "new"
        self.out.findings.append(failed(self.rule, now, class_, NOT_JUDGED_BEFORE if old == "unknown" else ""))

    def _holds(self, now: Scope | None, passes: bool, failed_then: Scope | None) -> None:
        self.out.passed += passes
        if failed_then and self._resolved(now):
            self.out.findings.append(failed(self.rule, failed_then, "resolved"))
        better = self.rule.better
        if better and now and passes and true(better.when, now, self.rule):
            self.out.findings.append(failed(self.rule, now, "better"))

    def _resolved(self, now: Scope | None) -> bool:
        """Whether what failed before is gone, or passes and is in order."""
        return now is None or true(self.rule.mended, now, self.rule)
