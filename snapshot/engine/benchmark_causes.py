"""Which change of a host's state can move which kind of benchmark, from ``rules/causes.toml``.

The form is described at the head of that file. What is not listed there is not known to move anything: a benchmark
that changed without a cause among the changes is said to have none on record.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Literal

from .. import tomlio
from ..diff.pattern import Pattern
from ..document.check import checked, fault
from ..errors import FormatError
from ..records import record
from ..sections.base import Model, field
from ..sections.bench import KINDS
from ..sections.shape import Path
from .finding import Finding
from .packs import directory, read


class Cause(Model):
    """What can move some kinds of benchmarks, and why."""

    rules: list[str] = field(default=[], description="ids of rules, * allowed: their new findings")
    facts: list[str] = field(default=[], description="patterns of facts: their changes")
    moves: list[str] = field(description="kinds of benchmarks")
    direction: Literal["worse", "either"] = field(
        description="worse: what the rules find makes it worse, and its cure better; either: it depends"
    )
    weight: Literal["strong", "weak"] = field(description="strong: it can decide the result; weak: some percent")
    why: str = field(description="how it acts, one line")
    source: list[str] = field(description="where that is written")

    def _verify(self) -> None:
        """Names something, known kinds, a source; patterns of facts that exist."""
        if not (self.rules or self.facts) or not self.moves or not self.source:
            raise ValueError("needs rules or facts, a kind that it moves, and a source")
        if unknown := [kind for kind in self.moves if kind not in KINDS]:
            raise ValueError(f"there is no kind {unknown[0]!r}: {', '.join(KINDS)}")
        for pattern in self.facts:
            Pattern.parse(pattern)


@record(frozen=True)
class Match:
    """A cause that is there: the rules that found it, and the facts that changed."""

    cause: Cause
    rules: tuple[str, ...]
    facts: tuple[Path, ...]


def likely(kind: str, rules: Iterable[str], changed: Iterable[Path], causes: Iterable[Cause]) -> list[Match]:
    """The causes that can move a benchmark of KIND, among RULES with new findings and CHANGED facts (section first).

    The strong ones come first, then those that a rule found, then as they stand in the file. KeyError for no kind.
    """
    if kind not in KINDS:
        raise KeyError(kind)
    ids, paths = sorted({*rules}), sorted({*changed})
    found = [_match(cause, ids, paths) for cause in causes if kind in cause.moves]
    there = [match for match in found if match.rules or match.facts]
    return sorted(there, key=lambda match: (match.cause.weight != "strong", not match.rules))


def _match(cause: Cause, ids: list[str], paths: list[Path]) -> Match:
    hits = tuple(one for one in ids if any(fnmatchcase(one, pattern) for pattern in cause.rules))
    patterns = [Pattern.parse(text) for text in cause.facts] if paths else []
    return Match(cause, hits, tuple(path for path in paths if any(one.covers(path) for one in patterns)))


def beneath(findings: Iterable[Finding], measured: Collection[str]) -> list[Finding]:
    """The findings; each new one of the rules MEASURED names that of another which can decide it, if there is one."""
    found = [*findings]
    there = [one for one in found if one.class_ in ("new", "expected") and one.rule not in measured]
    return [_beneath(one, there) if one.rule in measured and one.class_ == "new" else one for one in found]


def _beneath(finding: Finding, there: Iterable[Finding]) -> Finding:
    """The finding under its strong cause; its kind is among its evidence."""
    kind = next((proof.value for proof in finding.evidence if proof.path[-1:] == ["kind"]), None)
    by_rule = {one.rule: one for one in reversed([*there])}
    strong = [match for match in (likely(kind, by_rule, (), shipped()) if kind in KINDS else ())
              if match.cause.weight == "strong" and match.rules]
    if not strong or finding.caused_by:
        return finding
    cause = by_rule[strong[0].rules[0]]
    return finding.copy(cause=[cause.rule, cause.subject], caused_by=cause.message)


@cache
def shipped() -> tuple[Cause, ...]:
    """The shipped file, in its order. FormatError when it is not there or not as it must be."""
    return load(os.path.join(directory(), "causes.toml"))


def load(path: str) -> tuple[Cause, ...]:
    """The causes of a file. FormatError names file, line and key of what is wrong."""
    text = tomlio.decode(read(path), path)
    table: dict[str, Any] = tomlio.loads(text, path)
    if odd := table.keys() - {"cause"}:
        raise fault(path, text, (min(odd),), "is not known here: every table is a [[cause]]")
    rows = table.get("cause")
    if not isinstance(rows, list) or not rows:
        raise FormatError(f"{path}: there is no [[cause]]")
    return tuple(checked(Cause, row, ("cause", at), path, text) for at, row in enumerate(rows))
