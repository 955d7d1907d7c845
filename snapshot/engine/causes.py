"""Findings put under the change that explains them: a new kernel above the majors that it moved.

Which rule explains which is data (``explains`` of a rule). An explanation that a finding has already, because it was
asked for by configuration, stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from ..regexes import regex
from .finding import Finding
from .rule import Explains, Rule

CAUSES = ("new", "expected", "better")  # classes of findings that can be a cause: something changed
_WORD = regex(r"[\w/:.-]*\w")
_JOINS = regex(r"[./]")


def explained(findings: Iterable[Finding], rules: Iterable[Rule]) -> list[Finding]:
    """The findings; each new one that others explain names one as its cause.

    That is the nearest: one that explains none of the others, as the driver that is not loaded rather than the kernel
    without its module; of those the one that has most words in common with it, then the first. Of findings that
    explain each other the later ones stand under the first.
    """
    found = list(findings)
    ids = {rule.id: rule.explains for rule in rules if rule.explains}
    causes = [(finding, ids[finding.rule]) for finding in found if finding.rule in ids and finding.class_ in CAUSES]
    above: dict[int, Finding] = {}  # by identity: what stands under which
    for finding in (finding for finding in reversed(found) if finding.class_ == "new"):
        may_be = [one for one in causes if _explains(*one, finding)
                  and all(other is not finding for other in _upwards(one[0], above))]
        others = {cause.rule: cause for cause, _ in may_be}
        near = [one for one in may_be if not any(_explains(*one, other) for rule, other in others.items()
                                                 if rule != one[0].rule)] or may_be[:1]
        if near:
            above[id(finding)] = max((cause for cause, _ in near), key=lambda cause: _in_common(cause, finding))
    return [_under(finding, above.get(id(finding))) for finding in found]


def _explains(cause: Finding, explains: Explains, finding: Finding) -> bool:
    if any(fnmatchcase(finding.rule, pattern) for pattern in explains.rules):
        return True
    named = (cause.part or cause.subject) in {finding.subject, *_words(finding)}
    return named and any(fnmatchcase(finding.rule, pattern) for pattern in explains.same)


def _words(finding: Finding) -> set[str]:
    """Names in what it says, whole."""
    return {word for text in (finding.subject, finding.message, *finding.why) for word in _WORD.findall(text)}


def _in_common(one: Finding, other: Finding) -> int:
    parts = ({part for word in _words(finding) for part in _JOINS.split(word)} for finding in (one, other))
    return len(set.intersection(*parts))


def _upwards(finding: Finding | None, above: Mapping[int, Finding]) -> Iterator[Finding]:
    """The finding, its cause, the cause of that, and so on."""
    while finding:
        yield finding
        finding = above.get(id(finding))


def _under(finding: Finding, cause: Finding | None) -> Finding:
    return finding.copy(cause=[cause.rule, cause.subject], caused_by=cause.message) if cause else finding
