"""snap explain: how a finding came about."""

from __future__ import annotations

import re

import click

from . import arguments
from .outputs import color, printed, width
from .terms import Terms, ruling

OWN = "meta.waiver-"  # findings about waivers, of which there is no rule


@click.command(short_help="Show how a finding came about.")
@click.argument("finding")
@click.argument("before", required=False, metavar="[PRE]")
@click.argument("after", required=False, metavar="[POST]")
@ruling
def explain(finding: str, before: str | None, after: str | None, rules: tuple[str, ...], config: str | None) -> None:
    """Show how a finding came about: each condition of its rule and what it met, evidence, cause, commands, sources.

    FINDING is what the report has at the right margin, the rule or the number in brackets. Of several findings of one
    rule, RULE:SUBJECT is one; a part of the subject will do. What passed, or is unknown, is explained too.

    \b
    explain FINDING           as reported by diff
    explain FINDING SNAP      as reported by check SNAP
    explain FINDING PRE POST  as reported by diff PRE POST
    explain FINDING PRE now   as reported by diff PRE
    """
    from ..report.explain import render_explain
    from ..report.headline import stamps
    from ..report.paper import shown

    terms, alone = Terms(rules=rules, config=config), before is not None and after is None
    key = finding if finding.isdecimal() else _key(finding, terms, alone)
    if before is not None and alone:
        found = terms.review(None, arguments.snapshot(before), "", before, scopes=("state",))
    else:
        old, old_name, new, new_name = arguments.pair(before, after)
        found = terms.review(old, new, old_name, new_name)
    text = render_explain(found, key, width(), color())
    printed("\n  ->  ".join(map(shown, filter(None, stamps(found)))) + "\n\n" + text)


def _key(finding: str, terms: Terms, alone: bool) -> str:
    """Rule and subject with a blank between. UsageError, before a host is looked at, where no rule can be meant."""
    name, subject = (*re.split("[ :]", finding, maxsplit=1), "")[:2]
    if name.startswith(OWN):
        return f"{name} {subject}"
    rule = terms.rule(name)
    if name not in [rule.id for rule in terms.own_rules]:
        raise click.UsageError(f"{name} is disabled in {terms.settings.file}")
    if alone and rule.scope == "change":
        raise click.UsageError(f"{name} is about two snapshots: give PRE and POST, which may be {arguments.NOW}")
    return f"{name} {subject}"
