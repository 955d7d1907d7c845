"""snap diff: what changed between two snapshots, and what of it got worse."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from . import arguments
from .arguments import STDOUT
from .outputs import Output, emit
from .terms import Terms, reporting, ruling

if TYPE_CHECKING:
    from ..document import Snapshot
    from ..engine.rule import Rule

REPORT = ("outputs", "everything", "fail_on", "fail_on_existing", "allow_unknown", "only", "ignore", "tolerance")


@click.command(short_help="Compare two snapshots, or one with this host now, and judge.")
@click.argument("before", required=False, metavar="[PRE]")
@click.argument("after", required=False, metavar="[POST]")
@reporting
@click.option("--fail-on-existing/--no-fail-on-existing", default=None, help="Count also what was so before.")
@click.option("--only", multiple=True, metavar="PATTERN",
              help="List the changes of these facts only: sysctl, pci.functions.*.driver, +packages (added), -devices"
                   " (removed); rules are judged all the same (repeatable).")
@click.option("--ignore", multiple=True, metavar="PATTERN",
              help="Leave out the changes of these facts; rules are judged all the same (repeatable).")
@click.option("--tolerance", multiple=True, metavar="PATTERN=AMOUNT",
              help='Count these numbers as the same if they are so near: 1%, "64 MiB", 5 (repeatable).')
@click.option("--volatile", is_flag=True, help="Compare also what changes by itself.")
@ruling
@click.option("--null", is_flag=True,
              help="Between PRE and POST nothing was changed: write what differs as a volatile.toml, judge nothing.")
@click.option("-o", "--output", metavar="FILE", help="With --null: write to FILE instead of standard output.")
def diff(
    before: str | None, after: str | None, outputs: tuple[Output, ...], everything: bool, verbose: bool, null: bool,
    output: str | None, **options: Any,
) -> None:
    """Compare two snapshots and say what got worse, with evidence and the exact fix.

    PRE and POST are each a SNAP, as `snap --help` has it. With PRE alone, PRE is compared with this host as it is now;
    without any, the last snapshot of the previous boot is.

    \b
    Exit codes:
      0  nothing at or above --fail-on
      1  findings at or above --fail-on
      2  error
      3  no such finding, but a rule at or above --fail-on could not be judged
    """
    terms = Terms(**options)
    if null:
        _refuse_report(output)
        _learn(terms.every_rule, *arguments.pair(before, after)[::2], output)
        return
    if output is not None:
        raise click.UsageError("-o is for --null; a report goes into a file with -f FORMAT=FILE")
    terms.check(verbose)
    old, old_name, new, new_name = arguments.pair(before, after)
    found = terms.review(old, new, old_name, new_name, typed=[before, before and (after or arguments.NOW)])
    emit(found, outputs, everything)
    sys.exit(found.exit_code)


def _refuse_report(output: str | None) -> None:
    """UsageError when --null stands beside an option of the report."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = str(parameter.name)
        if name in REPORT and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--null learns and reports nothing: leave {parameter.opts[-1]} out")
    if output == "":
        raise click.UsageError("-o needs a file")


def _learn(rules: tuple[Rule, ...], before: Snapshot, after: Snapshot, output: str | None) -> None:
    """Writes what two captures teach, and says on standard error what they do not."""
    from .. import store
    from ..diff.null import learn
    from ..engine.reads import judged_paths
    from ..errors import SnapError
    from ..records import replace
    from ..report.change_lines import line
    from ..report.paper import shown

    try:
        learned = learn(before, after, judged_paths(rules, before, after))
    except ValueError as error:
        raise SnapError(shown(str(error))) from None
    learned = replace(learned, noise=_noise(before, after))
    for warning in learned.warnings:
        click.echo(shown(f"Warning: {warning}."), err=True)
    for change in learned.judged:
        click.echo(shown(f"Not learnt, because a rule reads it: {line(change)}"), err=True)
    if output is None or output in STDOUT:
        click.echo(learned.toml(), nl=False)
    else:
        store.write(output, learned.toml().encode())


def _noise(before: Snapshot, after: Snapshot) -> dict[str, float]:
    """How far apart the benchmarks of both are, by id; says on standard error where few runs make a band wide."""
    from ..derive.bench.benchmarks import section

    one, other = section(before), section(after)
    if not (one.measurements or one.grids):
        return {}
    from ..bench.noise import ENOUGH, learned

    found = learned(one, other)
    if few := [name for name, noise in found.items() if noise.runs < ENOUGH]:
        click.echo(f"Warning: the noise of {len(few)} measurements is told by fewer than {ENOUGH} runs, so that their "
                   "bands are wide: measure more often.", err=True)
    return {name: noise.percent for name, noise in found.items()}
