"""snap fix: a script that mends what diff, check or forecast found."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ..errors import SnapError
from . import arguments
from .terms import SEVERITIES, Terms, ruling

if TYPE_CHECKING:
    from ..engine.finding import Finding
    from ..fix import Item
    from ..report.order import Entry
    from ..report.review import Review


@click.command(short_help="Print a script that mends what was found; change nothing.")
@click.argument("before", required=False, metavar="[PRE]")
@click.argument("after", required=False, metavar="[POST]")
@click.option("--only", multiple=True, metavar="RULE|FINDING",
              help="Mend this only: a rule, RULE:SUBJECT, or the number that the report has in brackets (repeatable).")
@click.option("--now", is_flag=True, help="The immediate remedies, until the next boot or start, not the durable ones.")
@click.option("--forecast", "foreseen", is_flag=True, help="Mend what forecast says of PRE, or of this host now.")
@click.option("--from", "least", type=click.Choice(SEVERITIES), default="low", show_default=True,
              help="Mend what is of this severity or above.")
@click.option("--fail-on-existing/--no-fail-on-existing", default=None, help="Mend also what was so before.")
@ruling
def fix(
    before: str | None, after: str | None, only: tuple[str, ...], now: bool, foreseen: bool, least: str,
    fail_on_existing: bool | None, rules: tuple[str, ...], config: str | None,
) -> None:
    """Print a POSIX shell script that mends what was found; nothing is changed before you run it.

    \b
    fix               what diff finds
    fix SNAP          what check SNAP finds
    fix PRE POST      what diff PRE POST finds; POST may be now
    fix --forecast    what forecast finds

    The script runs on that host only, backs up what it edits, and refuses a file that is no longer what the snapshot
    saw. What needs a decision stays a comment in it.
    Standard error says how many rules could not be judged.

    \b
    Exit codes: 0 printed, also when there is nothing to mend; 2 error
    """
    from .. import __version__
    from ..fix import Made, script
    from ..report.headline import stamps

    terms = Terms(rules=rules, config=config, fail_on_existing=fail_on_existing)
    found = _review(terms, before, after, foreseen)
    if found.after.meta.redacted:
        raise SnapError(f"{found.after_name} is redacted: its names and addresses are pseudonyms")
    items = [_item(findings, entry) for entry, findings in _chosen(found, only, least)]
    words = [*filter(None, (before, after)), *(["--forecast"] if foreseen else []), *(["--now"] if now else [])]
    words += [part for word in only for part in ("--only", word)]
    command = f"{arguments.program()} fix {shlex.join(words)}".rstrip()
    unsure = "" if only else _unsure(found, least, terms.again(_verb(before, after, foreseen), before, after))
    warnings = tuple(f"Warning: {warning}." for warning in (found.diff.warnings if found.diff else ()))
    made = Made(command, (*filter(None, stamps(found)), *warnings), __version__, _now(), unsure)
    arguments.write(script(items, found.after, made, now).encode("utf-8", "surrogateescape"))
    nothing = "" if items else "nothing was found to mend; "
    for line in (*warnings, *([nothing + unsure] if unsure else [])):
        click.echo(f"{arguments.program()}: {line}", err=True)


def _verb(before: str | None, after: str | None, foreseen: bool) -> str:
    """The verb whose findings are mended."""
    return "forecast" if foreseen else "check" if before is not None and after is None else "diff"


def _unsure(review: Review, least: str, command: str) -> str:
    """How many rules at or above LEAST could not be judged, and the COMMAND that says why; empty where all could."""
    from ..engine.finding import reaches
    from ..report.paper import plural

    rules = {one.rule for one in review.judgement.unknown if reaches(one.severity, least) and not review.allowed(one)}
    return f"{plural(len(rules), 'rule')} could not be judged: `{command}` says why." if rules else ""


def _review(terms: Terms, before: str | None, after: str | None, foreseen: bool) -> Review:
    """What diff, check or forecast finds."""
    if foreseen:
        if after is not None:
            raise click.UsageError("--forecast is of one snapshot")
        from .forecast import foreseen as review

        reference = before or arguments.NOW
        return review(terms, terms.own_rules, arguments.snapshot(reference), reference)
    if before is not None and after is None:
        return terms.review(None, arguments.snapshot(before), "", before, scopes=("state",))
    old, old_name, new, new_name = arguments.pair(before, after)
    return terms.review(old, new, old_name, new_name)


def _now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _chosen(review: Review, only: tuple[str, ...], least: str) -> Iterator[tuple[Entry, tuple[Finding, ...]]]:
    """What is to be mended, in the report's order: what counts, or what ONLY names. SnapError when that is none."""
    from ..engine.finding import reaches
    from ..report.order import entries

    found = entries(review)
    named = {finding.key() for word in only for finding in _meant(word, found)}
    for entry in found:
        findings = tuple(one for one in entry.group.findings if one.verdict == "fail")
        if only:
            findings = tuple(one for one in findings if one.key() in named)
        elif entry.part != "counting" or not reaches(entry.first.severity, least):
            continue
        if findings:
            yield entry, findings


def _meant(word: str, found: list[Entry]) -> list[Finding]:
    """The findings that a number, RULE or RULE:SUBJECT names, as in explain. SnapError when there is none to mend."""
    from ..report.groups import about, called, few

    rule, subject = (*re.split("[ :]", word, maxsplit=1), "")[:2]
    every = [(entry.number, one) for entry in found for one in entry.group.findings if one.verdict == "fail"]
    mine = [one for number, one in every if (word.isdecimal() and number == int(word)) or one.rule == rule]
    if meant := about(mine, subject):
        return meant
    there = few([called(one) for one in mine if one.subject], ", ")
    rest = f"{rule} has {there}" if there else f"the report has {len(found)}"
    raise SnapError(f"--only {word}: there is no such finding to mend; {rest}")


def _item(findings: tuple[Finding, ...], entry: Entry) -> Item:
    from ..fix import Item
    from ..report.groups import Group

    group = Group(findings)
    lists = (tuple(group.commands(kind)) for kind in ("now", "durable", "warnings", "verify"))
    subjects = tuple(finding.subject for finding in findings if finding.subject)
    return Item(entry.first.rule, entry.first.severity, group.headline, subjects, *lists)
