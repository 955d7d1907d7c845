"""snap check: what is wrong with a host, from one snapshot."""

from __future__ import annotations

import sys
from typing import Any

import click

from . import arguments
from .outputs import Output, emit
from .terms import Terms, choosing, reporting, ruling


@click.command(short_help="Judge one snapshot, or this host now, alone.")
@click.argument("reference", default=arguments.NOW, metavar="[SNAP]")
@reporting
@click.option("--fail-on-existing", is_flag=True, hidden=True,
              help="As of diff, whose options may be given: of one snapshot every finding counts.")
@choosing
@ruling
def check(
    reference: str, outputs: tuple[Output, ...], everything: bool, verbose: bool, only: tuple[str, ...],
    ignore: tuple[str, ...], **options: Any,
) -> None:
    """Say what is wrong with a host, with evidence and the exact fix, from one snapshot; without SNAP, as it is now.

    Rules that compare two snapshots are not applied here: diff has them.

    \b
    Exit codes:
      0  nothing at or above --fail-on
      1  findings at or above --fail-on
      2  error
      3  no such finding, but a rule at or above --fail-on could not be judged
    """
    terms = Terms(**options)
    terms.check(verbose)
    rules = terms.chosen(only, ignore)
    found = terms.review(None, arguments.snapshot(reference), "", reference, rules, ("state",), [reference])
    emit(found, outputs, everything)
    sys.exit(found.exit_code)
