"""One rule on paper: what it looks at, when it fails, how bad that is, what to do then, and its examples by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..engine.rule import Note, Rule, Text
from ..engine.text import NAME
from . import condition_words as words
from .paper import Paper

if TYPE_CHECKING:
    from ..engine.example import Example

SCOPES = {
    "state": "what a host is like; of a pair each side is judged", "change": "what became of it between two snapshots",
    "forecast": "what the next boot will do to it",
}
BOOTS = {"new": "across a boot only", "same": "within one boot only"}
ENDS = {"fail": "fails", "pass": "passes", "unknown": "unknown", "not-applicable": "does not apply"}
LABELS = (("Now:", "now"), ("For good:", "durable"), ("Check:", "verify"))


def render_rule(rule: Rule, examples: Iterable[Example], width: int = 80, color: bool = False) -> str:
    """The rule and the names of its EXAMPLES, ending in a newline. Placeholders of its texts stay as they are."""
    paper = Paper(width, color)
    paper.head(rule.severity.upper(), rule.title, rule.id)
    paper.blank()
    for label, text in _about(rule):
        _row(paper, label, text)
    for title, lines in _judged(rule):
        paper.block(title, lines)
    paper.block("Says", _texts([*_message(rule), *rule.why]))
    for label, kind in LABELS:
        commands = ["(lines that are worked out for each item)" if NAME.fullmatch(text) else text
                    for text in _texts(getattr(rule, kind))]
        if commands:
            paper.labelled(label, commands)
    paper.beside("Beware:", (text for text in _texts(rule.warnings) if not NAME.fullmatch(text)))
    paper.blank()
    paper.block("References", rule.references)
    paper.block("Examples", (f"{_end(one):<16} {one.name}" for one in examples), " " * 19)
    return paper.text()


def _row(paper: Paper, label: str, text: str) -> None:
    paper.prose(text, f"{label:<13}", " " * 13)


def _about(rule: Rule) -> Iterator[tuple[str, str]]:
    """What it looks at."""
    when = [SCOPES[rule.scope], *(["before a reboot too"] if rule.foresees else []),
            *([BOOTS[rule.boot]] if rule.boot else []),
            *(["not while systemd is still starting"] if rule.settles else [])]
    yield "Judges", "; ".join(when)
    items = "" if rule.items == ["kept"] else f", what was {' or '.join(rule.items)}"
    yield "Looks at", (f"each item of {'.'.join(rule.each)}" if rule.each else "the host as a whole") + items
    if rule.fact:
        yield "Reads", f"the row of {rule.fact} with the item's key"
    if rule.needs:
        yield "Needs", ", ".join(rule.needs)
    if rule.limits:
        yield "Limits", ", ".join(f"{name} = {words.said(value)}" for name, value in rule.limits.items())
    if rule.explains:
        yield "Explains", _explains(rule)


def _explains(rule: Rule) -> str:
    explains = rule.explains
    parts = [f"findings of {', '.join(explains.rules)}"] if explains and explains.rules else []
    parts += [f"findings about the same thing of {', '.join(explains.same)}"] if explains and explains.same else []
    parts += [f"changes of {', '.join(explains.changes)}"] if explains and explains.changes else []
    return "; ".join(parts)


def _judged(rule: Rule) -> Iterator[tuple[str, Iterator[str]]]:
    """The conditions, by what they decide."""
    yield "Applies where", words.conditions(rule.where, rule)
    yield "Applies before a reboot only where also", words.conditions(rule.ahead, rule)
    yield "Has to hold, else it fails", words.conditions(rule.check, rule)
    yield "Is mended only if also", words.conditions(rule.mended, rule)
    for grade in rule.grades:
        yield f"Is {grade.severity} instead where", words.conditions(grade.when, rule)
    for note in rule.asked_for:
        yield f"Is expected ({_text(note.text)}) where", words.conditions(note.when, rule)
    if rule.better:
        yield f"Is better ({_text(rule.better.text)}) where it passes and", words.conditions(rule.better.when, rule)


def _text(text: Text) -> str:
    """The first of alternatives."""
    return text if isinstance(text, str) else next(iter(text), "")


def _texts(texts: Sequence[Text | Note]) -> Iterator[str]:
    """Each text, of alternatives the first; of a note all."""
    for one in texts:
        if isinstance(one, Note) and isinstance(one.text, list):
            yield from one.text
        else:
            yield _text(one.text if isinstance(one, Note) else one)


def _message(rule: Rule) -> list[Text | Note]:
    """Those that hang on a condition, and of the others the first."""
    said = [rule.message] if isinstance(rule.message, str) else rule.message
    plain = [one for one in said if isinstance(one, str)]
    return [*(one for one in said if isinstance(one, Note)), *plain[:1]]


def _end(example: Example) -> str:
    return f"{ENDS[example.verdict]}, {example.class_}" if example.class_ else ENDS[example.verdict]
