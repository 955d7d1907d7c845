"""What a user sets for the engine, [[waiver]] and [rules] of snap.toml, and where a setting stands.

Models alone, cheap to import: ``config`` reads them for every verb, ``waivers`` and ``overrides`` act on them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from .. import tomlio
from ..errors import FormatError
from ..regexes import regex
from ..sections.base import Model, Origin, field
from .finding import Severity

Value = str | int | bool | float | list[str | int | bool | float]
Locate = Callable[..., Origin | None]  # the keys of a setting, one by one -> where it stands
_DATE = regex(r"\d{4}-\d\d-\d\d", re.ASCII)  # fromisoformat takes weeks too, and dates without hyphens


class Waiver(Model):
    """What is accepted, why, and until when: findings of a rule, or what became of a fact."""

    rule: str | None = field(description="id of the rule; * allowed, but not for what is critical", default=None)
    path: str | None = field(
        description="pattern of facts: changes of them, and findings that are about them alone", default=None)
    subject: str | None = field(description="what the finding is about, * allowed; missing: anything", default=None)
    before: Value | None = field(description="accepted with this value before only", default=None)
    after: Value | None = field(description="accepted with this value after only", default=None)
    reason: str = field(description="why it is accepted")
    expires: str | None = field(description="last day on which it holds: a date, or YYYY-MM-DD in quotes", default=None)
    by: str | None = field(description="who accepted it", default=None)

    def _verify(self) -> None:
        if not self.reason.strip():
            raise ValueError("reason is empty: say why it is accepted")
        if not self.rule and not self.path:
            raise ValueError("needs a rule or a path")
        if self.expires is not None and not _is_date(self.expires):
            raise ValueError(f"expires: {self.expires!r} is no date of the form YYYY-MM-DD")

    @property
    def until(self) -> date | None:
        """The last day on which it holds; None: for ever."""
        return None if self.expires is None else date.fromisoformat(self.expires)

    @property
    def note(self) -> str:
        """Reason, who, until when, in one line."""
        details = ", ".join(f"{word} {value}" for word, value in (("by", self.by), ("until", self.expires)) if value)
        return " ".join((f"{self.reason} ({details})" if details else self.reason).split())

    @property
    def target(self) -> str:
        """What it accepts, in words."""
        values = [f"{side} {value}" for side in ("before", "after") if (value := getattr(self, side)) is not None]
        return " ".join(" ".join(filter(None, [self.rule, self.path, self.subject, *values])).split())


def _is_date(text: str) -> bool:
    try:
        return _DATE.fullmatch(text) is not None and date.fromisoformat(text) is not None
    except ValueError:  # 30 February
        return False


class Override(Model):
    """What of one rule is different here."""

    severity: Severity | None = field(
        description="how bad a failure is, in place of the rule's own severity and grades", default=None)
    limits: dict[str, int | float | str] = field(description="limit of the rule -> value", default={})
    title: str | None = field(description="what it is about, in a few words", default=None)
    message: str | list[str] | None = field(description="one line, with the rule's placeholders", default=None)
    group: str | list[str] | None = field(
        description="the line for several alike; with a message and no such line, each is said by itself", default=None)
    why: list[str] | None = field(description="lines that explain it", default=None)
    disabled: bool = field(description="true: the rule is not applied", default=False)


class Rules(Model):
    """Which rules are applied, and what of them is different here."""

    disable: list[str] = field(description="ids of rules that are not applied, * allowed", default=[])
    packs: list[str] = field(description="directories with rule packs of one's own", default=[])
    override: dict[str, Override] = field(description="by rule id; in the file right below [rules]", default={})


def nowhere(*_: str | int) -> None:
    """A ``Locate`` for settings that stand in no file."""


def fault(path: tuple[str | int, ...], what: str, locate: Locate) -> FormatError:
    """The error "FILE:LINE: PATH: WHAT" about the setting at PATH."""
    origin = locate(*path)
    where = f"{origin.file}:{origin.line}: " if origin else ""
    return FormatError(f"{where}{tomlio.dotted(path)}: {' '.join(what.split())}")
