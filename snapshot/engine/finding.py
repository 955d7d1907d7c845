"""A finding: one rule's verdict on one subject, with the evidence and the cure. Its JSON Schema is published.

The key (rule, subject) is stable: waivers, test reports and forecasts match by it.
"""

from typing import Any, Literal

from ..sections.base import Model, field

Severity = Literal["critical", "high", "medium", "low", "info"]
SEVERITIES = ("critical", "high", "medium", "low", "info")
Verdict = Literal["pass", "fail", "unknown", "not-applicable"]
Class = Literal["new", "existing", "resolved", "better", "expected"]


class Evidence(Model):
    """A fact that the verdict stands on, or one that is missing for it."""

    side: Literal["before", "after"] | None = field(default=None, description="which one; missing for a derived fact")
    path: list[str | int] = field(description="section and keys, or a derived table, row and keys")
    value: Any = field(default=None, description="the value; missing when it is unknown or does not exist")
    file: str | None = field(default=None, description="configuration file that it comes from, or what was to tell it")
    line: int | None = field(default=None, description="line of that file")
    text: str | None = field(default=None, description="the line as it stood")
    why: str | None = field(default=None, description="why the value is unknown: errno name, timeout, or a few words")


class Finding(Model):
    """One rule on one subject."""

    rule: str = field(description="rule id")
    severity: Severity = field(description="how bad it is")
    verdict: Verdict = field(description="fail; unknown: evidence is missing; pass: resolved, or better")
    class_: Class | None = field(
        default=None,
        description="new: fails after only; existing: on both sides; resolved: before only; expected: asked for;"
        " better: passes, and was worse; missing when the verdict is unknown",
    )
    subject: str = field(description="the item's key after; empty when the host or the rule as a whole is meant")
    message: str = field(description="one line, what is wrong; of an unknown verdict, what could not be judged")
    part: str | None = field(
        default=None, description="what tells it from others alike: the subject, or of it what they do not share",
    )
    group: str | None = field(
        default=None, description="the message for several alike, with {count} for their number or {parts} for theirs",
    )
    why: list[str] = field(default=[], description="lines that explain it")
    before: Any = field(default=None, description="the value that was")
    after: Any = field(default=None, description="the value that is")
    evidence: list[Evidence] = field(default=[], description="what the verdict stands on, or what is missing for it")
    now: list[str] = field(default=[], description="commands that mend it until the next boot or start")
    durable: list[str] = field(default=[], description="commands that mend it for good")
    warnings: list[str] = field(default=[], description="where a remedy can hurt")
    verify: list[str] = field(default=[], description="commands that show whether it is mended")
    references: list[str] = field(default=[], description="where to read more")
    explained_by: str | None = field(default=None, description="the configuration that asked for it")
    caused_by: str | None = field(default=None, description="the message of the finding that is its likely cause")
    cause: list[str] = field(default=[], description="rule and subject of that finding")
    waived_by: str | None = field(default=None, description="the waiver that accepts it")

    def key(self) -> tuple[str, str]:
        """Rule and subject."""
        return self.rule, self.subject

    def table(self) -> dict[str, Any]:
        """The finding as plain JSON values; what is missing or empty is left out."""
        return {key.rstrip("_"): value for key, value in super().table().items() if value != []}


def schema() -> dict[str, Any]:
    """JSON Schema of a finding as ``table`` gives it."""
    from ..sections.checker import checker

    found = checker(Finding).model_json_schema(mode="serialization")
    found["properties"] = {key.rstrip("_"): value for key, value in found["properties"].items()}
    lists = [name for name, info in Finding.fields.items() if info.default == []]
    found["required"] = [name for name in found["required"] if name not in lists]
    return found


def reaches(severity: str, threshold: str) -> bool:
    """Whether SEVERITY is at or above THRESHOLD."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(threshold)
