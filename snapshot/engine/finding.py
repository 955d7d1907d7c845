"""A finding: one rule's verdict on one subject, with the evidence and the cure. Its JSON Schema is published.

The key (rule, subject) is stable: waivers, test reports and forecasts match by it.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ..sections.checker import Strict as Model

Severity = Literal["critical", "high", "medium", "low", "info"]
SEVERITIES = ("critical", "high", "medium", "low", "info")
Verdict = Literal["pass", "fail", "unknown", "not-applicable"]
Class = Literal["new", "existing", "resolved", "better", "expected"]


class Evidence(Model):
    """A fact that the verdict stands on, or one that is missing for it."""

    side: Literal["before", "after"] | None = Field(default=None, description="which one; missing for a derived fact")
    path: list[str | int] = Field(description="section and keys, or a derived table, row and keys")
    value: Any = Field(default=None, description="the value; missing when it is unknown or does not exist")
    file: str | None = Field(default=None, description="configuration file that it comes from, or what was to tell it")
    line: int | None = Field(default=None, description="line of that file")
    text: str | None = Field(default=None, description="the line as it stood")
    why: str | None = Field(default=None, description="why the value is unknown: errno name, timeout, or a few words")


class Finding(Model):
    """One rule on one subject."""

    rule: str = Field(description="rule id")
    severity: Severity = Field(description="of the rule")
    verdict: Verdict = Field(description="fail, or unknown: evidence is missing")
    class_: Class | None = Field(
        default=None, serialization_alias="class",
        description="new: fails after only; existing: on both sides; resolved: before only; expected: asked for;"
        " missing when the verdict is unknown",
    )
    subject: str = Field(description="the item's key after; empty when the rule as a whole is meant")
    message: str = Field(description="one line, what is wrong; of an unknown verdict, what could not be judged")
    part: str | None = Field(
        default=None, description="what tells it from others alike: the subject, or of it what they do not share",
    )
    group: str | None = Field(
        default=None, description="the message for several alike, with {count} for their number or {parts} for theirs",
    )
    why: list[str] = Field(default=[], description="lines that explain it")
    before: Any = Field(default=None, description="the value that was")
    after: Any = Field(default=None, description="the value that is")
    evidence: list[Evidence] = Field(default=[], description="what the verdict stands on, or what is missing for it")
    now: list[str] = Field(default=[], description="commands that mend it until the next boot or start")
    durable: list[str] = Field(default=[], description="commands that mend it for good")
    warnings: list[str] = Field(default=[], description="where a remedy can hurt")
    verify: list[str] = Field(default=[], description="commands that show whether it is mended")
    references: list[str] = Field(default=[], description="where to read more")
    explained_by: str | None = Field(default=None, description="the configuration or change that explains it")
    waived_by: str | None = Field(default=None, description="the waiver that accepts it")

    def key(self) -> tuple[str, str]:
        """Rule and subject."""
        return self.rule, self.subject

    def table(self) -> dict[str, Any]:
        """The finding as plain JSON values; what is missing or empty is left out."""
        dump = self.model_dump(by_alias=True, exclude_none=True)
        return {key: value for key, value in dump.items() if value != []}


def schema() -> dict[str, Any]:
    """JSON Schema of a finding as ``table`` gives it."""
    return Finding.model_json_schema(mode="serialization")


def reaches(severity: str, threshold: str) -> bool:
    """Whether SEVERITY is at or above THRESHOLD."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(threshold)
