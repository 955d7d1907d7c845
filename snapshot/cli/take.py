"""snap take: record a host."""

from __future__ import annotations

import math
import os
import sys
import time
from typing import TYPE_CHECKING

import click

from . import arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..bench.adding import File
    from ..capture import Progress, Spent
    from ..document import Outcome, Snapshot
    from ..host.recorder import Recorder
    from ..report.taken import Timing


@click.command(short_help="Record this host, or a recorded root, as a snapshot.")
@click.argument("label", required=False)
@click.option("-o", "--output", metavar="FILE", help="Write to FILE instead of the store; - is standard output.")
@click.option("--root", metavar="DIR|ARCHIVE", help="Read a recorded root instead of this machine.")
@click.option("--record", metavar="DIR|ARCHIVE",
              help="Also keep everything that is read as a recorded root: a new folder, or .tar[.gz|.xz|.zst].")
@click.option("--redact", is_flag=True,
              help="Replace names, serials and addresses by pseudonyms, in what --record keeps too; see redact.")
@click.option("--only", metavar="S,...", help="Record these sections only.")
@click.option("--skip", metavar="S,...", help="Leave these sections out.")
@click.option("--deadline", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True,
              metavar="SECONDS", help="Stop waiting for what does not answer after this time.")
@click.option("--bench", "reports", multiple=True, metavar="FILE",
              help="Also add the report of a benchmark that ran in this state; see bench add (repeatable).")
@click.option("--baseline", is_flag=True, help="Mark as the state that the boot leaves, before any tuning by hand.")
@click.option("-v", "--verbose", is_flag=True, help="Say of each section how it went and how long it took.")
def take(
    label: str | None, output: str | None, root: str | None, record: str | None, redact: bool,
    only: str | None, skip: str | None, deadline: float, reports: tuple[str, ...], baseline: bool, verbose: bool,
) -> None:
    """Record this host as one TOML file, with LABEL if one is given.

    Without -o the file goes into the store: $SNAP_STORE, else /var/lib/hostsnap as root, else hostsnap in the XDG
    state directory. Nothing on the host changes: no module is loaded, no node made, no sleeping device woken.

    \b
    Exit codes: 0 written; 3 written, but a section failed or timed out;
    2 error, nothing written.
    """
    names = arguments.sections(only, skip)
    if output == "" or math.isnan(deadline):
        raise click.UsageError("-o needs a file and --deadline a number")
    from .. import capture, store

    if label is not None:
        store.check_label(label)
    key = _key() if redact else None
    measured = _measured(reports)
    began = time.monotonic()
    host, recorder = arguments.host(root, deadline), None
    if record:
        from ..host.recorder import Recorder

        host = recorder = Recorder(host, record, held=redact)
    try:
        timings: list[Timing] = []
        taken = capture.take(host, names, label, baseline, _timed(timings) if verbose else _progress())
        if measured:
            taken = _with(taken, measured)
        if key:
            taken = _redacted(taken, key, recorder)
    finally:
        host.close()
    from ..report import taken as report

    if verbose:
        click.echo(report.render_timings(timings), nl=False, err=output in arguments.STDOUT)
    if output in arguments.STDOUT:
        arguments.write(taken.dumps().encode())
    else:
        path = output or arguments.stored(taken)
        if output:
            taken.save(path)
        reference = path if output or not label else arguments.reference(taken.meta.host, label)
        click.echo(report.render(taken, path, reference, time.monotonic() - began, arguments.program()), nl=False)
    if any(o.state in ("failed", "timeout") for o in taken.outcomes.values()):
        sys.exit(3)


def _measured(paths: Sequence[str]) -> list[File]:
    """The reports at PATHS: what is wrong with one is said before the host is read."""
    if not paths:
        return []
    from ..bench.adding import load

    return [load(path) for path in paths]


def _with(taken: Snapshot, measured: Sequence[File]) -> Snapshot:
    from ..bench.adding import Extra, with_files

    return with_files(taken, measured, Extra())


def _key() -> bytes:
    from ..redact.key import load

    return load()


def _redacted(taken: Snapshot, key: bytes, recorder: Recorder | None) -> Snapshot:
    """TAKEN with pseudonyms, and RECORDER told to write them too."""
    from ..redact import Redaction

    redaction = Redaction(key, taken)
    if recorder:
        recorder.revise(redaction.recording)
    return redaction.snapshot


def _progress() -> Progress:
    """On a terminal: the section that is being read, on one line of stderr that is wiped at the end."""
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return lambda _name, _outcome, _spent: None

    def show(name: str, outcome: Outcome | None, _spent: Spent) -> None:
        sys.stderr.write(f"\r\033[K{name} ..." if outcome is None else "\r\033[K")
        sys.stderr.flush()

    return show


def _timed(timings: list[Timing]) -> Progress:
    """Shows progress, and keeps in TIMINGS how each section went."""
    from ..report.taken import Timing

    shown = _progress()

    def keep(name: str, outcome: Outcome | None, spent: Spent) -> None:
        shown(name, outcome, spent)
        if outcome:
            timings.append(Timing(name, outcome, spent.own_s, spent.waited_s, (*spent.tools,)))

    return keep
