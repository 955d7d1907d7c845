"""snap rules: what rules there are, what one of them says, and help for those who write them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from . import arguments
from .outputs import color, printed, width
from .terms import Terms, ruling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..engine.pack_file import PackFile


@click.group(short_help="List, show, test, check and begin rules.")
def rules() -> None:
    """List and show the rules by which diff and check judge, and write packs of your own.

    A pack is a TOML file of rules, each with examples; diff, check and explain take packs with --rules, or from
    snap.toml.
    """


@rules.command(name="list", short_help="List the rules.")
@click.option("--pack", multiple=True, metavar="PACK", help="Of this pack: the first word of its ids (repeatable).")
@click.option("-f", "--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True,
              help="How to print it.")
@ruling
def list_(pack: tuple[str, ...], form: str, rules: tuple[str, ...], config: str | None) -> None:
    """List the rules as they are applied here: shipped and from other packs, with what snap.toml changes."""
    from ..report import rule_list

    terms = Terms(rules=rules, config=config)
    every = {rule.id: rule.id.partition(".")[0] for rule in terms.every_rule}
    for name in pack:
        if name not in every.values():
            raise click.UsageError(f"there is no pack {name!r}: {', '.join(dict.fromkeys(every.values()))}")
    wanted = [name for name, of in every.items() if not pack or of in pack]
    own = [rule for rule in terms.own_rules if rule.id in wanted]
    left = {rule.id for rule in own}
    render = rule_list.render_json if form == "json" else rule_list.render_table
    printed(render(own, [name for name in wanted if name not in left]))


@rules.command(short_help="Show a rule: what it looks at, when it fails, what to do.")
@click.argument("identifier", metavar="ID")
@ruling
def show(identifier: str, rules: tuple[str, ...], config: str | None) -> None:
    """Show the rule ID: what it looks at, when it fails, what to do then, where it is said, and its examples."""
    from ..engine.pack_file import packs
    from ..engine.packs import directory
    from ..report.rule_sheet import render_rule

    terms = Terms(rules=rules, config=config)
    rule = terms.rule(identifier)
    cases = (case for pack in packs([directory(), *terms.packs], rule.id.partition(".")[0]) for case in pack.cases)
    examples = next(examples for one, examples in cases if one.id == rule.id)
    printed(render_rule(rule, examples, width(), color()))


@rules.command(short_help="Run the examples of packs.")
@click.argument("paths", nargs=-1, metavar="[PATH ...]")
def test(paths: tuple[str, ...]) -> None:
    """Run the examples of the rules in PATH, a pack or a directory of packs; without PATH those of the shipped rules.

    \b
    Exit codes:
      0  all come out as they say
      1  some do not
      2  error, as when a pack is not well made
    """
    from ..engine.pack_file import packs
    from ..engine.packs import directory

    found = [*packs(paths or [directory()])]
    _end(found, [difference for pack in found for difference in pack.differences()], "difference")


@rules.command(short_help="Say what is wrong with packs.")
@click.argument("paths", nargs=-1, metavar="[PATH ...]")
def lint(paths: tuple[str, ...]) -> None:
    """Say what is wrong with the packs in PATH, files or directories: form, names that are not there, examples.

    Without PATH the shipped packs are looked at.

    \b
    Exit codes:
      0  nothing is wrong
      1  something is
      2  error, as when there is no such file
    """
    from ..engine.pack_file import wrong
    from ..engine.packs import directory

    _end(*wrong(paths or [directory()]), "fault")


@rules.command(short_help="Print a rule to begin with.")
@click.argument("identifier", metavar="ID")
@ruling
def new(identifier: str, rules: tuple[str, ...], config: str | None) -> None:
    """Print a pack with one rule, ID, which is whole: edit what it looks at and says, then lint it.

    ID is PACK.WORDS, as in net.mtu-too-small; no rule may have it yet.
    """
    from ..engine.skeleton import skeleton

    try:
        text = skeleton(identifier, arguments.program())
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if identifier in [rule.id for rule in Terms(rules=rules, config=config).every_rule]:
        raise click.UsageError(f"there is a rule {identifier!r} already")
    click.echo(text, nl=False)


def _end(packs: Sequence[PackFile], lines: Sequence[str], noun: str) -> None:
    """Says what was found, and how many packs, rules and examples were looked at; exit code 1 if anything was found."""
    from ..report.paper import plural, shown

    examples = sum(pack.shown for pack in packs)
    looked = f"{plural(len(packs), 'pack')}, {plural(sum(map(len, packs)), 'rule')}, {plural(examples, 'example')}"
    for line in (*lines, f"{looked}: {plural(len(lines), noun) if lines else f'no {noun}'}"):
        printed(shown(line) + "\n")
    sys.exit(1 if lines else 0)
