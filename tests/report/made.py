"""Reviews for the tests of reports: findings as they are wanted, and a rule that explains others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from snapshot.document import Snapshot
from snapshot.engine.finding import SEVERITIES, Evidence, Finding
from snapshot.engine.packs import shipped
from snapshot.engine.rule import Condition, Explains, Rule
from snapshot.records import replace
from snapshot.report import review as reviews
from snapshot.report.review import Review
from tests.pairs import snapshot

KERNEL = Rule(
    id="kernel.release-changed", title="the kernel is another one", severity="info", scope="change",
    check=[Condition(path=["after", "meta", "kernel"], op="unchanged")],
    explains=Explains(rules=["lxc.*", "pcie.*"], changes=["sysctl", "cmdline"]),
    names={"old": ["before", "meta", "kernel"], "new": ["after", "meta", "kernel"]},
    message="kernel {old} -> {new}", references=["uname(2)"],
)

STORY = ("lxc.device-major-stale", "pcie.maxreadreq-reverted")
RULES = tuple(rule for rule in shipped() if rule.id in STORY and rule.scope != "forecast")


def review(
    before: Snapshot | None, after: Snapshot, before_name: str = "", after_name: str = "",
    rules: Iterable[Rule] = RULES, **more: Any,
) -> Review:
    """A review by two of the shipped rules, so that a report does not change with every rule that is added."""
    return reviews.review(before, after, before_name, after_name, rules=rules, **more)


def finding(rule: str, severity: str = "high", class_: str = "new", subject: str = "", **more: Any) -> Finding:
    """A finding that says what it is about; what fails has a command."""
    fails = class_ in ("new", "existing", "expected")
    table: dict[str, Any] = {
        "message": f"{rule} {subject}".strip(), "part": subject or None,
        "now": [f"mend {rule}"] if fails and severity != "info" else []}
    table |= {"rule": rule, "severity": severity, "verdict": "fail" if fails else "pass", "class_": class_,
              "subject": subject}
    evidence = [one.table() for one in more.pop("evidence", ())]
    return Finding.model_validate(table | more | {"evidence": evidence})


def unknown(rule: str, severity: str = "high", subject: str = "", path: str = "pci", why: str = "EACCES") -> Finding:
    """A verdict that lacks the fact at PATH."""
    return Finding.model_validate({
        "rule": rule, "severity": severity, "verdict": "unknown", "class_": None, "subject": subject,
        "part": subject or None, "group": f"about {rule}",
        "message": f"about {rule}: {subject}" if subject else f"about {rule}", "why": [f"after: {path}: {why}"],
        "evidence": [Evidence(side="after", path=[*path.split(".")], why=why).table()],
    })


def judged(findings: Iterable[Finding] = (), unknowns: Iterable[Finding] = (), base: Review | None = None,
           **more: Any) -> Review:
    """The review BASE, or one of two equal snapshots, with these verdicts instead of its own."""
    base = base or review(snapshot({}), snapshot({}), "pre", "now", rules=[])
    made = base.judgement
    made.findings = sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), one.rule))
    made.unknown = list(unknowns)
    for one in (*made.findings, *made.unknown):
        made.items[one.rule] = made.items.get(one.rule, 0) + 1
        made.needs.setdefault(one.rule, ["pci"])
    return replace(base, **more)
