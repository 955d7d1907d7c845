"""A rule, as a pack writes it: 12 to 20 lines of TOML that an operator can read and no code.

A path is an array, because sysctl names and PCI addresses contain dots. Its first element is a root:

``before`` ``after``  a snapshot: section (or meta) and keys
``item``              the item of EACH on the after side, or the derived row
``was``               the same item on the before side, by the diff's pairing
``fact``              the row of the derived table FACT under the item's own key

Texts have named placeholders ``{name}``: a name of NAMES, else a key of the item, and ``{subject}``. A text that names
something without a value is left out; of alternatives (a list within ``message``, ``group`` or ``why``) the first one
counts whose names all have values. A list alone in a line of ``now``, ``durable`` or ``warnings`` makes a line each.
In ``group``, ``{count}`` is how many are alike and ``{parts}`` the ``part`` of each.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from ..sections.checker import Strict as Model
from .finding import Class, Severity, Verdict
from .ops import OPERATORS, UNARY

RulePath = Annotated[list[str | int], Field(min_length=1)]
Text = str | list[str]
ROOTS = ("before", "after", "item", "was", "fact")


class Condition(Model):
    """The value at PATH, OP, the literal VALUE or the value at path TO."""

    path: RulePath = Field(description="what is judged")
    op: str = Field(description="a word of the operator table")
    value: Any = Field(default=None, description="literal operand")
    to: RulePath | None = Field(default=None, description="path of the operand")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.op not in OPERATORS:
            raise ValueError(f"there is no operator {self.op!r}: {', '.join(OPERATORS)}")
        operands = (self.value is not None) + (self.to is not None)
        if operands != (self.op not in UNARY):
            raise ValueError(f"{self.op} takes {'no operand' if self.op in UNARY else 'one of value and to'}")
        if self.op == "matches" and isinstance(self.value, str):
            _pattern(self.value)
        for path in (self.path, self.to or ["item"]):
            if path[0] not in ROOTS:
                raise ValueError(f"a path begins with one of {', '.join(ROOTS)}, not {path[0]!r}")
        return self


def _pattern(text: str) -> None:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"not a regular expression: {text!r}: {error}") from None


class Note(Model):
    """A line that is said only when it is true."""

    when: list[Condition] = Field(description="all have to hold; what is unknown does not")
    text: Text = Field(description="what is said")


class Unread(Model):
    """In an example: a fact that a side could not read."""

    path: list[str] = Field(description="section and keys")
    why: str = Field("EACCES", description="errno name, timeout, or a few words")


class Side(Model):
    """In an example: what one snapshot holds."""

    meta: dict[str, Any] = Field(default={}, description="what of meta matters")
    sections: dict[str, dict[str, Any]] = Field(default={}, description="section tables")
    derived: dict[str, dict[str, dict[str, Any]]] = Field(default={}, description="tables that stand for derive's own")
    unread: list[Unread] = Field(default=[], description="unknown facts")


class Example(Model):
    """A case of which the verdict is known; the tests run it."""

    name: str = Field(description="what it shows")
    verdict: Verdict = Field(description="what the rule has to say")
    class_: Class | None = Field(default=None, alias="class", description="of a failing one")
    message: str | None = Field(default=None, description="the whole message of the first finding")
    says: list[str] = Field(default=[], description="what its why, commands or warnings have to contain")
    silent: list[str] = Field(default=[], description="what they must not contain")
    before: Side | None = Field(default=None, description="the snapshot before; missing when there is only one")
    after: Side = Field(description="the snapshot after")


class Rule(Model):
    """What is judged, when, how bad it is, and what to do."""

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+\.[a-z0-9-]+$")] = Field(description="PACK.WORDS, public")
    title: str = Field(description="what it is about, in a few words")
    severity: Severity = Field(description="how bad a failure is")
    scope: Literal["state", "change"] = Field(description="state: judged on each side; change: on the pair")
    needs: list[str] = Field(default=[], description="sections without which it cannot be judged")
    settles: bool = Field(False, description="not judged while systemd is still starting")
    each: list[str] = Field(description="the keyed table it walks: derived and NAME, or section and keys", min_length=2)
    fact: str | None = Field(default=None, description="derived table with a row for each item, by the same key")
    where: list[Condition] = Field(default=[], description="when it applies to an item; all have to hold")
    check: list[Condition] = Field(description="what has to hold", min_length=1)
    mended: list[Condition] = Field(default=[], description="what of an item has to hold besides to be resolved")
    expected: Note | None = Field(default=None, description="when a failure was asked for, and by what")
    names: dict[str, RulePath] = Field(default={}, description="placeholder -> path of its value")
    message: Text = Field(description="one line")
    part: Text = Field(default="{subject}", description="what tells a finding from others alike, in a word")
    group: Text = Field(default=[], description="the line for several alike, with {count} or {parts}")
    why: list[Text | Note] = Field(default=[], description="lines that explain it")
    before: RulePath | None = Field(default=None, description="path of the value that was")
    after: RulePath | None = Field(default=None, description="path of the value that is")
    evidence: list[RulePath] = Field(default=[], description="paths of what it stands on")
    now: list[str] = Field(default=[], description="commands that mend it")
    durable: list[str] = Field(default=[], description="commands that mend it for good")
    warnings: list[str] = Field(default=[], description="where a remedy can hurt")
    verify: list[str] = Field(default=[], description="commands that show whether it is mended")
    references: list[str] = Field(description="where it is said", min_length=1)
    example: list[Example] = Field(description="cases; one that fails and one that passes at least")

    @model_validator(mode="after")
    def _shown(self) -> Self:
        shown = {example.verdict for example in self.example}
        if not {"fail", "pass"} <= shown:
            raise ValueError("needs an example that fails and one that passes")
        return self


class Pack(Model):
    """A file of rules."""

    rule: list[Rule] = Field(description="the rules", min_length=1)
