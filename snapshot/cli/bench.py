"""snap bench: numbers of benchmarks, kept with the state of the host that they were measured on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from ..errors import SnapError
from . import arguments, bench_runs
from .arguments import STDOUT
from .outputs import Output, emit
from .terms import Terms, reporting, ruling

if TYPE_CHECKING:
    from ..document import Snapshot


@click.group(short_help="Add, run, show, compare and draw benchmarks.")
def bench() -> None:
    """Keep the numbers of benchmarks with the state of the host that they were measured on, and compare them.

    The unit is the run: one process of a benchmark, from start to end, is one sample. A measurement is one metric of
    one workload (model, concurrency, size, ...); all runs of it are its samples.
    """


def _workload(_: click.Context, __: click.Parameter, texts: Iterable[str]) -> dict[str, str]:
    """The values of --workload as a table. BadParameter when one is not KEY=VALUE, or a key has two values."""
    found: dict[str, str] = {}
    for text in texts:
        key, given, value = text.partition("=")
        if not (key and given and value):
            raise click.BadParameter(f"{text!r} is not KEY=VALUE")
        if found.setdefault(key, value) != value:
            raise click.BadParameter(f"{key} cannot be {found[key]!r} and {value!r}")
    return found


def _form(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
    from ..bench.importers import IMPORTERS

    if name is not None and name not in IMPORTERS:
        raise click.BadParameter(f"there is no format {name!r}: {', '.join(IMPORTERS)}")
    return name


said = click.option("--workload", multiple=True, callback=_workload, metavar="KEY=VALUE",
                    help="What was run, where the report does not say it; only equal workloads are compared "
                         "(repeatable).")
labelled = click.option("--label", metavar="TEXT", help="What to call these runs.")
into = click.option("-o", "--output", metavar="FILE", help="Write the snapshot to FILE, and leave SNAP as it is.")


@bench.command(short_help="Add reports to a snapshot.")
@click.argument("reference", metavar="SNAP")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-f", "--format", "form", callback=_form, metavar="FORMAT",
              help="Which benchmark wrote the files; without, it is told from what is in them.")
@said
@labelled
@into
def add(reference: str, files: tuple[str, ...], form: str | None, workload: dict[str, str], label: str | None,
        output: str | None) -> None:
    """Add the reports in FILE, of benchmarks that ran in the state of SNAP; - is standard input.

    All are added or none. A report is added once: the same bytes again are refused, whatever the file is called.
    Names of hosts and users, environments and prompts are left out.

    \b
    Exit codes: 0 added; 2 error, nothing written.
    """
    from ..bench.adding import Extra, load, with_files
    from ..report.paper import plural

    found, extra = [load(path, form) for path in files], Extra(workload=workload, label=label)
    path = bench_runs.changed(reference, output, lambda old: with_files(old, found, extra))
    samples = sum(len(file.report.values) + len(file.report.tables) for file in found)
    bench_runs.told(f"added {plural(samples, 'value')} of {plural(len(found), 'report')} to {path}")


@bench.command(short_help="Run the benchmarks that snap.toml declares.")
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--all", "every", is_flag=True, help="Run all of them.")
@click.option("--into", "reference", metavar="SNAP",
              help="The snapshot to add the runs to; without, the last one of this host, if it is of this boot.")
@click.option("--config", metavar="FILE",
              help="Settings, instead of $SNAP_CONFIG, ./snap.toml or /etc/hostsnap/snap.toml.")
@said
@labelled
@into
def run(names: tuple[str, ...], every: bool, reference: str | None, config: str | None, workload: dict[str, str],
        label: str | None, output: str | None) -> None:
    """Run the benchmarks NAME of snap.toml, each as often as it says, and keep every run.

    They run without a shell, one after the other. A run that fails is kept as failed. Ctrl-C ends the one that runs
    and keeps those before it.

    \b
    Exit codes:
      0    all runs gave values
      2    error, or nothing was run
      3    some runs failed
      130  stopped
    """
    from ..bench.orphans import adopted
    from ..bench.running import measure
    from ..config import load

    if output in ("", *STDOUT):
        raise click.UsageError("-o needs a file")
    commands = bench_runs.commands(load(config), names, every, workload)
    reference = bench_runs.place(reference or bench_runs.last_of_this_boot())
    bench_runs.fits_now(arguments.snapshot(reference))
    failed = 0
    with adopted() as orphans:
        for command in commands:
            session = measure(command, *bench_runs.progress(command), orphans)
            if session.runs:
                reference = bench_runs.keep(session, reference, output, label or command.name)
            failed += session.failed
            if session.stopped:
                sys.exit(130)
    if failed:
        sys.exit(3)


@bench.command(short_help="Show the benchmarks of a snapshot.")
@click.argument("reference", default="@1", metavar="[SNAP]")
@click.option("-f", "--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True,
              help="How to print it.")
def show(reference: str, form: str) -> None:
    """Show what SNAP (default: the last snapshot, @1) holds: by workload, the middle run, the spread, the runs.

    * is a metric that the workload is run for; n is the number of runs.
    """
    from ..report import measured
    from .outputs import printed, width

    snapshot = arguments.snapshot(reference)
    printed(measured.render_json(snapshot) if form == "json" else measured.render_table(snapshot, width()))


@bench.command(short_help="Compare the benchmarks of two snapshots, and judge.")
@click.argument("before", metavar="PRE")
@click.argument("after", metavar="POST")
@reporting
@click.option("--fail-on-existing/--no-fail-on-existing", default=None, help="Count also what was so before.")
@ruling
def compare(
    before: str, after: str, outputs: tuple[Output, ...], everything: bool, verbose: bool, **options: Any
) -> None:
    """Say which benchmarks got worse from PRE to POST, and which changes of the host may be why.

    Only equal workloads are compared. Worse or better is said where a test of the runs shows a difference that is large
    enough to matter; where the runs are too few for a test, the noise band of snap.toml judges, and that is said.

    \b
    Exit codes:
      0  nothing at or above --fail-on
      1  findings at or above --fail-on: a benchmark got worse, or failed
      2  error, or neither has a benchmark
      3  no such finding, but a rule at or above --fail-on could not be judged
    """
    from ..report.bench_compare import of_benchmarks

    terms = Terms(**options)
    terms.check(verbose)
    old, old_name, new, new_name = arguments.pair(before, after)
    found = terms.review(old, new, old_name, new_name, typed=[before, after])
    if found.benchmarks is None:
        why = (old.unread("bench", ()) or new.unread("bench", ())) and "a side was taken without the section bench"
        raise SnapError(f"there is nothing to compare: {why or 'neither has a benchmark'}")
    emit(found, outputs, everything, benchmarks=True)
    sys.exit(of_benchmarks(found).exit_code)


@bench.command(short_help="Draw the benchmarks of snapshots as SVG.")
@click.argument("references", nargs=-1, metavar="[SNAP...]")
@click.option("--metric", metavar="PATTERN",
              help="Draw this METRIC or TOOL/METRIC; without, the primary ones, or all where there are none.")
@click.option("--kind", type=click.Choice(("ladder", "matrix", "history")),
              help="ladder: a metric over concurrency or size; matrix: a table between devices; history: a metric over"
                   " snapshots. Without, the first that there is.")
@click.option("-o", "--output", metavar="FILE", help="Write to FILE; without, or with -, to standard output.")
def plot(references: tuple[str, ...], metric: str | None, kind: Any, output: str | None) -> None:
    """Draw the benchmarks of SNAP..., given from the oldest to the newest, as an SVG.

    Without a SNAP the history over all snapshots of this host in the store is drawn.
    """
    from .. import store
    from ..bench.drawing.choice import picture

    if output == "":
        raise click.UsageError("-o needs a file")
    snapshots = [_called(reference) for reference in references] or [*_stored()]
    title = f"Benchmarks of {', '.join(dict.fromkeys(one.meta.host for _, one in snapshots))}"
    made = picture(snapshots, metric, title, kind or (None if references else "history"))
    if made.left_out:
        bench_runs.told(f"drew {made.panels} of {made.panels + made.left_out}: name one with --metric")
    if output in (None, *STDOUT):
        arguments.write(made.svg.encode())
    else:
        store.write(output, made.svg.encode())


def _called(reference: str) -> tuple[str, Snapshot]:
    """A snapshot, and what a picture calls it: its label, else the reference without folders and suffix."""
    snapshot = arguments.snapshot(reference)
    name = os.path.basename(reference).removesuffix(".toml").removesuffix(".snap")
    return snapshot.meta.label or name or reference, snapshot


def _stored() -> Iterator[tuple[str, Snapshot]]:
    """The snapshots of this host in the store, oldest first; one that cannot be read is passed over, with a word."""
    from .. import store
    from ..document import Snapshot

    for entry in reversed(store.entries(arguments.this_host())):
        try:
            snapshot = Snapshot.load(entry.path)
            snapshot.section("bench")
        except SnapError as error:
            bench_runs.told(f"passed over: {error}")
            continue
        yield f"{(snapshot.meta.taken or entry.id)[:10]} {entry.label}".rstrip(), snapshot
