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
    from ..capture import Progress
    from ..document import Outcome


STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


@click.command(short_help="Record this host, or a recorded root, as a snapshot.")
@click.argument("label", required=False)
@click.option("-o", "--output", metavar="FILE", help="Write to FILE instead of the store; - is standard output.")
@click.option("--root", metavar="DIR|ARCHIVE", help="Read a recorded root instead of this machine.")
@click.option("--record", metavar="DIR|ARCHIVE",
              help="Also keep everything that is read as a recorded root: a new folder, or .tar[.gz|.xz|.zst].")
@click.option("--only", metavar="S,...", help="Record these sections only.")
@click.option("--skip", metavar="S,...", help="Leave these sections out.")
@click.option("--deadline", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True,
              metavar="SECONDS", help="Stop waiting for what does not answer after this time.")
@click.option("--baseline", is_flag=True, help="Mark as the state that the boot leaves, before any tuning by hand.")
def take(
    label: str | None, output: str | None, root: str | None, record: str | None,
    only: str | None, skip: str | None, deadline: float, baseline: bool,
) -> None:
    """Record this host as one TOML file, with LABEL if one is given.

    Without -o the file goes into the store: $SNAP_STORE, else /var/lib/hostsnap as root, else hostsnap in the XDG
    state directory. Nothing on the host changes: no module is loaded, no node made, no sleeping device woken.

    \b
    Exit codes: 0 written; 3 written, but a section failed or timed out; 2 error, nothing written.
    """
    names = arguments.sections(only, skip)
    if output == "" or math.isnan(deadline):
        raise click.UsageError("-o needs a file and --deadline a number")
    from .. import capture, store

    if label is not None:
        store.check_label(label)
    began = time.monotonic()
    host = arguments.host(root, deadline)
    if record:
        from ..host.recorder import Recorder

        host = Recorder(host, record)
    try:
        taken = capture.take(host, names, label, baseline, _progress())
    finally:
        host.close()
    if output in STDOUT:
        arguments.write(taken.dumps().encode())
    else:
        path = output or arguments.stored(taken)
        if output:
            taken.save(path)
        from ..report import taken as report

        reference = path if output or not label else arguments.reference(taken.meta.host, label)
        click.echo(report.render(taken, path, reference, time.monotonic() - began, arguments.program()), nl=False)
    if any(o.state in ("failed", "timeout") for o in taken.outcomes.values()):
        sys.exit(3)


def _progress() -> Progress:
    """On a terminal: the section that is being read, on one line of stderr that is wiped at the end."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return lambda _name, _outcome: None

    def show(name: str, outcome: Outcome | None) -> None:
        sys.stderr.write(f"\r\033[K{name} ..." if outcome is None else "\r\033[K")
        sys.stderr.flush()

    return show
