"""A rule, as a pack writes it: 12 to 20 lines of TOML that an operator can read and no code.

**Paths** are arrays, because sysctl names and PCI addresses contain dots. The first element is a root:

``before`` ``after``  a snapshot: section (or meta) and keys; of a state rule, ``after`` is the side that is judged
``item``              the item of EACH on the judged side; without EACH the snapshot, so that a section comes next
``was``               the same item on the before side, by the diff's pairing
``parent``            the table that holds the item: of a per-CPU value, the model that it stands in
``fact``              the row of the derived table FACT under the item's own key

A key ``*`` stands for each item of a keyed table, and makes the value a list of what they have.

**Each** names what the rule walks: ``["derived", NAME]``, or section and keys of a keyed table (``*`` for each item of
a table on the way; the item's key is then both keys with a blank between), of a per-CPU value (an item is a group of
CPUs with equal values on both sides, its key the cpu list, ``item`` the value), or of a matrix (an item is a cell, its
key both ids). Without it the rule is about the host, and its key is empty.

**Texts** have named placeholders ``{name}``: a name of NAMES or LIMITS, else a key of the item or of FACT's row, and
``{subject}``. A text that names something without a value is left out; of alternatives (a list within ``message``,
``group`` or ``why``) the first one counts whose names all have values and whose ``when``, if it has one, is true.
Values whose key ends in a unit (``_bytes``, ``_khz``, ``_mw`` ...) are said with it (of bytes below 1 MiB the bare
number), but not in commands; of long ones people are told the beginning. A placeholder alone in a line of ``now``,
``durable``, ``verify`` or ``warnings`` stands for ready lines that ``derive`` worked out; elsewhere in a command its
value is quoted for the shell, so it must not stand within quotes. In ``group``, ``{count}`` is how many are alike and
``{parts}`` the ``part`` of each.

**Before a reboot** rules of scope forecast are judged, and state rules that foresee, these only where ``ahead`` holds
too. A finding's subject is the item's key; a forecast has that of the fault that it foresees, so that it can be checked
by key: its ``subject`` says which, of values as they are; an empty text is the host. What of one subject fails is one
finding.

**Causes** of what a rule on benchmarks finds, which has ``causes = "benchmark"``, are those that ``rules/causes.toml``
names for the kind of the benchmark: the value of its evidence at a path that ends in ``kind``.
"""

import re
from collections.abc import Iterator
from typing import Any, Literal, Self

from ..errors import misspelt
from ..regexes import regex
from ..sections.base import Model, field
from .finding import Severity
from .ops import OPERATORS, TWIN, UNARY, slack

RulePath = list[str | int]
Text = str | list[str]
Scope = Literal["state", "change", "forecast"]
ROOTS = ("before", "after", "item", "was", "parent", "fact")
TWINS = {"item": "was", "after": "before"}
PATTERNS = ("matches", "not-matches")
ID = regex(r"[a-z0-9]+\.[a-z0-9-]+")


class Condition(Model):
    """The value at PATH, OP, and the operand: VALUE, the limit LIMIT of the rule, or the value at path TO.

    An operator that compares with before takes, without operand, the same path there.
    """

    path: RulePath = field(description="what is judged")
    op: str = field(description="a word of the operator table")
    value: Any = field(description="literal operand", default=None)
    limit: str | None = field(description="operand: a name of the rule's limits", default=None)
    to: RulePath | None = field(description="operand: a path", default=None)
    better: Literal["higher", "lower"] | None = field(description="which way is better, of numbers", default=None)
    tolerance: int | float | str | None = field(
        description='how far is still the same: a number in the unit of the value, "5%" of the operand', default=None)

    def _verify(self) -> None:
        if self.op not in OPERATORS:
            near = [f"{word} is meant?" for word in misspelt(self.op, OPERATORS)]
            raise ValueError(f"there is no operator {self.op!r}: {', '.join(near or OPERATORS)}")
        operands = sum(one is not None for one in (self.value, self.limit, self.to))
        if operands > (self.op not in UNARY) or (not operands and self.op not in (*UNARY, *TWIN)):
            takes = "no operand" if self.op in UNARY else "one of value, limit and to"
            raise ValueError(f"{self.op} takes {takes}")
        slack(1, self.tolerance)
        for path in (self.path, *filter(None, [self.operand])):
            if not path or path[0] not in ROOTS:
                raise ValueError(f"a path begins with one of {', '.join(ROOTS)}, not {path[0] if path else ''!r}")

    @property
    def operand(self) -> RulePath | None:
        """The path of the operand; None when it is a literal or there is none."""
        if self.to or self.op not in TWIN or self.value is not None or self.limit:
            return self.to
        if self.path[0] not in TWINS:
            raise ValueError(f"{self.op} needs an operand: {self.path[0]} has no twin before")
        return [TWINS[str(self.path[0])], *self.path[1:]]


class AnyOf(Model):
    """Holds when one of its conditions does."""

    any: list[Condition] = field(description="the conditions")


Guard = Condition | AnyOf


def compiled(text: str) -> re.Pattern[str]:
    """The regular expression. ValueError when it is none."""
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"not a regular expression: {text!r}: {error}") from None


class Note(Model):
    """A line that is said only when it is true."""

    when: list[Guard] = field(description="all have to hold; what is unknown does not", default=[])
    unless: list[Guard] = field(description="not said where all of these hold; what is unknown does not", default=[])
    text: Text = field(description="what is said")

    def _verify(self) -> None:
        if not (self.when or self.unless):
            raise ValueError("needs a when or an unless")


Said = str | list[str | Note]  # alternatives, of which the first that is true and has all values counts


class Grade(Model):
    """Another severity, when it is true; the first that is counts."""

    when: list[Guard] = field(description="all have to hold; what is unknown does not")
    severity: Severity = field(description="instead of the rule's")


class Explains(Model):
    """What a finding of this rule is the likely cause of."""

    rules: list[str] = field(description="ids of rules, * allowed: their new findings stand under it", default=[])
    same: list[str] = field(description="likewise, but only those findings that name its part", default=[])
    changes: list[str] = field(description="sections whose changes stand under it", default=[])


class Rule(Model):
    """What is judged, when, how bad it is, and what to do."""

    id: str = field(description="PACK.WORDS, public")
    title: str = field(description="what it is about, in a few words")
    severity: Severity = field(description="how bad a failure is")
    grades: list[Grade] = field(description="when it is worse or less bad", default=[])
    scope: Scope = field(description="state: judged on each side; change: on the pair; forecast: before a reboot")
    foresees: bool = field(
        description="of a state rule: it is about the next boot or start: judged before a reboot too", default=False)
    ahead: list[Guard] = field(
        description="when it applies before a reboot, besides: a fault that the boot mends is not foreseen", default=[])
    boot: Literal["new", "same"] | None = field(description="of a change: across a boot, or within one", default=None)
    needs: list[str] = field(description="sections without which it cannot be judged", default=[])
    settles: bool = field(description="not judged while systemd is still starting", default=False)
    each: list[str] = field(description="what it walks; missing: the host as a whole", default=[])
    items: list[Literal["kept", "removed", "added"]] = field(
        description="of a change: which items, by the diff's pairing", default=["kept"])
    fact: str | None = field(description="derived table with a row for each item, by the same key", default=None)
    where: list[Guard] = field(description="when it applies to an item; all have to hold", default=[])
    check: list[Guard] = field(description="what has to hold")
    mended: list[Guard] = field(description="what of an item has to hold besides to be resolved", default=[])
    subject: Text | None = field(
        description="before a reboot: subject of the fault that it foresees, where that is not the item's key",
        default=None)
    better: Note | None = field(description="when what passes is worth a word, because it got better", default=None)
    expected: Note | list[Note] | None = field(description="when a failure was asked for, and by what", default=None)
    explains: Explains | None = field(description="what it is the likely cause of", default=None)
    causes: Literal["benchmark"] | None = field(
        description="benchmark: what it finds stands under what is known to move a benchmark of its kind", default=None)
    limits: dict[str, int | float | str] = field(description="named operands, which a user may change", default={})
    names: dict[str, RulePath] = field(description="placeholder -> path of its value", default={})
    message: Said = field(description="one line")
    part: Text = field(description="what tells a finding from others alike, in a word", default="{subject}")
    group: Said = field(description="the line for several alike, with {count} or {parts}", default=[])
    why: list[Text | Note] = field(description="lines that explain it", default=[])
    before: RulePath | None = field(description="path of the value that was", default=None)
    after: RulePath | None = field(description="path of the value that is", default=None)
    evidence: list[RulePath] = field(description="paths of what it stands on", default=[])
    now: list[str | Note] = field(description="commands that mend it", default=[])
    durable: list[str | Note] = field(description="commands that mend it for good", default=[])
    warnings: list[str | Note] = field(description="where a remedy can hurt", default=[])
    verify: list[str | Note] = field(description="commands that show whether it is mended", default=[])
    references: list[str] = field(description="where it is said")

    def _verify(self) -> None:
        if not ID.fullmatch(self.id):
            raise ValueError(f"no rule id: {self.id!r}; it is PACK.WORDS in lower case, with hyphens")
        if not self.check or not self.references:
            raise ValueError("needs a check and a reference")
        if self.foresees and self.scope != "state":
            raise ValueError("foresees is for rules of scope state")
        if (self.ahead and not self.foresees) or (self.subject is not None and not self.looks_ahead):
            raise ValueError("ahead is for rules that foresee, subject for those and forecasts")
        if self.scope != "change" and (self.boot or self.items != ["kept"]):
            raise ValueError("boot and items are for rules of scope change")
        if self.causes and not any(path[-1:] == ["kind"] for path in self.evidence):
            raise ValueError('causes needs the kind of the benchmark as evidence, such as ["item", "kind"]')
        for condition in self.conditions():
            if condition.limit and condition.limit not in self.limits:
                raise ValueError(f"there is no limit {condition.limit!r}: {', '.join(self.limits) or 'it has none'}")
            if condition.limit and condition.op in PATTERNS:
                compiled(str(self.limits[condition.limit]))

    @property
    def key(self) -> tuple[str, bool]:
        """What no two rules share: the id, which a fault and its forecast may have in common, and whether it foresees.
        """
        return self.id, self.scope == "forecast"

    @property
    def looks_ahead(self) -> bool:
        """Whether it is judged before a reboot."""
        return self.foresees or self.scope == "forecast"

    def forecast(self) -> Self:
        """The rule as it is judged before a reboot."""
        return self.copy(scope="forecast", foresees=False, where=[*self.where, *self.ahead], ahead=[])

    @property
    def asked_for(self) -> list[Note]:
        """The notes that make a failure an expected one."""
        return [self.expected] if isinstance(self.expected, Note) else self.expected or []

    def notes(self) -> list[Note]:
        """Every conditional text."""
        lines = [*self.message, *self.group, *self.why, *self.now, *self.durable, *self.warnings, *self.verify]
        told = [line for line in lines if isinstance(line, Note)]
        return [*self.asked_for, *([self.better] if self.better else []), *told]

    def paths(self) -> Iterator[RulePath]:
        """Every path that it reads."""
        for condition in self.conditions():
            yield condition.path
            if condition.operand:
                yield condition.operand
        yield from self.names.values()
        yield from self.evidence
        yield from (path for path in (self.before, self.after) if path)

    def conditions(self) -> list[Condition]:
        """Every condition of the rule, wherever it stands."""
        guards = [*self.where, *self.ahead, *self.check, *self.mended]
        told: list[Note | Grade] = [*self.notes(), *self.grades]
        guards += [guard for one in told for guard in (*one.when, *getattr(one, "unless", ()))]
        return [one for guard in guards for one in (guard.any if isinstance(guard, AnyOf) else [guard])]


class Pack(Model):
    """A file of rules."""

    rule: list[Rule] = field(description="the rules")

    def _verify(self) -> None:
        if not self.rule:
            raise ValueError("rule: there is none")
