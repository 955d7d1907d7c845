"""snap diff: what changed between two snapshots, and what of it got worse."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from . import arguments

if TYPE_CHECKING:
    from ..document import Snapshot

SEVERITIES = ("critical", "high", "medium", "low", "info")


@click.command(short_help="Compare two snapshots, or one with this host now, and judge.")
@click.argument("before", required=False, metavar="[PRE]")
@click.argument("after", required=False, metavar="[POST]")
@click.option("-f", "--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True,
              help="How to print the report.")
@click.option("--all", "everything", is_flag=True, help="List every change, not only how many there are.")
@click.option("--volatile", is_flag=True, help="Compare also what changes by itself.")
@click.option("--fail-on", type=click.Choice(SEVERITIES), default="high", show_default=True,
              help="Exit 1 for new findings of this severity or above.")
@click.option("--allow-unknown", multiple=True, metavar="RULE|SECTION",
              help="Do not exit 3 when this rule, or rules on this section, cannot be judged (repeatable).")
def diff(
    before: str | None, after: str | None, form: str, everything: bool, volatile: bool, fail_on: str,
    allow_unknown: tuple[str, ...],
) -> None:
    """Compare two snapshots and say what got worse, with evidence and the exact fix.

    With PRE alone, PRE is compared with this host as it is now; without any, the last snapshot of the previous boot is.

    \b
    Exit codes: 0 nothing at or above --fail-on; 1 findings; 2 error; 3 no finding, but a rule at or above --fail-on
    could not be judged.
    """
    from ..report.review import review

    old, old_name, new, new_name = _sides(before, after)
    found = review(old, new, old_name, new_name, volatile=volatile, threshold=fail_on, allow_unknown=allow_unknown)
    if form == "json":
        from ..report.as_json import render_json

        click.echo(render_json(found), nl=False)
    else:
        from ..report.text import render_text

        click.echo(render_text(found, color=_color(), everything=everything), nl=False, color=True)
    sys.exit(found.exit_code)


def _sides(before: str | None, after: str | None) -> tuple[Snapshot, str, Snapshot, str]:
    """Both snapshots and what to call them."""
    if before == after == "-":
        raise click.UsageError("standard input can be one side only")
    if after is not None:
        return arguments.snapshot(before or ""), before or "", arguments.snapshot(after), after
    old = arguments.snapshot(before) if before is not None else None
    new = arguments.live()
    old = old or arguments.previous_boot(new)
    return old, before or old.meta.label or old.meta.taken or "before", new, "now"


def _color() -> bool:
    terminal = sys.stdout is not None and sys.stdout.isatty()
    return terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
